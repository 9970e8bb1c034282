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

@Suite(.timeLimit(.minutes(30))) struct DownloadTests {
  private let whole = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })

  @Test func `a download is in a file that stays`() throws {
    let server = try HTTPTestServer(routes: ["/": .body(whole)])
    try runBlocking {
      let (file, response) = try URLSession.shared.co.download(from: server.url())
      defer { try? FileManager.default.removeItem(at: file) }
      #expect(status(of: response) == 200)
      let data = try Data(contentsOf: file)
      #expect(data == whole)
    }
  }

  @Test func `a download replaces what was there, and only when it is complete`() throws {
    let server = try HTTPTestServer(routes: [
      "/": .inTurn(.truncated(whole, after: 1000), .body(whole))
    ])
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("file")
      try Data("old".utf8).write(to: file)
      try runBlocking {
        #expect(throws: URLError.self) {
          _ = try URLSession.shared.co.download(from: server.url(), to: file)
        }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        _ = try URLSession.shared.co.download(from: server.url(), to: file)
        #expect(try Data(contentsOf: file) == whole)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
      }
    }
  }

  @Test func `a download without a place to go throws the file system's error`() throws {
    let server = try HTTPTestServer(routes: ["/": .body(whole)])
    try runBlocking {
      let error = #expect(throws: POSIXError.self) {
        _ = try URLSession.shared.co.download(
          from: server.url(),
          to: URL(fileURLWithPath: "/nowhere/at/all")
        )
      }
      #expect(error?.code == .ENOENT)
    }
  }

  @Test func `a status is no error`() throws {
    let server = try HTTPTestServer(routes: ["/": .status(404, body: Data("none".utf8))])
    try runBlocking {
      let (file, response) = try URLSession.shared.co.download(from: server.url())
      defer { try? FileManager.default.removeItem(at: file) }
      #expect(status(of: response) == 404)
      #expect(try Data(contentsOf: file) == Data("none".utf8))
    }
  }

  @Test func `a download that failed goes on where it stopped`() throws {
    let server = try HTTPTestServer(routes: [
      "/": .inTurn(.ranges(of: whole, closingAfter: 100_000), .ranges(of: whole))
    ])
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("file")
      try runBlocking {
        let request = URLRequest(url: server.url())
        let download = URLSession.shared.co.resumableDownload(for: request, to: file)
        #expect(throws: URLError.self) { _ = try download.run() }
        #expect(download.resumeData != nil)
        let (_, response) = try download.run()
        #expect(status(of: response) == 206)
        #expect(server.requests.last?.headers["range"] == "bytes=100000-")
        #expect(server.requests.last?.headers["if-range"] == "\"1\"")
        #expect(try Data(contentsOf: file) == whole)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
        #expect(download.resumeData == nil)
      }
    }
  }

  @Test func `a cancelled download goes on in another object`() throws {
    let gate = HTTPTestGate()
    let head = whole.prefix(50_000)
    let whole = whole
    let server = try HTTPTestServer(routes: [
      "/": .inTurn(
        HTTPTestBehaviour { exchange in
          try exchange.sendHead(
            200,
            headers: ["Content-Length": "\(whole.count)", "ETag": "\"7\""]
          )
          try exchange.send(head)
          try exchange.wait(at: gate)
        },
        .ranges(of: whole, tag: "\"7\"")
      )
    ])
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("file")
      try runBlocking {
        var request = URLRequest(url: server.url())
        request.setValue("yes", forHTTPHeaderField: "X-Kept")
        let download = URLSession.shared.co.resumableDownload(for: request, to: file)
        let running = launch { try download.run() }
        let part = file.path + ".part"
        while try size(of: part) < head.count { try Coroutine.sleep(for: .milliseconds(2)) }
        running.cancel()
        #expect(throws: CancellationError.self) { try running.value() }
        try expect(server) { $0.abandoned == 1 && $0.open == 0 }

        let data = try #require(download.resumeData)
        let other = try URLSession.shared.co.resumableDownload(resumeData: data)
        let (place, _) = try other.run()
        #expect(place == file)
        #expect(server.requests.last?.headers["range"] == "bytes=50000-")
        #expect(server.requests.last?.headers["x-kept"] == "yes")
        #expect(try Data(contentsOf: file) == whole)
      }
    }
  }

  @Test func `what has changed meanwhile is loaded anew`() throws {
    let changed = Data(whole.reversed())
    let server = try HTTPTestServer(routes: [
      "/": .inTurn(
        .ranges(of: whole, tag: "\"1\"", closingAfter: 1000),
        .ranges(of: changed, tag: "\"2\"")
      )
    ])
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("file")
      try runBlocking {
        let request = URLRequest(url: server.url())
        let download = URLSession.shared.co.resumableDownload(for: request, to: file)
        #expect(throws: URLError.self) { _ = try download.run() }
        let (_, response) = try download.run()
        #expect(status(of: response) == 200)
        #expect(try Data(contentsOf: file) == changed)
      }
    }
  }

  @Test func `a part that is too long is loaded anew`() throws {
    let server = try HTTPTestServer(routes: [
      "/": .inTurn(.ranges(of: whole, closingAfter: 1000), .ranges(of: Data("short".utf8)))
    ])
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("file")
      try runBlocking {
        let request = URLRequest(url: server.url())
        let download = URLSession.shared.co.resumableDownload(for: request, to: file)
        #expect(throws: URLError.self) { _ = try download.run() }
        _ = try download.run()
        #expect(try Data(contentsOf: file) == Data("short".utf8))
        #expect(server.requests.count == 3)
      }
    }
  }

  @Test func `resume data of somebody else is refused`() {
    #expect(throws: DecodingError.self) {
      _ = try URLSession.shared.co.resumableDownload(resumeData: Data("{}".utf8))
    }
  }

  private func size(of path: String) throws -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }
}
