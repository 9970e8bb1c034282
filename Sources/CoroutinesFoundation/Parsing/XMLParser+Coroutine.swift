// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

#if canImport(FoundationXML)
public import FoundationXML
#endif

extension XMLParser: CoroutineNamespaceProviding {}

/// XML as a sequence of events, parsed as they are asked for.
///
/// ```swift
/// let events = XMLParser.co.events(contentsOf: url)
/// while let event = try events.nextOrThrow() {
///   if case .startElement("item", _, _, let attributes) = event { print(attributes) }
/// }
/// ```
///
/// A document of any length takes little memory: 4 KiB are parsed when their events are wanted. Leaving
/// the loop, dropping the generator or cancelling the coroutine stops the parser. A fault in the document
/// ends the sequence at its place, after the events before it: `nextOrThrow()` throws it there, and after
/// a `for` loop it is in `error`. A cancellation does so too, after the events of what has been parsed.
///
/// External entities are not loaded. Files are read on a thread of the offload pool, in a coroutine; the
/// parsing itself, some microseconds an event, is done by who asks.
extension CoroutineNamespace where Base: XMLParser {
  /// The events of a document in memory.
  ///
  /// Never parks.
  ///
  /// - Parameters:
  ///   - data: The document.
  ///   - processesNamespaces: Whether names are split, and mappings and namespaces told.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: The events. A fault is an error of the domain `XMLParser.errorDomain`.
  public static func events(
    of data: Data,
    processesNamespaces: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> Generator<XMLEvent> {
    events(processesNamespaces, file, line) {
      var rest = data[...]
      return { limit in
        // Nothing is waited for here, where the other sources would notice a cancellation.
        try Coroutine.checkCancellation()
        defer { rest = rest.dropFirst(limit) }
        return Data(rest.prefix(limit))
      }
    }
  }

  /// The events of a document in a file.
  ///
  /// In a coroutine, asking for an event parks while the file is read.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - processesNamespaces: Whether names are split, and mappings and namespaces told.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: The events. What cannot be opened or read ends them with that error.
  public static func events(
    contentsOf url: URL,
    processesNamespaces: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> Generator<XMLEvent> {
    events(processesNamespaces, file, line) {
      let handle = try blockingCall { try FileHandle(forReadingFrom: url) }
      var rest = Data()
      return { limit in
        if rest.isEmpty {
          // A trip to another thread for several pieces.
          rest = try exclusiveCall { try handle.read(upToCount: 16 * XMLFeed.pieceSize) ?? Data() }
        }
        defer { rest = rest.dropFirst(limit) }
        return Data(rest.prefix(limit))
      }
    }
  }

  /// The events of a document that comes by a stream.
  ///
  /// In a coroutine, asking for an event parks while the stream is read.
  ///
  /// - Parameters:
  ///   - stream: The stream; opened and closed by this, and not to be used elsewhere.
  ///   - processesNamespaces: Whether names are split, and mappings and namespaces told.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  /// - Returns: The events. What the stream reports ends them with that error.
  public static func events(
    of stream: InputStream,
    processesNamespaces: Bool = false,
    file: StaticString = #fileID,
    line: UInt = #line
  ) -> Generator<XMLEvent> {
    events(processesNamespaces, file, line) {
      let source = StreamSource(stream)
      return { limit in try exclusiveCall { try source.read(limit) } }
    }
  }

  /// Runs a parser on the generator's stack, fed piece by piece.
  private static func events(
    _ processesNamespaces: Bool,
    _ file: StaticString,
    _ line: UInt,
    _ open: @escaping () throws -> (Int) throws -> Data
  ) -> Generator<XMLEvent> {
    Generator(stackSize: .kibibytes(512), file: file, line: line) { yield in
      let collector = XMLEventCollector()
      let feed = XMLFeed(try open()) {
        for event in collector.takeAll() { try yield(event) }
      }
      let parser = XMLParser(stream: feed)
      feed.parser = parser
      parser.delegate = collector
      parser.shouldProcessNamespaces = processesNamespaces
      parser.shouldReportNamespacePrefixes = processesNamespaces
      parser.externalEntityResolvingPolicy = .never
      let isGood = parser.parse()
      if let failure = feed.failure { throw failure }
      guard isGood else {
        let (events, error) = collector.takeUntilError()
        for event in events { try yield(event) }
        throw error ?? parser.parserError ?? Self.emptyDocument
      }
      for event in collector.takeAll() { try yield(event) }
      // On Linux a parser is content with a document of less than four bytes.
      guard collector.hasBegun else { throw Self.emptyDocument }
    }
  }

  private static var emptyDocument: NSError {
    NSError(
      domain: XMLParser.errorDomain,
      code: XMLParser.ErrorCode.emptyDocumentError.rawValue,
      userInfo: [NSDebugDescriptionErrorKey: "The document is empty."]
    )
  }
}

/// An input stream, opened at its first read.
private final class StreamSource {
  private let stream: InputStream
  private var isOpen = false

  init(_ stream: InputStream) { self.stream = stream }

  deinit { if isOpen { stream.close() } }

  func read(_ limit: Int) throws -> Data {
    if !isOpen {
      stream.open()
      isOpen = true
    }
    var data = Data(count: limit)
    let count = data.withUnsafeMutableBytes { bytes in
      // SAFETY: the limit is above zero, so there is an address.
      stream.read(
        bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self),
        maxLength: limit
      )
    }
    guard count >= 0 else { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
    return data.prefix(count)
  }
}
