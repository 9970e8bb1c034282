// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import HTTPServer
import Testing

/// What handlers answer, and what they throw.
@Suite(.timeLimit(.minutes(30))) struct ResponseTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  private struct Broken: Error {}

  @Test
  func
    `a streamed body without a length comes in chunks, and ends with the connection for HTTP 1.0`()
    throws
  {
    let handler: HTTPServer.Handler = { _ in
      HTTPResponse(
        body: .stream { writer in
          for part in ["one", "", "sixteen bytes ok"] { try writer.write(Array(part.utf8)) }
        }
      )
    }
    try Served.with(handler: handler) { served in
      let text = try served.exchange(Self.get)
      #expect(text.contains("\r\nTransfer-Encoding: chunked\r\n"))
      #expect(text.hasSuffix("\r\n\r\n3\r\none\r\n10\r\nsixteen bytes ok\r\n0\r\n\r\n"))
      let old = try served.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(old.hasSuffix("\r\n\r\nonesixteen bytes ok"))
      #expect(old.contains("Connection: close\r\n") && !old.contains("Transfer-Encoding"))
    }
  }

  @Test
  func `a body is answered while it comes`() throws {
    let handler: HTTPServer.Handler = { request in
      HTTPResponse(
        body: .stream { writer in
          while case let part = try request.body.read(), !part.isEmpty {
            try writer.write(part.reversed())
          }
        }
      )
    }
    try Served.with(handler: handler) { served in
      let stream = try served.connect()
      try stream.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      _ = try stream.read(through: "\r\n\r\n")
      for word in ["abc", "def"] {
        // Each is answered before the next is sent.
        try stream.write("3\r\n\(word)\r\n")
        #expect(try stream.read(through: "\r\n") == "3\r\n")
        #expect(try stream.read(through: "\r\n") == String(word.reversed()) + "\r\n")
      }
      try stream.write("0\r\n\r\n")
      #expect(try stream.read(through: "\r\n\r\n") == "0\r\n\r\n")
    }
  }

  @Test
  func `what a handler throws is a 500 and told to the log, and the connection goes on`() throws {
    try Served.with(handler: { _ in throw Broken() }) { served in
      let answers = try Answer.all(in: served.exchange(Self.get + Self.get))
      #expect(answers.map(\.status) == [500, 500])
      #expect(!answers[0].body.contains("Broken"))
      let failures = served.events.filter {
        if case .handlerFailed(_, let error) = $0 { error is Broken } else { false }
      }
      #expect(failures.count == 2)
    }
  }

  @Test
  func `a client that resets amid its body is no failure of the handler`() throws {
    let hasBegun = Channel<Void>(capacity: 1)
    let handler: HTTPServer.Handler = { request in
      _ = try request.body.read()
      hasBegun.sendIfReady(())
      return .text("\(try request.body.readAll().count)")
    }
    try Served.with(handler: handler) { served in
      let stream = try served.connect()
      try stream.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
      try hasBegun.receive()
      stream.reset()
      try served.waitForConnections(0)
      #expect(served.events.count == 1)
      let isBrokenOff = served.events.contains { if case .brokenOff = $0 { true } else { false } }
      #expect(isBrokenOff)
    }
  }

  @Test
  func `a refusal that a handler throws is the answer`() throws {
    try Served.with(handler: { _ in throw HTTPRefusal(404, "there is no such thing") }) { served in
      let answers = try Answer.all(in: served.exchange(Self.get + Self.get))
      #expect(answers.map(\.status) == [404, 404])
      #expect(answers[0].body == "404 Not Found: there is no such thing\n")
    }
  }

  @Test(arguments: [
    ("A", "b\r\nSet-Cookie: c"), ("A", "b\nSet-Cookie: c"), ("A\r\nB", "c"), ("", "c"),
  ])
  func `an answer with an end of line in a field is not sent`(_ name: String, _ value: String)
    throws
  {
    let headers = HTTPHeaders([.init(name, value)])
    try Served.with(handler: { _ in HTTPResponse(headers: headers) }) { served in
      let text = try served.exchange(Self.get)
      #expect(text.hasPrefix("HTTP/1.1 500 "))
      #expect(!text.contains("Set-Cookie"))
    }
  }

  @Test(arguments: [0, 99, 100, 199, 600, -1])
  func `a status that is no answer's is not sent`(_ status: Int) throws {
    try Served.with(handler: { _ in HTTPResponse(status: status) }) { served in
      let text = try served.exchange(Self.get)
      #expect(text.hasPrefix("HTTP/1.1 500 "))
    }
  }

  @Test(arguments: [2, 4, nil])
  func `a body that fails or has the wrong length resets the connection`(_ length: Int?) throws {
    let handler: HTTPServer.Handler = { _ in
      HTTPResponse(
        body: .stream(length: length) { writer in
          try writer.write([65, 66, 67])
          if length == nil { throw Broken() }
        }
      )
    }
    try Served.with(handler: handler) { served in
      let stream = try served.connect()
      try stream.write(Self.get)
      let error = #expect(throws: IOError.self) {
        while try !stream.read().isEmpty {}
      }
      #expect(error?.description.contains("reset") == true)
      try served.waitForEvent { if case .handlerFailed = $0 { true } else { false } }
    }
  }

  @Test
  func `fields that would say where the body ends are the server's own`() throws {
    let headers: HTTPHeaders = [
      "Content-Length": "77", "Transfer-Encoding": "chunked", "Connection": "close", "X": "y",
    ]
    try Served.with(handler: { _ in HTTPResponse(headers: headers, body: .bytes([65])) }) {
      served in
      let answers = try Answer.all(in: served.exchange(Self.get + Self.get))
      #expect(answers.map(\.body) == ["A"])
      let fields = answers[0].fields.filter { !$0.hasPrefix("Date: ") }
      #expect(fields == ["X: y", "Content-Length: 1", "Connection: close"])
    }
  }
}
