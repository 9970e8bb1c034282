// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A connection: one request after the other, each answered before the next is looked at.
final class HTTPConnection {
  let stream: ByteStream
  let limits: HTTPLimits
  /// What has come and has not been used.
  var received: ArraySlice<UInt8> = []

  private let handler: HTTPServer.Handler
  private let log: (HTTPServerEvent) -> Void
  private var readingPace: HTTPPace
  private var writingPace: HTTPPace
  private var isStopping = false
  /// No request has begun; then nothing is lost by closing.
  private var isIdle = true

  init(
    _ stream: ByteStream,
    _ limits: HTTPLimits,
    _ handler: @escaping HTTPServer.Handler,
    _ log: @escaping (HTTPServerEvent) -> Void
  ) {
    self.stream = stream
    self.limits = limits
    self.handler = handler
    self.log = log
    readingPace = HTTPPace(limits)
    writingPace = HTTPPace(limits)
  }

  /// The request that is being served is the last one.
  func stop() {
    isStopping = true
    if isIdle { stream.close() }
  }

  /// Serves requests until either side has enough.
  func serve() {
    defer { stream.close() }
    do {
      while !isStopping, try serveNext() {}
      farewell()
    } catch let refusal as HTTPRefusal {
      log(.refused(refusal, peer: stream.peer))
      refuse(refusal)
    } catch let end as End {
      if let error = end.error { log(.brokenOff(error, peer: stream.peer)) }
      if end.isReset { stream.reset() }
    } catch {
      log(.brokenOff(error, peer: stream.peer))
      stream.reset()
    }
  }

  /// The connection ends without a word.
  private struct End: Error {
    var error: (any Error)?
    var isReset = false
  }

  // MARK: - A request

  /// Serves one request.
  ///
  /// - Returns: True if the connection can be used again.
  private func serveNext() throws -> Bool {
    guard try waitForRequest() else { throw End() }
    let head = try readHead()
    readingPace = HTTPPace(limits)
    writingPace = HTTPPace(limits)
    stream.idleTimeout = limits.standstill
    let body = HTTPRequestBody(head, self)
    defer { body.close() }
    let response = try answer(HTTPRequest(head: head, body: body, peer: stream.peer))
    let mayStay = head.keepsAlive && !isStopping && body.failure == nil && !body.isUnwanted
    let reply = HTTPReply(response, to: head, mayStay: mayStay)
    try send(reply, head)
    guard reply.keepsAlive else { return false }
    do {
      return try body.drain()
    } catch is HTTPRefusal {
      // The answer has been sent; all that is left is to close.
      return false
    }
  }

  /// Waits for the first byte of a request; false if none comes.
  private func waitForRequest() throws -> Bool {
    if !received.isEmpty { return true }
    isIdle = true
    defer { isIdle = false }
    stream.idleTimeout = limits.keepAlive
    do {
      return try receive(counts: false)
    } catch is IOError {
      // It was silent for too long, is gone, or has been closed to stop: no request has been lost.
      return false
    }
  }

  private func readHead() throws -> HTTPRequestHead {
    // Bytes may trickle as they like: this is for all of them.
    stream.idleTimeout = nil
    do {
      return try withTimeout(limits.head) {
        var parser = HTTPRequestParser(limits)
        while true {
          while let byte = received.popFirst() {
            if let head = try parser.take(byte) { return head }
          }
          guard try receive(counts: false) else {
            throw HTTPRefusal(400, "the request ends before its header fields do")
          }
        }
      }
    } catch is TimeoutError {
      throw HTTPRefusal(408, "the header fields took more than \(limits.head)")
    }
  }

  /// Has the handler answer, and turns what it throws into an answer.
  private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
    do {
      let response = try handler(request)
      try HTTPReply.check(response)
      return response
    } catch let refusal as HTTPRefusal {
      if request.body.failure != nil { throw refusal }
      return .text("\(refusal)\n", status: refusal.status)
    } catch {
      try Coroutine.checkCancellation()
      // There is nobody left to be told.
      if let failure = request.body.failure, failure is IOError { throw failure }
      log(.handlerFailed(request.head, error))
      return .text("\(HTTPRefusal(500, "the server could not answer"))\n", status: 500)
    }
  }

  private func send(_ reply: HTTPReply, _ head: HTTPRequestHead) throws {
    do {
      switch reply.body {
      case .none: try write(reply.head)
      case .bytes(let bytes): try write(reply.head + bytes)
      case .stream(let framing, let produce):
        try write(reply.head)
        let writer = HTTPBodyWriter(self, framing)
        do {
          try produce(writer)
          try writer.finish()
        } catch {
          if !(error is IOError || error is CancellationError) {
            log(.handlerFailed(head, error))
            throw End(isReset: true)
          }
          throw error
        }
        return log(.answered(head, status: reply.status, bytes: writer.count))
      }
    } catch let error as End {
      throw error
    } catch {
      throw End(error: error, isReset: true)
    }
    log(.answered(head, status: reply.status, bytes: reply.count))
  }

  // MARK: - Bytes

  /// Receives some bytes into `received`; parks until there are some.
  ///
  /// - Parameter counts: They must keep moving.
  /// - Returns: False when there will be no more.
  /// - Throws: A refusal, if they have to and do not; `IOError`; `CancellationError`.
  func receive(counts: Bool = true) throws -> Bool {
    let start = ContinuousClock.now
    let bytes: [UInt8]
    do {
      bytes = try stream.read()
    } catch let error as IOError where counts && error.code == ETIMEDOUT {
      throw HTTPRefusal(408, "the body stands still")
    }
    if counts, !readingPace.note(bytes.count, after: ContinuousClock.now - start) {
      throw HTTPRefusal(408, "the body comes too slowly")
    }
    if received.isEmpty { received = bytes[...] } else { received += bytes }
    return !bytes.isEmpty
  }

  /// Sends bytes; parks while the client does not keep up.
  func write(_ bytes: [UInt8]) throws {
    var start = 0
    while start < bytes.count {
      let part = bytes[start..<min(start + 1 << 16, bytes.count)]
      let began = ContinuousClock.now
      try stream.write(part)
      if !writingPace.note(part.count, after: ContinuousClock.now - began) {
        throw IOError(code: ETIMEDOUT, operation: "writing to", subject: stream.peer?.description)
      }
      start = part.endIndex
    }
  }

  // MARK: - The end

  /// Tells a client why, if that can be done quickly.
  private func refuse(_ refusal: HTTPRefusal) {
    stream.idleTimeout = limits.farewell
    let response = HTTPResponse.text("\(refusal)\n", status: refusal.status)
    guard (try? write(HTTPReply.closing(with: response))) != nil else { return }
    farewell()
  }

  /// Says that no more will come, and reads for a moment what the client still sends.
  ///
  /// Closing with bytes unread would reset the connection, and the client might lose the answer (RFC 9112 §9.6).
  private func farewell() {
    guard (try? stream.finishWriting()) != nil else { return }
    stream.idleTimeout = limits.farewell
    _ = try? withTimeout(limits.farewell) {
      var room = 1 << 22
      while room > 0, case let bytes = try stream.read(upTo: 1 << 16), !bytes.isEmpty {
        room -= bytes.count
      }
    }
  }
}
