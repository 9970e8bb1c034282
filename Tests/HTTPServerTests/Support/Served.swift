// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import HTTPServer

/// A server on a port of its own, and clients that send it whatever bytes they like.
final class Served {
  let server: HTTPServer
  /// What the server has told.
  private(set) var events: [HTTPServerEvent] = []
  private let news = Channel<Void>(capacity: .conflated)

  private init(_ limits: HTTPLimits, _ handler: @escaping HTTPServer.Handler) throws {
    let log = Log()
    server = try HTTPServer(limits: limits, log: { log.keep($0) }, handler: handler)
    log.keep = { [unowned self] in
      events.append($0)
      news.sendIfReady(())
    }
  }

  private final class Log {
    var keep: (HTTPServerEvent) -> Void = { _ in }
  }

  /// Serves while `body` runs.
  static func with(
    _ limits: HTTPLimits = HTTPLimits(),
    handler: @escaping HTTPServer.Handler = echo,
    _ body: (Served) throws -> Void
  ) throws {
    try runBlocking {
      try withTimeout(.seconds(1500)) {
        let served = try Served(limits, handler)
        let running = launch { try served.server.run() }
        try body(served)
        try served.server.stop()
        try running.value()
      }
    }
  }

  /// Says what was asked for.
  @Sendable static func echo(_ request: HTTPRequest) throws -> HTTPResponse {
    let body = String(decoding: try request.body.readAll(), as: UTF8.self)
    return .text("\(request.method) \(request.head.target) [\(body)]")
  }

  func connect() throws -> ByteStream { try ByteStream.connect(to: server.address) }

  /// Sends all at once and no more, and reads to the end.
  func exchange(_ bytes: [UInt8]) throws -> String {
    let stream = try connect()
    try stream.write(bytes)
    try stream.finishWriting()
    return String(decoding: try stream.readToEnd(), as: UTF8.self)
  }

  func exchange(_ text: String) throws -> String { try exchange(Array(text.utf8)) }

  /// Waits until the server has told of something.
  func waitForEvent(_ isIt: (HTTPServerEvent) -> Bool) throws {
    while !events.contains(where: isIt) { try news.receive() }
  }

  /// Waits until so many connections are served.
  func waitForConnections(_ count: Int) throws {
    while server.connectionCount != count { try Coroutine.yield() }
  }
}

extension ByteStream {
  /// Reads up to and with a text that will come.
  func read(through mark: String) throws -> String {
    var bytes: [UInt8] = []
    let mark = Array(mark.utf8)
    while !bytes.suffix(mark.count).elementsEqual(mark) { bytes += try read(exactly: 1) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
