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

@Suite(.timeLimit(.minutes(30))) struct URLSessionDataTests {
  @Test(arguments: Place.allCases)
  func `a body is loaded anywhere`(_ place: Place) throws {
    let server = try HTTPTestServer(routes: ["/": .text("hello")])
    let url = server.url()
    let (text, code) = try place.run { () throws -> (String, Int?) in
      let (data, response) = try URLSession.shared.co.data(from: url)
      return (String(decoding: data, as: UTF8.self), status(of: response))
    }
    #expect(text == "hello")
    #expect(code == 200)
  }

  @Test func `outside a coroutine it blocks the thread`() async throws {
    let server = try HTTPTestServer(routes: ["/": .text("hello")])
    let url = server.url()
    let text = try await onPlainThread {
      #expect(Coroutine.current == nil)
      return String(decoding: try URLSession.shared.co.data(from: url).0, as: UTF8.self)
    }
    #expect(text == "hello")
  }

  @Test(arguments: [404, 500, 204, 401])
  func `a status is no error`(_ code: Int) throws {
    let server = try HTTPTestServer(routes: [
      "/": .status(code, body: code == 204 ? Data() : Data("sorry".utf8))
    ])
    try runBlocking {
      let (data, response) = try URLSession.shared.co.data(from: server.url())
      #expect(status(of: response) == code)
      #expect(data == (code == 204 ? Data() : Data("sorry".utf8)))
    }
  }

  @Test func `redirections are followed`() throws {
    let server = try HTTPTestServer(routes: [
      "/old": .redirect(to: "/newer"), "/newer": .redirect(to: "/new", status: 301),
      "/new": .text("here"),
    ])
    try runBlocking {
      let (data, response) = try URLSession.shared.co.data(from: server.url("/old"))
      #expect(data == Data("here".utf8))
      #expect(response.url == server.url("/new"))
      #expect(server.requests.map(\.path) == ["/old", "/newer", "/new"])
    }
  }

  @Test func `a redirection without end is an error`() throws {
    let server = try HTTPTestServer(routes: ["/": .redirect(to: "/")])
    try runBlocking {
      let error = #expect(throws: URLError.self) {
        try URLSession.shared.co.data(from: server.url())
      }
      #expect(error?.code == .httpTooManyRedirects)
    }
  }

  @Test(arguments: Fault.allCases)
  func `a broken transfer throws what URLSession reports`(_ fault: Fault) throws {
    let server = try HTTPTestServer(routes: ["/": fault.behaviour])
    try runBlocking {
      _ = #expect(throws: URLError.self) {
        try URLSession.shared.co.data(from: server.url())
      }
    }
  }

  @Test func `nobody listening is an error`() throws {
    let url = try HTTPTestServer().url()  // gone at once
    try runBlocking {
      let error = #expect(throws: URLError.self) { try URLSession.shared.co.data(from: url) }
      #expect(error?.code == .cannotConnectToHost)
    }
  }

  @Test func `cancelling stops the task and closes its connection (rule 2, 3.5-c9)`() throws {
    let server = try HTTPTestServer(routes: ["/": .silent])
    try runBlocking {
      let url = server.url()
      let loading = launch { try URLSession.shared.co.data(from: url) }
      try expect(server) { $0.active == 1 }
      loading.cancel()
      #expect(throws: CancellationError.self) { try loading.value() }
      try expect(server) { $0.abandoned == 1 && $0.open == 0 }
    }
  }

  @Test func `a time limit stops the task`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": .chunks(["a", "b"], each: gate)])
    gate.admit()
    try runBlocking {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(50)) { try URLSession.shared.co.data(from: server.url()) }
      }
      try expect(server) { $0.active == 0 && $0.open == 0 }
    }
  }

  @Test func `cancelled code sends no request (rule 2)`() throws {
    let server = try HTTPTestServer(routes: ["/": .text("hello")])
    try runBlocking {
      let url = server.url()
      let loading = launch {
        Coroutine.current?.cancel()
        return try URLSession.shared.co.data(from: url)
      }
      #expect(throws: CancellationError.self) { try loading.value() }
      #expect(server.counts.accepted == 0)
    }
  }

  @Test func `a body is uploaded`() throws {
    let server = try HTTPTestServer(routes: ["/": .echo])
    var request = URLRequest(url: server.url())
    request.httpMethod = "PUT"
    let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try runBlocking { [request] in
      let (data, response) = try URLSession.shared.co.upload(for: request, from: body)
      #expect(data == body)
      #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Method") == "PUT")
    }
  }

  @Test func `a file is uploaded`() throws {
    let server = try HTTPTestServer(routes: ["/": .echo])
    var request = URLRequest(url: server.url())
    request.httpMethod = "POST"
    let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("body")
      try body.write(to: file)
      try runBlocking { [request] in
        let (data, _) = try URLSession.shared.co.upload(for: request, fromFile: file)
        #expect(data == body)
      }
    }
  }

  /// In a process of its own, because the threads of the pool are counted.
  @Test func `two hundred calls at once need one thread`() async {
    await #expect(processExitsWith: .success) {
      try callTwoHundredTimes()
    }
  }

  enum Fault: CaseIterable {
    case reset, truncated, truncatedChunks

    var behaviour: HTTPTestBehaviour {
      switch self {
      case .reset: .reset
      case .truncated: .truncated(Data(count: 1000), after: 100)
      case .truncatedChunks: .truncatedChunks(["one", "two"])
      }
    }
  }
}

/// Loads from a server that answers none before all have asked.
private func callTwoHundredTimes() throws {
  let gate = HTTPTestGate()
  let server = try HTTPTestServer(routes: ["/": .after(gate, .text("hello"))])
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpMaximumConnectionsPerHost = 200
  // The first ones wait for the last one.
  configuration.timeoutIntervalForRequest = 600
  let session = URLSession(configuration: configuration)
  defer { session.finishTasksAndInvalidate() }
  try runBlocking {
    let url = server.url()
    let thread = pthread_self()
    var steps = 0
    let calls = (0..<200).map { _ in
      launch {
        let (data, _) = try session.co.data(from: url)
        #expect(pthread_equal(pthread_self(), thread) != 0)
        steps += 1
        return data
      }
    }
    // All have been asked, none has been answered, and this thread is free.
    try expectArrivals(200, at: gate)
    #expect(steps == 0)
    let threads = OffloadPool.shared.threadCount
    gate.open()
    for call in calls {
      let data = try call.value()
      #expect(data == Data("hello".utf8))
    }
    #expect(steps == 200)
    #expect(OffloadPool.shared.threadCount <= threads)
  }
}
