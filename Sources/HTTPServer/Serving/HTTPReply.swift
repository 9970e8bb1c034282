// SPDX-License-Identifier: Apache-2.0

/// An answer as it is sent: with the fields that the connection needs.
struct HTTPReply {
  enum Body {
    case none
    case bytes([UInt8])
    case stream(HTTPBodyWriter.Framing, (HTTPBodyWriter) throws -> Void)
  }

  /// What a handler has made that cannot be sent.
  struct Unsendable: Error, CustomStringConvertible {
    let description: String
  }

  let status: Int
  let head: [UInt8]
  let body: Body
  let keepsAlive: Bool

  /// Bytes of a body that is in memory.
  var count: Int { if case .bytes(let bytes) = body { bytes.count } else { 0 } }

  /// Refuses what would let the client see something else than the handler meant.
  static func check(_ response: HTTPResponse) throws {
    guard 200...599 ~= response.status else {
      throw Unsendable(description: "\(response.status) is not the status of an answer")
    }
    for field in response.headers.fields {
      guard HTTPGrammar.isToken(field.name.utf8), HTTPGrammar.isFieldValue(field.value.utf8) else {
        throw Unsendable(description: "a header field has characters that cannot be in it")
      }
    }
    if case .stream(let length?, _) = response.body, length < 0 {
      throw Unsendable(description: "a length is not negative")
    }
  }

  /// Makes it from what a handler answered.
  ///
  /// - Parameters:
  ///   - response: Has been checked.
  ///   - request: What it answers.
  ///   - mayStay: The connection can be used again.
  init(_ response: HTTPResponse, to request: HTTPRequestHead, mayStay: Bool) {
    let hasNoBody = HTTPStatus.hasNoBody(response.status)
    let sendsNoBody = hasNoBody || request.method == "HEAD"
    var keepsAlive = mayStay && !response.headers.list("Connection").contains("close")
    var headers = response.headers
    for name in ["Content-Length", "Transfer-Encoding", "Connection"] { headers[name] = nil }
    switch response.body {
    case .bytes(let bytes):
      if !hasNoBody { headers.add("Content-Length", "\(bytes.count)") }
      body = sendsNoBody ? .none : .bytes(bytes)
    case .stream(let length?, let produce):
      if !hasNoBody { headers.add("Content-Length", "\(length)") }
      body = sendsNoBody ? .none : .stream(.length(length), produce)
    case .stream(nil, let produce) where request.isVersion11:
      if !hasNoBody { headers.add("Transfer-Encoding", "chunked") }
      body = sendsNoBody ? .none : .stream(.chunked, produce)
    case .stream(nil, let produce):
      // HTTP/1.0 knows no chunks.
      if !sendsNoBody { keepsAlive = false }
      body = sendsNoBody ? .none : .stream(.closing, produce)
    }
    if !keepsAlive {
      headers.add("Connection", "close")
    } else if !request.isVersion11 {
      headers.add("Connection", "keep-alive")
    }
    self.keepsAlive = keepsAlive
    status = response.status
    head = Self.head(response.status, headers)
  }

  /// The bytes of an answer after which the connection is closed, for requests that could not be read.
  static func closing(with response: HTTPResponse) -> [UInt8] {
    guard case .bytes(let bytes) = response.body else { return [] }
    var headers = response.headers
    headers.add("Content-Length", "\(bytes.count)")
    headers.add("Connection", "close")
    return head(response.status, headers) + bytes
  }

  private static func head(_ status: Int, _ headers: HTTPHeaders) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(HTTPStatus.phrase(status))\r\n"
    if headers["Date"] == nil { text += "Date: \(HTTPDate.now)\r\n" }
    for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
    return Array((text + "\r\n").utf8)
  }
}
