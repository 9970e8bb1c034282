// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import CoroutinesIO
import Foundation
import HTTPServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client that somebody else wrote.
@Suite(.timeLimit(.minutes(30))) struct URLSessionTests {
  private func withSession(
    handler: @escaping HTTPServer.Handler,
    _ body: (URLSession, URL) throws -> Void
  ) throws {
    try Served.with(handler: handler) { served in
      let session = URLSession(configuration: .ephemeral)
      defer { session.invalidateAndCancel() }
      let url = try #require(URL(string: "http://127.0.0.1:\(served.server.address.port ?? 0)/"))
      try body(session, url)
    }
  }

  private func status(_ response: URLResponse) -> Int? {
    (response as? HTTPURLResponse)?.statusCode
  }

  @Test
  func `it gets, puts and is refused`() throws {
    let handler: HTTPServer.Handler = { request in
      if request.head.target == "/none" { throw HTTPRefusal(404, "none") }
      return try Served.echo(request)
    }
    try withSession(handler: handler) { session, url in
      let (data, _) = try session.co.data(from: url.appendingPathComponent("a b"))
      #expect(String(decoding: data, as: UTF8.self) == "GET /a%20b []")
      var put = URLRequest(url: url)
      put.httpMethod = "PUT"
      let body = String(repeating: "text ", count: 100_000)
      let (echo, response) = try session.co.upload(for: put, from: Data(body.utf8))
      #expect(String(decoding: echo, as: UTF8.self) == "PUT / [\(body)]")
      #expect(status(response) == 200)
      let (_, refused) = try session.co.data(from: url.appendingPathComponent("none"))
      #expect(status(refused) == 404)
      var head = URLRequest(url: url)
      head.httpMethod = "HEAD"
      let (nothing, fields) = try session.co.data(for: head)
      #expect(nothing.isEmpty)
      #expect(fields.expectedContentLength == 9)
    }
  }

  @Test
  func `it reads a long body in chunks as it is made`() throws {
    let part = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    let handler: HTTPServer.Handler = { _ in
      HTTPResponse(body: .stream { writer in for _ in 0..<100 { try writer.write(part) } })
    }
    try withSession(handler: handler) { session, url in
      let (data, _) = try session.co.data(from: url)
      #expect(data.count == 5_000_000)
      #expect(
        stride(from: 0, to: data.count, by: part.count).allSatisfy {
          data[$0..<($0 + part.count)].elementsEqual(part)
        }
      )
    }
  }

  @Test
  func `fifty of its requests at a time are answered`() throws {
    try withSession(handler: Served.echo) { session, url in
      let answers = try withCoroutineScope { scope in
        try (0..<50).map { number in
          scope.launch { try session.co.data(from: url.appendingPathComponent("\(number)")).0 }
        }.map { String(decoding: try $0.value(), as: UTF8.self) }
      }
      #expect(answers == (0..<50).map { "GET /\($0) []" })
    }
  }

  @Test
  func `a body that breaks off is an error for it`() throws {
    struct Broken: Error {}
    let handler: HTTPServer.Handler = { _ in
      HTTPResponse(
        body: .stream(length: 1000) { writer in
          try writer.write([UInt8](repeating: 65, count: 10))
          throw Broken()
        }
      )
    }
    try withSession(handler: handler) { session, url in
      #expect(throws: URLError.self) { try session.co.data(from: url) }
    }
  }
}
