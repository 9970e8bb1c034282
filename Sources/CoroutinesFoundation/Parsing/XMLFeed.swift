// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The stream that a parser reads; between two pieces it hands out the events of the last one.
///
/// The parser is a function that calls its delegate. Yielding from inside a delegate's method would stop
/// it in the middle of a piece, where libxml2 has put things of this parse into variables of the thread:
/// the errors of another parser on the thread would be taken for this one's. Here it only stops while
/// it asks for more, where it has nothing there, and what Foundation has there is put away.
final class XMLFeed: InputStream {
  /// Gives a piece of at most so many bytes; empty at the end.
  private let source: (Int) throws -> Data
  /// Hands out the events of the pieces so far.
  private let handOut: () throws -> Void
  /// Why reading has failed.
  private(set) var failure: (any Error)?
  weak var parser: XMLParser?

  /// A piece makes some hundreds of events; these are in memory at once.
  static let pieceSize = 4096

  init(_ source: @escaping (Int) throws -> Data, handOut: @escaping () throws -> Void) {
    self.source = source
    self.handOut = handOut
    super.init(data: Data())
  }

  override func open() {}

  override func close() {}

  override var hasBytesAvailable: Bool { true }

  override var streamStatus: Stream.Status { failure == nil ? .open : .error }

  override var streamError: (any Error)? { failure }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    do {
      let piece = try withoutThreadState {
        try handOut()
        return try source(min(length, Self.pieceSize))
      }
      piece.copyBytes(to: buffer, count: piece.count)
      return piece.count
    } catch {
      failure = error
      return -1
    }
  }

  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
    length len: UnsafeMutablePointer<Int>
  ) -> Bool {
    false
  }

  /// Runs `body`, during which other code may run on this thread, and this code go on on another one.
  ///
  /// Foundation on Linux finds the current parser, which decides about external entities, among the
  /// values of the thread. It is known by its identity.
  private func withoutThreadState<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let parser else { return try body() }
    let values = Thread.current.threadDictionary
    let keys = values.allKeys.compactMap { $0 as? String }.filter { key in
      values.object(forKey: key) as AnyObject === parser
    }
    for key in keys { values.removeObject(forKey: key) }
    defer {
      for key in keys { Thread.current.threadDictionary.setObject(parser, forKey: key as NSString) }
    }
    return try body()
  }
}
