// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import HTTPTestServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(30))) struct TransferProgressTests {
  private let whole = Data(count: 1000)

  /// Sends a tenth of the body, waits at the gate, and sends the rest.
  private func inTwoParts(_ gate: HTTPTestGate) -> HTTPTestBehaviour {
    let whole = whole
    return HTTPTestBehaviour { exchange in
      try exchange.sendHead(200, headers: ["Content-Length": "\(whole.count)"])
      try exchange.send(whole.prefix(100))
      try exchange.wait(at: gate)
      try exchange.send(whole.dropFirst(100))
    }
  }

  @Test func `a load tells how much has come`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": inTwoParts(gate)])
    try runBlocking {
      let loading = URLSession.shared.co.dataProgress(for: URLRequest(url: server.url()))
      var fractions: [Double] = []
      for fraction in loading {
        fractions.append(fraction)
        gate.open()
      }
      #expect(fractions.first == 0.1)
      #expect(fractions.last == 1)
      let (data, _) = try loading.await()
      #expect(data == whole)
    }
  }

  @Test func `a download tells how much has come`() throws {
    let gate = HTTPTestGate()
    let server = try HTTPTestServer(routes: ["/": inTwoParts(gate)])
    try withTemporaryDirectory { directory in
      try runBlocking {
        let request = URLRequest(url: server.url())
        let file = directory.appendingPathComponent("file")
        let loading = URLSession.shared.co.resumableDownload(for: request, to: file).progress()
        var fractions: [Double] = []
        for fraction in loading {
          fractions.append(fraction)
          gate.open()
        }
        #expect(fractions.first == 0.1)
        #expect(fractions.last == 1)
        _ = try loading.await()
        let data = try Data(contentsOf: file)
        #expect(data == whole)
      }
    }
  }

  @Test func `an upload tells how much has been sent`() throws {
    let server = try HTTPTestServer(routes: ["/": .echo])
    var request = URLRequest(url: server.url())
    request.httpMethod = "POST"
    let body = Data(count: 2_000_000)
    try runBlocking { [request] in
      let sending = URLSession.shared.co.uploadProgress(for: request, from: body)
      let fractions = Array(sending)
      #expect(fractions == fractions.sorted())
      #expect(fractions.last == 1)
      let (data, _) = try sending.await()
      #expect(data == body)
    }
  }

  @Test func `cancelling the promise closes the connection (3.5-c9)`() throws {
    let server = try HTTPTestServer(routes: ["/": inTwoParts(HTTPTestGate())])
    try runBlocking {
      let loading = URLSession.shared.co.dataProgress(for: URLRequest(url: server.url()))
      for _ in loading { loading.cancel() }
      #expect(throws: PromiseError.cancelled) { _ = try loading.await() }
      try expect(server) { $0.abandoned == 1 && $0.open == 0 }
    }
  }

  @Test func `a truncated body is an error`() throws {
    let server = try HTTPTestServer(routes: ["/": .truncated(whole, after: 100)])
    try runBlocking {
      let loading = URLSession.shared.co.dataProgress(for: URLRequest(url: server.url()))
      #expect(Array(loading).last == 0.1)
      #expect(throws: URLError.self) { _ = try loading.await() }
    }
  }
}
