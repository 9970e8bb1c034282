// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The body of a request, read as it comes.
///
/// It can be read while the request is answered, the streamed body of the answer included, by one coroutine at a
/// time. What has not been read then is dropped.
package final class HTTPRequestBody {
  private let connection: HTTPConnection
  private var decoder: HTTPBodyDecoder
  private var owesContinue: Bool
  private var isClosed = false

  /// Why no more can be read; nil while all is well.
  private(set) var failure: (any Error)?

  init(_ head: HTTPRequestHead, _ connection: HTTPConnection) {
    self.connection = connection
    decoder = HTTPBodyDecoder(head.framing, connection.limits)
    owesContinue = head.expectsContinue
  }

  /// The client will send the body only if it is told to, and has not been told.
  var isUnwanted: Bool { owesContinue && !decoder.isOver }

  /// Reads what there is, and waits only if there is nothing.
  ///
  /// *Cancellation:* nothing has been read.
  ///
  /// - Parameter limit: At most so many bytes.
  /// - Returns: The bytes; none at the end of the body.
  /// - Throws: `HTTPRefusal` if the body is malformed, too long or too slow, or ends too early; `IOError`;
  ///   `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  package func read(upTo limit: Int = 1 << 14) throws -> [UInt8] {
    if let failure { throw failure }
    if isClosed { throw HTTPRefusal(500, "the body of a request that has been answered") }
    do {
      while true {
        let part = try decoder.take(from: &connection.received, upTo: limit)
        if !part.isEmpty { return Array(part) }
        if decoder.isOver { return [] }
        // Bytes of a body that is on its way already need no invitation.
        if owesContinue { try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        owesContinue = false
        guard try connection.receive() else {
          throw HTTPRefusal(400, "the body ends too early")
        }
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      failure = error
      throw error
    }
  }

  /// Reads all of it.
  ///
  /// *Cancellation:* what has come so far is lost.
  ///
  /// - Parameter limit: Most bytes to keep; for more it throws a refusal with 413.
  /// - Returns: The whole body.
  /// - Throws: As `read`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  package func readAll(limit: Int = 1 << 20) throws -> [UInt8] {
    var all: [UInt8] = []
    while case let part = try read(), !part.isEmpty {
      if all.count + part.count > limit {
        throw HTTPRefusal(413, "more than \(limit) bytes of body")
      }
      all += part
    }
    return all
  }

  /// Drops what has not been read.
  ///
  /// - Returns: True if that was all of it: then the next request begins here.
  func drain() throws -> Bool {
    if failure != nil || isUnwanted { return false }
    var room = connection.limits.drainedBytes
    while room > 0 {
      let count = try read(upTo: room).count
      if count == 0 { return true }
      room -= count
    }
    return decoder.isOver
  }

  /// The request is over; whoever still has the body gets nothing more.
  func close() { isClosed = true }
}
