// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What an XML parser comes upon, one thing after the other.
public enum XMLEvent: Sendable, Hashable {
  /// The document begins.
  case startDocument
  /// The document has ended, without an error.
  case endDocument
  /// A start tag. The namespace and the qualified name are there if namespaces are processed.
  case startElement(
    name: String,
    namespace: String? = nil,
    qualifiedName: String? = nil,
    attributes: [String: String] = [:]
  )
  /// An end tag, or the end of an empty element.
  case endElement(name: String, namespace: String? = nil, qualifiedName: String? = nil)
  /// A prefix begins to stand for a namespace.
  case startMapping(prefix: String, namespace: String)
  /// A prefix no longer stands for a namespace.
  case endMapping(prefix: String)
  /// Text, or a piece of one: long texts come in several.
  case characters(String)
  /// White space that has no meaning.
  case ignorableWhitespace(String)
  /// A processing instruction.
  case processingInstruction(target: String, data: String?)
  /// A comment.
  case comment(String)
  /// A block of characters that are not markup.
  case cdata(Data)
  /// A notation of the document type definition.
  case notationDeclaration(name: String, publicID: String?, systemID: String?)
  /// An entity that is not parsed.
  case unparsedEntityDeclaration(
    name: String,
    publicID: String?,
    systemID: String?,
    notation: String?
  )
  /// An attribute of the document type definition.
  case attributeDeclaration(name: String, element: String, type: String?, defaultValue: String?)
  /// An element of the document type definition.
  case elementDeclaration(name: String, model: String)
  /// An entity whose value is in the document type definition.
  case internalEntityDeclaration(name: String, value: String?)
  /// An entity whose value is elsewhere.
  case externalEntityDeclaration(name: String, publicID: String?, systemID: String?)
}
