// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import HTTPServer
import Testing

/// Many connections, and their end.
@Suite(.timeLimit(.minutes(30))) struct CrowdTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test
  func `a thousand connections are open at a time and all are served, twice`() throws {
    var limits = HTTPLimits()
    // The first ones wait for the last one.
    limits.keepAlive = .seconds(3600)
    try Served.with(limits) { served in
      let streams = try (0..<1000).map { _ in try served.connect() }
      try served.waitForConnections(1000)
      for round in 1...2 {
        for (number, stream) in streams.enumerated() {
          try stream.write("GET /\(round)/\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        for (number, stream) in streams.enumerated() {
          let end = "GET /\(round)/\(number) []"
          #expect(try stream.read(through: end).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
      }
      #expect(served.server.connectionCount == 1000)
      for stream in streams { stream.close() }
      try served.waitForConnections(0)
    }
  }

  @Test
  func `beyond the limit connections wait until another one goes`() throws {
    var limits = HTTPLimits()
    limits.connections = 2
    try Served.with(limits) { served in
      let first = try served.connect()
      let second = try served.connect()
      try served.waitForConnections(2)
      let third = try served.connect()
      try third.write(Self.get)
      for stream in [first, second] {
        try stream.write(Self.get)
        _ = try stream.read(through: "GET / []")
        #expect(served.server.connectionCount == 2)
      }
      first.close()
      _ = try third.read(through: "GET / []")
      #expect(served.server.connectionCount == 2)
    }
  }

  @Test
  func `a stop lets what has begun be answered, closes what is idle and takes no more`() throws {
    let mayAnswer = Channel<Void>()
    let handler: HTTPServer.Handler = { _ in
      try mayAnswer.receive()
      return .text("the last one")
    }
    try Served.with(handler: handler) { served in
      let idle = try served.connect()
      let busy = try served.connect()
      try served.waitForConnections(2)
      try busy.write(Self.get + Self.get)
      // The handler has begun once it takes this; it waits again for the answer.
      let stopping = launch { try served.server.stop(within: .seconds(60)) }
      #expect(try idle.readToEnd().isEmpty)
      #expect(throws: IOError.self) { try served.connect() }
      #expect(!stopping.isFinished)
      try mayAnswer.send(())
      let answers = try Answer.all(in: String(decoding: busy.readToEnd(), as: UTF8.self))
      #expect(answers.map(\.body) == ["the last one"])
      #expect(answers[0].fields.contains("Connection: close"))
      busy.close()
      try stopping.value()
      #expect(served.server.connectionCount == 0)
    }
  }

  @Test
  func `what is not answered within the time of grace is broken off`() throws {
    let begun = Channel<Void>(capacity: 1)
    let handler: HTTPServer.Handler = { _ in
      begun.sendIfReady(())
      try Coroutine.sleep(for: .seconds(3600))
      return .text("never")
    }
    try runBlocking {
      let server = try HTTPServer(handler: handler)
      let running = launch { try server.run() }
      let stream = try ByteStream.connect(to: server.address)
      try stream.write(Self.get)
      try begun.receive()
      try server.stop(within: .milliseconds(20))
      #expect(throws: IOError.self) { try stream.readToEnd() }
      _ = try? running.value()
      #expect(server.connectionCount == 0)
    }
  }

  @Test
  func `a cancelled server closes its listener and its connections (rule 8)`() throws {
    try runBlocking {
      let server = try HTTPServer(handler: Served.echo)
      let running = launch { try server.run() }
      let stream = try ByteStream.connect(to: server.address)
      while server.connectionCount == 0 { try Coroutine.yield() }
      try running.cancelAndJoin()
      #expect(throws: CancellationError.self) { try running.value() }
      // Reset or closed: in any case it is over.
      _ = try? stream.readToEnd()
      #expect(throws: IOError.self) { try ByteStream.connect(to: server.address) }
      #expect(server.connectionCount == 0)
    }
  }

  @Test
  func `clients that send noise do not keep the server from serving others`() throws {
    try Served.with(RefusalTests.limits) { served in
      var random = SplitMix(seed: 20_240_601)
      for round in 0..<300 {
        let noise = (0..<Int.random(in: 1...600, using: &random)).map { _ in
          // Half of them of the kind that requests are made of.
          Bool.random(using: &random)
            ? UInt8.random(in: 0...255, using: &random)
            : Array("\r\n :GET/HTP1.0a".utf8).randomElement(using: &random) ?? 0
        }
        let answers = try Answer.all(in: served.exchange(noise))
        #expect(
          answers.count <= 1 && answers.allSatisfy { 400...505 ~= $0.status },
          "round \(round)"
        )
      }
      #expect(try served.exchange(Self.get).hasSuffix("GET / []"))
      try served.waitForConnections(0)
    }
  }
}
