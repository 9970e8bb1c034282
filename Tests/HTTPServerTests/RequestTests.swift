// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import HTTPServer
import Testing

/// Requests that are right, sent over real sockets as raw bytes.
@Suite(.timeLimit(.minutes(30))) struct RequestTests {
  @Test(arguments: [
    ("GET /a HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a []"),
    ("GET /a?b=c%20d HTTP/1.1\r\nHOST:a:80\r\n\r\n", "GET /a?b=c%20d []"),
    ("\r\nGET / HTTP/1.1\r\nhost: \t [::1]:80 \t\r\n\r\n", "GET / []"),
    ("GET http://a.b/c?d HTTP/1.1\r\nHost: a.b\r\n\r\n", "GET /c?d []"),
    ("GET HTTP://a HTTP/1.1\r\nHost: a\r\n\r\n", "GET / []"),
    ("GET http://a?b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?b []"),
    ("OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n", "OPTIONS * []"),
    ("GET / HTTP/1.7\r\nHost: a\r\n\r\n", "GET / []"),
    ("GET / HTTP/1.0\r\n\r\n", "GET / []"),
    ("GET / HTTP/1.1\r\nHost: a\r\nX:\r\nX: \u{E9}\tb\r\n\r\n", "GET / []"),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "POST / []"),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\n\r\nabc", "POST / [abc]"),
    (
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n1;a=\"b\"\r\na\r\n00A\r\n0123456789\r\n"
        + "000;x\r\nA: b\r\n\r\n", "PUT / [a0123456789]"
    ),
    ("PATCH / HTTP/1.0\r\nContent-Length: 2\r\n\r\n\r\n", "PATCH / [\r\n]"),
  ])
  func `a request is answered`(_ request: String, _ body: String) throws {
    try Served.with { served in
      let answers = try Answer.all(in: served.exchange(request))
      #expect(answers.map(\.status) == [200])
      #expect(answers.map(\.body) == [body])
    }
  }

  private static let pair =
    "\r\nPOST /one HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n"
    + "POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nde"

  @Test
  func `split at any byte, two requests are the same two requests`() throws {
    try Served.with { served in
      let bytes = Array(Self.pair.utf8)
      for split in 0...bytes.count {
        let stream = try served.connect()
        try stream.write(bytes[..<split])
        // The server waits in the middle before the rest is sent.
        for _ in 0..<3 { try Coroutine.yield() }
        try stream.write(bytes[split...])
        let answers = try Answer.all(in: String(decoding: stream.readToEnd(), as: UTF8.self))
        #expect(answers.map(\.body) == ["POST /one [abc]", "POST /two [de]"], "split at \(split)")
      }
    }
  }

  @Test
  func `a byte at a time is enough`() throws {
    try Served.with { served in
      let stream = try served.connect()
      for byte in Self.pair.utf8 {
        try stream.write([byte])
        try Coroutine.yield()
      }
      let answers = try Answer.all(in: String(decoding: stream.readToEnd(), as: UTF8.self))
      #expect(answers.map(\.body) == ["POST /one [abc]", "POST /two [de]"])
    }
  }

  @Test
  func `requests that are sent without waiting are answered in their order`() throws {
    try Served.with { served in
      let stream = try served.connect()
      let count = 5000
      let writer = launch {
        for number in 0..<count {
          let body = String(repeating: "x", count: number % 7)
          try stream.write(
            "POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n\(body)"
          )
        }
        try stream.finishWriting()
      }
      let answers = try Answer.all(in: String(decoding: stream.readToEnd(), as: UTF8.self))
      try writer.value()
      #expect(
        answers.map(\.body)
          == (0..<count).map { "POST /\($0) [\(String(repeating: "x", count: $0 % 7))]" }
      )
    }
  }

  @Test
  func `HTTP 1.0 keeps a connection only if it is asked to`() throws {
    try Served.with { served in
      let kept = "GET /1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"
      let answers = try Answer.all(in: served.exchange(kept + "GET /2 HTTP/1.0\r\n\r\n" + kept))
      #expect(answers.map(\.body) == ["GET /1 []", "GET /2 []"])
      #expect(answers[0].fields.contains("Connection: keep-alive"))
      #expect(answers[1].fields.contains("Connection: close"))
    }
  }

  @Test
  func `the answer to HEAD has the fields of the one to GET and no body`() throws {
    let handler: HTTPServer.Handler = { request in
      HTTPResponse(
        body: .stream(length: request.head.target == "/known" ? 3 : nil) {
          try $0.write([1, 2, 3])
        }
      )
    }
    try Served.with(handler: handler) { served in
      for (path, field) in [("/known", "Content-Length: 3"), ("/", "Transfer-Encoding: chunked")] {
        let text = try served.exchange("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(text.contains(field + "\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
      }
    }
  }

  @Test(arguments: [204, 304])
  func `answers that have no body have none, whatever the handler says`(_ status: Int) throws {
    try Served.with(handler: { _ in .text("not seen", status: status) }) { served in
      let text = try served.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(!text.contains("not seen") && !text.contains("Content-Length"))
    }
  }

  @Test
  func `100-continue is said when the handler reads, and not before`() throws {
    let mayRead = Channel<Void>()
    let handler: HTTPServer.Handler = { request in
      try mayRead.receive()
      return .text(String(decoding: try request.body.readAll(), as: UTF8.self))
    }
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n"
    try Served.with(handler: handler) { served in
      let stream = try served.connect()
      try stream.write(head)
      // The handler waits: not a byte has come from the server.
      try mayRead.send(())
      #expect(try stream.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      try stream.write("hello")
      #expect(try stream.read(through: "hello").hasPrefix("HTTP/1.1 200 OK\r\n"))

      // A client that does not wait for it is not told.
      try stream.write(head + "hello")
      try mayRead.send(())
      #expect(try stream.read(through: "hello").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
  }

  @Test
  func `a client whose body is not wanted is told, and the connection is closed`() throws {
    try Served.with(handler: { _ in .text("no", status: 403) }) { served in
      let stream = try served.connect()
      try stream.write(
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
      )
      let text = String(decoding: try stream.readToEnd(), as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
      #expect(text.contains("Connection: close\r\n"))
    }
  }

  @Test
  func `a body that the handler leaves is dropped, if it is small`() throws {
    try Served.with(handler: { .text($0.head.target) }) { served in
      let body = String(repeating: "GET /hidden HTTP/1.1\r\n", count: 1000)
      let request =
        "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
      let text = try served.exchange(request + "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try Answer.all(in: text).map(\.body) == ["/1", "/2"])
    }
  }

  @Test
  func `after a large body that the handler leaves, the answer is read and the connection closed`()
    throws
  {
    // The client may be slow to send all the rest.
    var limits = HTTPLimits()
    limits.farewell = .seconds(100)
    try Served.with(limits, handler: { .text($0.head.target) }) { served in
      let stream = try served.connect()
      let size = 3 << 20
      try stream.write("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
      let writer = launch { try stream.write([UInt8](repeating: 65, count: size)) }
      let text = String(decoding: try stream.readToEnd(), as: UTF8.self)
      #expect(try Answer.all(in: text).map(\.body) == ["/1"])
      try writer.value()
      stream.close()
    }
  }

  @Test
  func `who has said all goes on to read`() throws {
    let mayAnswer = Channel<Void>()
    let handler: HTTPServer.Handler = { _ in
      try mayAnswer.receive()
      return .text("late")
    }
    try Served.with(handler: handler) { served in
      let stream = try served.connect()
      try stream.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try stream.finishWriting()
      try mayAnswer.send(())
      #expect(
        try Answer.all(in: String(decoding: stream.readToEnd(), as: UTF8.self)).map(\.body) == [
          "late"
        ]
      )
    }
  }

  @Test
  func `a path is taken apart into names of files, or into none`() throws {
    let handler: HTTPServer.Handler = { request in
      let names = request.head.pathComponents.map { $0.map { String(decoding: $0, as: UTF8.self) } }
      return .text(names.map { "\($0)" } ?? "none")
    }
    try Served.with(handler: handler) { served in
      for (target, names) in [
        ("/", "[]"), ("/a/b%20c/?d", "[\"a\", \"b c\"]"), ("//a", "[\"a\"]"), ("/../a", "none"),
        ("/a/%2e%2E/b", "none"), ("/a%2fb", "none"), ("/a%00", "none"), ("/%", "none"),
        ("/%4", "none"), ("/%zz", "none"), ("/...", "[\"...\"]"),
      ] {
        let text = try served.exchange("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(text.hasSuffix("\r\n\r\n" + names), "\(target)")
      }
    }
  }
}
