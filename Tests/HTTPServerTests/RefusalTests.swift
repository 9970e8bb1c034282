// SPDX-License-Identifier: Apache-2.0

import CoroutinesIO
import HTTPServer
import Testing

/// What the server does not take, sent over real sockets.
@Suite(.timeLimit(.minutes(30))) struct RefusalTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let status: Int
    let request: String
    var testDescription: String { "\(status): \(String(request.prefix(80)).debugDescription)" }
  }

  private static func cases(_ status: Int, _ requests: String...) -> [Case] {
    requests.map { Case(status: status, request: $0) }
  }

  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n"
  private static let post = "POST / HTTP/1.1\r\nHost: a\r\n"
  private static let chunked = post + "Transfer-Encoding: chunked\r\n"

  static let all: [Case] =
    cases(
      400,
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET / \r\n\r\n",
      "GET  / HTTP/1.1\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
      "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
      "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP\r\nHost: a\r\n\r\n",
      "GET / http/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.10\r\nHost: a\r\n\r\n",
      "GET / HTTP/1,1\r\nHost: a\r\n\r\n",
      "\u{0}\u{1}\u{2}\r\n\r\n"
    )
    // Ends of lines.
    + cases(
      400,
      "GET / HTTP/1.1\nHost: a\n\n",
      "GET / HTTP/1.1\r\nHost: a\n\r\n",
      "GET / HTTP/1.1\rHost: a\r\n\r\n",
      get + "A: b\rc\r\n\r\n",
      get + "A: b\r\r\n\r\n",
      get + "A: b\nC: d\r\n\r\n",
      "\r\n\r\n" + get + "\r\n"
    )
    // Fields.
    + cases(
      400,
      get + "A: b\r\n folded\r\n\r\n",
      get + "A: b\r\n\tfolded\r\n\r\n",
      "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
      get + "A : b\r\n\r\n",
      get + ": b\r\n\r\n",
      get + "A\r\n\r\n",
      get + "A b: c\r\n\r\n",
      get + "\u{E9}: c\r\n\r\n",
      get + "A: \u{0}\r\n\r\n",
      get + "A: \u{7F}\r\n\r\n",
      get + "A: \u{1B}[2J\r\n\r\n"
    )
    // Hosts.
    + cases(
      400,
      "GET / HTTP/1.1\r\n\r\n",
      get + "Host: a\r\n\r\n",
      get + "host: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
      "GET http://a@b/ HTTP/1.1\r\nHost: b\r\n\r\n",
      "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"
    )
    // Where the body ends.
    + cases(
      400,
      post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
      post + "Content-Length: 1, 1\r\n\r\na",
      post + "Content-Length: +1\r\n\r\na",
      post + "Content-Length: -1\r\n\r\na",
      post + "Content-Length: 0x1\r\n\r\na",
      post + "Content-Length: 1 1\r\n\r\na",
      post + "Content-Length:\r\n\r\n",
      post + "Content-Length: a\r\n\r\n",
      chunked + "Content-Length: 3\r\n\r\n0\r\n\r\n",
      post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: gzip\r\n\r\n",
      post + "Transfer-Encoding: chunked, gzip\r\n\r\n",
      post + "Transfer-Encoding: chunked, chunked\r\n\r\n",
      chunked + "Transfer-Encoding: chunked\r\n\r\n",
      post + "Transfer-Encoding:\r\n\r\n",
      post + "Transfer-Encoding: chunked,\r\n\r\n",
      post + "Transfer-Encoding: \u{B}chunked\r\n\r\n",
      post + "Transfer-Encoding: xchunked\r\n\r\n"
    )
    // Bodies.
    + cases(
      400,
      post + "Content-Length: 5\r\n\r\nabc",
      chunked + "\r\nx\r\n\r\n",
      chunked + "\r\n\r\n\r\n",
      chunked + "\r\n 3\r\nabc\r\n0\r\n\r\n",
      chunked + "\r\n3 \r\nabc\r\n0\r\n\r\n",
      chunked + "\r\n0x3\r\nabc\r\n0\r\n\r\n",
      chunked + "\r\n-3\r\nabc\r\n0\r\n\r\n",
      chunked + "\r\n3\nabc\r\n0\r\n\r\n",
      chunked + "\r\n3\rabc\r\n0\r\n\r\n",
      chunked + "\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
      chunked + "\r\n3;\u{0}\r\nabc\r\n0\r\n\r\n",
      chunked + "\r\n3\r\nabcd\r\n0\r\n\r\n",
      chunked + "\r\n3\r\nabc0\r\n\r\n",
      chunked + "\r\n3\r\nabc\n0\r\n\r\n",
      chunked + "\r\n3\r\nab",
      chunked + "\r\n3\r\nabc\r\n0\r\n",
      chunked + "\r\n0\r\nA: b\r\n folded\r\n\r\n",
      chunked + "\r\n0\r\nA\r\n\r\n",
      chunked + "\r\n1;" + String(repeating: "a", count: 300) + "\r\na\r\n0\r\n\r\n"
    )
    + cases(
      413,
      post + "Content-Length: 1001\r\n\r\n",
      post + "Content-Length: 99999999999999999999999\r\n\r\n",
      chunked + "\r\n3e9\r\n",
      chunked + "\r\nffffffffffffffffffff\r\n",
      chunked + "\r\n3e8\r\n" + String(repeating: "a", count: 1000) + "\r\n1\r\n"
    )
    + cases(
      414,
      "GET /" + String(repeating: "a", count: 200),
      String(repeating: "A", count: 201),
      "GET /" + String(repeating: "a", count: 200) + " HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    + cases(417, post + "Expect: a-miracle\r\nContent-Length: 1\r\n\r\na")
    + cases(
      431,
      get + "A: " + String(repeating: "b", count: 500),
      get + String(repeating: "A", count: 500),
      get + String(repeating: "A: b\r\n", count: 10) + "\r\n",
      chunked + "\r\n0\r\n" + String(repeating: "A: b\r\n", count: 11) + "\r\n",
      chunked + "\r\n0\r\nA: " + String(repeating: "b", count: 500)
    )
    + cases(
      501,
      "BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
      "get / HTTP/1.1\r\nHost: a\r\n\r\n",
      "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
      "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n"
    )
    + cases(
      505,
      "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
      "GET / HTTP/0.9\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    )

  static let limits: HTTPLimits = {
    var limits = HTTPLimits()
    limits.requestLine = 200
    limits.headerBytes = 400
    limits.headerFields = 10
    limits.bodyBytes = 1000
    return limits
  }()

  @Test(arguments: all)
  func `a request that is wrong is told so, once, and the connection is closed`(_ wrong: Case)
    throws
  {
    try Served.with(Self.limits) { served in
      // What follows is not looked at: nobody knows where it would begin.
      let text = try served.exchange(wrong.request)
      let answers = try Answer.all(in: text)
      #expect(answers.map(\.status) == [wrong.status])
      #expect(answers.first?.fields.contains("Connection: close") == true)
      #expect(
        served.events.contains {
          if case .refused(let refusal, _) = $0 { refusal.status == wrong.status } else { false }
        }
      )
      #expect(try served.exchange("GET /next HTTP/1.0\r\n\r\n").hasSuffix("GET /next []"))
    }
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n folded\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: y\n\r\n",
  ])
  func `no second request is found in one that can be read in two ways`(_ carrier: String) throws {
    try Served.with { served in
      let hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
      let text = try served.exchange(carrier + hidden + hidden)
      #expect(try Answer.all(in: text).map(\.status) == [400])
      #expect(!text.contains("/hidden"))
    }
  }

  @Test(arguments: [
    "", "G", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r",
  ])
  func `a client that ends before its request does gets 400, or nothing if it began none`(
    _ part: String
  ) throws {
    try Served.with { served in
      let answers = try Answer.all(in: served.exchange(part))
      #expect(answers.map(\.status) == (part.isEmpty ? [] : [400]))
    }
  }
}
