// SPDX-License-Identifier: Apache-2.0

/// Reads the head of a request, byte by byte: a state machine that waits for nothing and reads nothing.
///
/// Whatever the bytes are, and however they are split, it ends with a head or a refusal within the limits. It is
/// as strict as RFC 9112 allows wherever being kind would leave open where a request ends.
struct HTTPRequestParser: Sendable {
  private enum State {
    case requestLine
    case fields
  }

  private let limits: HTTPLimits
  private var state = State.requestLine
  private var lines = HTTPLineReader()
  private var fields: HTTPFieldReader
  private var line: HTTPRequestLine?
  private var hasSkippedLine = false

  init(_ limits: HTTPLimits) {
    self.limits = limits
    fields = HTTPFieldReader(limits)
  }

  /// Takes the next byte.
  ///
  /// - Returns: The head, if this was its last byte; the parser is then used up.
  mutating func take(_ byte: UInt8) throws(HTTPRefusal) -> HTTPRequestHead? {
    switch state {
    case .requestLine:
      let tooLong = HTTPRefusal(414, "more than \(limits.requestLine) bytes of request line")
      guard try lines.take(byte, limit: limits.requestLine, orThrow: tooLong) else { return nil }
      if lines.line.isEmpty, !hasSkippedLine {
        // After a body some clients send an end of line too many (RFC 9112 §2.2).
        hasSkippedLine = true
      } else {
        line = try HTTPRequestLine(lines.line[...])
        state = .fields
      }
      lines.next()
    case .fields:
      if try fields.take(byte), let line {
        return try HTTPRequestHead(line, fields.headers, limits)
      }
    }
    return nil
  }
}

/// The first line of a request.
struct HTTPRequestLine: Sendable {
  let method: String
  let target: String
  /// The authority of a target in absolute form, as proxies get it.
  let authority: String?
  let isVersion11: Bool

  /// What the server knows of; other methods get 501.
  static let methods: Set = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

  init(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
    let parts = line.split(separator: HTTPGrammar.space, omittingEmptySubsequences: false)
    guard parts.count == 3, HTTPGrammar.isToken(parts[0]), !parts[1].isEmpty else {
      throw HTTPRefusal(400, "the request line is not a method, a target and a version")
    }
    isVersion11 = try Self.version(parts[2])
    method = String(decoding: parts[0], as: UTF8.self)
    guard Self.methods.contains(method) else {
      throw HTTPRefusal(501, "there is no such method here")
    }
    guard parts[1].allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else {
      throw HTTPRefusal(400, "a character that cannot be in a target")
    }
    (target, authority) = try Self.target(String(decoding: parts[1], as: UTF8.self), method)
  }

  private static func version(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> Bool {
    let text = Array(bytes)
    func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    guard text.count == 8, text.starts(with: "HTTP/".utf8), isDigit(text[5]), isDigit(text[7]),
      text[6] == UInt8(ascii: ".")
    else { throw HTTPRefusal(400, "there is no version of HTTP in the request line") }
    guard text[5] == UInt8(ascii: "1") else {
      throw HTTPRefusal(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
    }
    return text[7] != UInt8(ascii: "0")
  }

  private static func target(
    _ text: String,
    _ method: String
  ) throws(HTTPRefusal) -> (String, String?) {
    if text.hasPrefix("/") || text == "*" && method == "OPTIONS" { return (text, nil) }
    guard text.prefix(7).lowercased() == "http://" else {
      throw HTTPRefusal(400, "the target is neither a path nor an address of HTTP")
    }
    let rest = text.dropFirst(7)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let path = String(rest.dropFirst(authority.count))
    return (path.hasPrefix("/") ? path : "/" + path, String(authority))
  }
}
