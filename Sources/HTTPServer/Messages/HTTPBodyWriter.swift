// SPDX-License-Identifier: Apache-2.0

/// Takes the body of an answer while it is made.
package final class HTTPBodyWriter {
  /// How the client finds the end.
  enum Framing {
    case length(Int)
    case chunked
    /// The connection's end is the body's.
    case closing
  }

  /// A body that is not as long as its answer says.
  struct WrongLength: Error, CustomStringConvertible {
    let missing: Int

    var description: String {
      missing > 0
        ? "the body ended \(missing) bytes before its length" : "the body is longer than its length"
    }
  }

  private let connection: HTTPConnection
  private let framing: Framing
  private(set) var count = 0
  private var isOver = false

  init(_ connection: HTTPConnection, _ framing: Framing) {
    self.connection = connection
    self.framing = framing
  }

  /// Sends some of the body; parks while the client does not keep up.
  ///
  /// *Cancellation:* a part may have been sent; the connection is of no more use.
  ///
  /// - Parameter bytes: What to send; nothing is sent for none.
  /// - Throws: `IOError` if the client is gone or too slow; an error if that is more than the length; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  package func write(_ bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    if isOver { throw HTTPRefusal(500, "a body that has been sent") }
    count += bytes.count
    switch framing {
    case .length(let length):
      if count > length { throw WrongLength(missing: length - count) }
      try connection.write(bytes)
    case .chunked:
      let size = String(bytes.count, radix: 16) + "\r\n"
      try connection.write(Array(size.utf8) + bytes + Array("\r\n".utf8))
    case .closing: try connection.write(bytes)
    }
  }

  /// All has been written.
  func finish() throws {
    isOver = true
    switch framing {
    case .length(let length):
      if count < length { throw WrongLength(missing: length - count) }
    case .chunked: try connection.write(Array("0\r\n\r\n".utf8))
    case .closing: break
    }
  }
}
