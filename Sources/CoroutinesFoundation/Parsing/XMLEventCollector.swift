// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The delegate of one parse: collects events until they are taken.
final class XMLEventCollector: NSObject, XMLParserDelegate {
  private(set) var hasBegun = false
  private var events: [XMLEvent] = []
  /// The first complaint since the events were last taken, and how many events were there then.
  private var complaint: (error: any Error, position: Int)?

  /// Takes what has come; a complaint among them was a mere warning, since the parser went on.
  func takeAll() -> [XMLEvent] {
    defer {
      events = []
      complaint = nil
    }
    return events
  }

  /// Takes what came before the error that has stopped the parser, and that error.
  func takeUntilError() -> (events: [XMLEvent], error: (any Error)?) {
    let complaint = complaint
    let events = takeAll()
    return (Array(events.prefix(complaint?.position ?? events.count)), complaint?.error)
  }

  private func add(_ event: XMLEvent) { events.append(event) }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    if complaint == nil { complaint = (parseError, events.count) }
  }

  func parser(_ parser: XMLParser, validationErrorOccurred validationError: any Error) {
    if complaint == nil { complaint = (validationError, events.count) }
  }

  func parserDidStartDocument(_ parser: XMLParser) {
    hasBegun = true
    add(.startDocument)
  }

  func parserDidEndDocument(_ parser: XMLParser) { add(.endDocument) }

  func parser(
    _ parser: XMLParser,
    didStartElement elementName: String,
    namespaceURI: String?,
    qualifiedName qName: String?,
    attributes attributeDict: [String: String]
  ) {
    add(
      .startElement(
        name: elementName,
        namespace: namespaceURI,
        qualifiedName: qName,
        attributes: attributeDict
      )
    )
  }

  func parser(
    _ parser: XMLParser,
    didEndElement elementName: String,
    namespaceURI: String?,
    qualifiedName qName: String?
  ) {
    add(.endElement(name: elementName, namespace: namespaceURI, qualifiedName: qName))
  }

  func parser(
    _ parser: XMLParser,
    didStartMappingPrefix prefix: String,
    toURI namespaceURI: String
  ) {
    add(.startMapping(prefix: prefix, namespace: namespaceURI))
  }

  func parser(_ parser: XMLParser, didEndMappingPrefix prefix: String) {
    add(.endMapping(prefix: prefix))
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { add(.characters(string)) }

  func parser(_ parser: XMLParser, foundIgnorableWhitespace whitespaceString: String) {
    add(.ignorableWhitespace(whitespaceString))
  }

  func parser(
    _ parser: XMLParser,
    foundProcessingInstructionWithTarget target: String,
    data: String?
  ) {
    add(.processingInstruction(target: target, data: data))
  }

  func parser(_ parser: XMLParser, foundComment comment: String) { add(.comment(comment)) }

  func parser(_ parser: XMLParser, foundCDATA block: Data) { add(.cdata(block)) }

  func parser(
    _ parser: XMLParser,
    foundNotationDeclarationWithName name: String,
    publicID: String?,
    systemID: String?
  ) {
    add(.notationDeclaration(name: name, publicID: publicID, systemID: systemID))
  }

  func parser(
    _ parser: XMLParser,
    foundUnparsedEntityDeclarationWithName name: String,
    publicID: String?,
    systemID: String?,
    notationName: String?
  ) {
    add(
      .unparsedEntityDeclaration(
        name: name,
        publicID: publicID,
        systemID: systemID,
        notation: notationName
      )
    )
  }

  func parser(
    _ parser: XMLParser,
    foundAttributeDeclarationWithName attributeName: String,
    forElement elementName: String,
    type: String?,
    defaultValue: String?
  ) {
    add(
      .attributeDeclaration(
        name: attributeName,
        element: elementName,
        type: type,
        defaultValue: defaultValue
      )
    )
  }

  func parser(
    _ parser: XMLParser,
    foundElementDeclarationWithName elementName: String,
    model: String
  ) {
    add(.elementDeclaration(name: elementName, model: model))
  }

  func parser(
    _ parser: XMLParser,
    foundInternalEntityDeclarationWithName name: String,
    value: String?
  ) {
    add(.internalEntityDeclaration(name: name, value: value))
  }

  func parser(
    _ parser: XMLParser,
    foundExternalEntityDeclarationWithName name: String,
    publicID: String?,
    systemID: String?
  ) {
    add(.externalEntityDeclaration(name: name, publicID: publicID, systemID: systemID))
  }
}
