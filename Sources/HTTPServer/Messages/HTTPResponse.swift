// SPDX-License-Identifier: Apache-2.0

/// The answer to a request.
package struct HTTPResponse {
  /// What the client gets after the header fields.
  package enum Body {
    /// Bytes in memory.
    case bytes([UInt8])
    /// Bytes that are made while they are sent; with a length that is known, or else in chunks.
    ///
    /// The closure writes all of them and may park. If it throws, the connection is reset, so that nobody takes a
    /// part for the whole. It is not called for HEAD.
    case stream(length: Int? = nil, (HTTPBodyWriter) throws -> Void)
  }

  /// 200 to 599.
  package var status: Int
  /// Header fields.
  ///
  /// The server adds Content-Length, Transfer-Encoding, Date and Connection itself; of these only
  /// "Connection: close" is heeded.
  package var headers: HTTPHeaders
  /// The body; of answers that have none (to HEAD; 204, 304) it is not sent.
  package var body: Body

  /// An answer.
  package init(status: Int = 200, headers: HTTPHeaders = [:], body: Body = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer in plain text.
  package static func text(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status: status,
      headers: ["Content-Type": "text/plain; charset=utf-8"],
      body: .bytes(Array(text.utf8))
    )
  }
}
