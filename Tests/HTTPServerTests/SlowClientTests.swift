// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import HTTPServer
import Testing

/// Clients that keep the server waiting.
@Suite(.timeLimit(.minutes(30))) struct SlowClientTests {
  /// Only one of them is short in each test, so that it is that one which ends the wait.
  private func limits(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.keepAlive = .seconds(3600)
    limits.head = .seconds(3600)
    limits.standstill = .seconds(3600)
    limits.farewell = .milliseconds(100)
    change(&limits)
    return limits
  }

  private func statuses(_ stream: ByteStream) throws -> [Int] {
    try Answer.all(in: String(decoding: stream.readToEnd(), as: UTF8.self)).map(\.status)
  }

  /// Sends a byte every few milliseconds, for ever.
  private func trickle(_ byte: UInt8, into stream: ByteStream) -> ValueCoroutine<Void> {
    launch {
      while (try? stream.write([byte])) != nil { try Coroutine.sleep(for: .milliseconds(5)) }
    }
  }

  @Test(arguments: ["G", "GET / HTTP/1.1\r\nHost: a\r\n", "\r\n"])
  func `a request that does not go on gets 408`(_ part: String) throws {
    try Served.with(limits { $0.head = .milliseconds(100) }) { served in
      let stream = try served.connect()
      try stream.write(part)
      #expect(try statuses(stream) == [408])
    }
  }

  @Test
  func `header fields must come within a time, though bytes come all the while`() throws {
    let limits = limits {
      $0.head = .milliseconds(300)
      $0.headerBytes = 1 << 30
    }
    try Served.with(limits) { served in
      let stream = try served.connect()
      try stream.write("GET / HTTP/1.1\r\nHost: a\r\nX: ")
      let dripping = trickle(UInt8(ascii: "a"), into: stream)
      #expect(try statuses(stream) == [408])
      try dripping.cancelAndJoin()
    }
  }

  @Test
  func `a client that begins no request is let go without a word`() throws {
    try Served.with(limits { $0.keepAlive = .milliseconds(100) }) { served in
      #expect(try served.connect().readToEnd().isEmpty)
      let used = try served.connect()
      try used.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try statuses(used) == [200])
      try served.waitForConnections(0)
      let refused = served.events.contains { if case .refused = $0 { true } else { false } }
      #expect(!refused)
    }
  }

  @Test(arguments: ["Content-Length: 9\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n9\r\nab"])
  func `a body that stands still gets 408`(_ part: String) throws {
    try Served.with(limits { $0.standstill = .milliseconds(100) }) { served in
      let stream = try served.connect()
      try stream.write("POST / HTTP/1.1\r\nHost: a\r\n" + part)
      #expect(try statuses(stream) == [408])
    }
  }

  @Test
  func `a body that trickles gets 408`() throws {
    let limits = limits {
      $0.standstill = .milliseconds(300)
      $0.bytesPerSecond = 100_000
    }
    try Served.with(limits) { served in
      let stream = try served.connect()
      try stream.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
      let dripping = trickle(UInt8(ascii: "a"), into: stream)
      #expect(try statuses(stream) == [408])
      try dripping.cancelAndJoin()
    }
  }

  @Test
  func `a client that does not take its answer is dropped`() throws {
    let handler: HTTPServer.Handler = { _ in
      HTTPResponse(
        body: .stream { while true { try $0.write([UInt8](repeating: 0, count: 1 << 16)) } }
      )
    }
    try Served.with(limits { $0.standstill = .milliseconds(100) }, handler: handler) { served in
      let stream = try served.connect()
      try stream.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try served.waitForEvent { if case .brokenOff = $0 { true } else { false } }
      try served.waitForConnections(0)
      #expect(throws: IOError.self) { while try !stream.read().isEmpty {} }
    }
  }

  @Test
  func `a refused client that goes on sending is not listened to for ever`() throws {
    try Served.with(limits { $0.farewell = .milliseconds(100) }) { served in
      let stream = try served.connect()
      try stream.write("nonsense\r\n\r\n")
      let dripping = trickle(UInt8(ascii: "a"), into: stream)
      try served.waitForEvent { if case .refused = $0 { true } else { false } }
      try served.waitForConnections(0)
      try dripping.cancelAndJoin()
    }
  }
}
