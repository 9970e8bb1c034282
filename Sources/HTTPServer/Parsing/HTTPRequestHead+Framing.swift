// SPDX-License-Identifier: Apache-2.0

extension HTTPRequestHead {
  /// Decides what the header fields mean for the connection.
  ///
  /// - Throws: A refusal wherever it could be read in two ways.
  init(
    _ line: HTTPRequestLine,
    _ headers: HTTPHeaders,
    _ limits: HTTPLimits
  ) throws(HTTPRefusal) {
    method = line.method
    target = line.target
    isVersion11 = line.isVersion11
    self.headers = headers
    try Self.checkHost(line, headers)
    framing = try Self.framing(isVersion11, headers, limits)
    let connection = headers.list("Connection")
    keepsAlive =
      isVersion11
      ? !connection.contains("close")
      : connection.contains("keep-alive") && !connection.contains("close")
    let expectations = headers.list("Expect")
    guard expectations.allSatisfy({ $0 == "100-continue" }) else {
      throw HTTPRefusal(417, "only 100-continue can be expected here")
    }
    expectsContinue = isVersion11 && !expectations.isEmpty && framing != .length(0)
  }

  /// RFC 9112 §3.2: one Host, and in HTTP/1.1 there must be one.
  private static func checkHost(
    _ line: HTTPRequestLine,
    _ headers: HTTPHeaders
  ) throws(HTTPRefusal) {
    let hosts = headers.values(of: "Host")
    guard hosts.count == 1 || hosts.isEmpty && !line.isVersion11 else {
      throw HTTPRefusal(400, hosts.isEmpty ? "there is no Host" : "there is more than one Host")
    }
    // For the characters see RFC 3986 §3.2.2; an empty one is allowed.
    for host in hosts + (line.authority.map { [$0] } ?? []) {
      guard
        host.utf8.allSatisfy({
          HTTPGrammar.isTokenCharacter($0) && !"#^`|".utf8.contains($0)
            || "[]:;()=,".utf8.contains($0)
        })
      else { throw HTTPRefusal(400, "the Host is no host") }
    }
  }

  /// RFC 9112 §6.3, where what it leaves to the server is refused.
  private static func framing(
    _ isVersion11: Bool,
    _ headers: HTTPHeaders,
    _ limits: HTTPLimits
  ) throws(HTTPRefusal) -> HTTPBodyFraming {
    let lengths = headers.values(of: "Content-Length")
    guard headers.values(of: "Transfer-Encoding").isEmpty else {
      guard isVersion11 else { throw HTTPRefusal(400, "HTTP/1.0 knows no Transfer-Encoding") }
      guard lengths.isEmpty else {
        throw HTTPRefusal(400, "both Transfer-Encoding and Content-Length")
      }
      let codings = headers.list("Transfer-Encoding")
      if codings == ["chunked"] { return .chunked }
      if codings.last == "chunked",
        codings.dropLast().allSatisfy({ !["chunked", ""].contains($0) })
      {
        throw HTTPRefusal(501, "only the transfer coding chunked is known here")
      }
      throw HTTPRefusal(400, "chunked is not the last transfer coding, or not once")
    }
    guard let text = lengths.first else { return .length(0) }
    // "5, 5" and two fields are refused even if they agree: who sends them did not mean to.
    guard lengths.count == 1, !text.isEmpty,
      text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { throw HTTPRefusal(400, "Content-Length is not one number") }
    guard let length = Int(text), length <= limits.bodyBytes else {
      throw HTTPRefusal(413, "more than \(limits.bodyBytes) bytes of body")
    }
    return .length(length)
  }
}
