// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import HTTPTestServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(30))) struct ResponseBodyTests {
  @Test(arguments: Place.allCases)
  func `a chunk arrives before the next one is sent`(_ place: Place) throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": .chunks(["one", "two"], each: gate)])
    let url = server.url()
    try place.run {
      let body = try URLSession.shared.co.stream(from: url)
      #expect(status(of: body.response) == 200)
      gate.admit()
      let first = try body.receive()
      #expect(first == Data("one".utf8))
      gate.admit()
      let second = try body.receive()
      #expect(second == Data("two".utf8))
      let end = try body.receive()
      #expect(end == nil)
      #expect(body.error == nil)
    }
  }

  @Test func `outside a coroutine it blocks the thread`() async throws {
    let server = try HTTPTestServer(routes: ["/": .text("hello")])
    let url = server.url()
    let text = try await onPlainThread { () throws -> String in
      var all = Data()
      for chunk in try URLSession.shared.co.stream(from: url) { all += chunk }
      return String(decoding: all, as: UTF8.self)
    }
    #expect(text == "hello")
  }

  @Test func `a big body comes whole and in order, though its consumer is slow`() throws {
    let whole = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
    let server = try HTTPTestServer(routes: ["/": .body(whole)])
    try runBlocking {
      let body = try URLSession.shared.co.stream(from: server.url(), bufferSize: 64 << 10)
      // All is sent before anything is taken: what is not in memory is in a file.
      #if canImport(FoundationNetworking)
      try expect(server) { $0.sentBytes > 8_000_000 }
      #endif
      var all = Data()
      while let chunk = try body.receive() { all += chunk }
      #expect(all == whole)
    }
  }

  @Test func `a status is no error`() throws {
    let server = try HTTPTestServer(routes: ["/": .status(404, body: Data("none".utf8))])
    try runBlocking {
      let body = try URLSession.shared.co.stream(from: server.url())
      #expect(status(of: body.response) == 404)
      #expect(Array(body).reduce(Data(), +) == Data("none".utf8))
    }
  }

  @Test func `redirections are followed`() throws {
    let server = try HTTPTestServer(routes: ["/old": .redirect(to: "/new"), "/new": .text("here")])
    try runBlocking {
      let body = try URLSession.shared.co.stream(from: server.url("/old"))
      #expect(status(of: body.response) == 200)
      #expect(Array(body).reduce(Data(), +) == Data("here".utf8))
    }
  }

  @Test func `the session's delegate decides about redirections`() throws {
    final class Stay: NSObject, URLSessionTaskDelegate {
      func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) { completionHandler(nil) }
    }
    let server = try HTTPTestServer(routes: ["/old": .redirect(to: "/new"), "/new": .text("here")])
    let session = URLSession(configuration: .ephemeral, delegate: Stay(), delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    try runBlocking {
      let body = try session.co.stream(from: server.url("/old"))
      #expect(status(of: body.response) == 302)
    }
  }

  @Test func `a truncated body is an error after what has come`() throws {
    let server = try HTTPTestServer(routes: ["/": .truncated(Data(count: 1000), after: 100)])
    try runBlocking {
      let body = try URLSession.shared.co.stream(from: server.url())
      var count = 0
      #expect(throws: URLError.self) {
        while let chunk = try body.receive() { count += chunk.count }
      }
      #expect(count == 100)
      #expect(body.error is URLError)
    }
  }

  @Test func `a loop over a truncated body ends and tells`() throws {
    let server = try HTTPTestServer(routes: ["/": .truncatedChunks(["one"])])
    try runBlocking {
      let body = try URLSession.shared.co.stream(from: server.url())
      #expect(Array(body) == [Data("one".utf8)])
      #expect(body.error is URLError)
    }
  }

  @Test func `no answer at all is thrown at once`() throws {
    let server = try HTTPTestServer(routes: ["/": .reset])
    try runBlocking {
      _ = #expect(throws: URLError.self) {
        _ = try URLSession.shared.co.stream(from: server.url())
      }
    }
  }

  @Test func `dropping the body closes the connection`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": .chunks(["one", "two"], each: gate)])
    gate.admit()
    try runBlocking {
      do {
        let body = try URLSession.shared.co.stream(from: server.url())
        let chunk = try body.receive()
        #expect(chunk?.isEmpty == false)
      }
      try expect(server) { $0.abandoned == 1 && $0.open == 0 }
    }
  }

  @Test func `leaving its scope closes the connection (rule 8)`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": .chunks(["one", "two"], each: gate)])
    gate.admit()
    try runBlocking {
      let url = server.url()
      let bodies = Channel<ResponseBody>(capacity: 1)
      let reader = launch {
        let body = try URLSession.shared.co.stream(from: url)
        try bodies.send(body)
        while try body.receive() != nil {}
      }
      let body = try bodies.receive()
      reader.cancel()
      try reader.join()
      try expect(server) { $0.abandoned == 1 && $0.open == 0 }
      #expect(throws: CancellationError.self) { while try body.receive() != nil {} }
    }
  }

  @Test func `cancelling while the head is awaited closes the connection`() throws {
    let server = try HTTPTestServer(routes: ["/": .silent])
    try runBlocking {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(50)) {
          _ = try URLSession.shared.co.stream(from: server.url())
        }
      }
      try expect(server) { $0.active == 0 && $0.open == 0 }
    }
  }

  @Test func `the channel stands in a select`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": .chunks(["one"], each: gate)])
    try runBlocking {
      let body = try URLSession.shared.co.stream(from: server.url())
      let early = try select {
        Receive(from: body.channel) { _ in "chunk" }
        After(.milliseconds(1)) { "time" }
      }
      #expect(early == "time")
      gate.open()
      let late = try select {
        Receive(from: body.channel) { String(decoding: $0, as: UTF8.self) }
      }
      #expect(late == "one")
    }
  }
}
