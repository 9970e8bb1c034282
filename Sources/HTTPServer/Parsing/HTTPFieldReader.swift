// SPDX-License-Identifier: Apache-2.0

/// Reads header fields, or those of a trailer, up to the empty line that ends them.
struct HTTPFieldReader: Sendable {
  private(set) var headers = HTTPHeaders()
  private var lines = HTTPLineReader()
  private var bytes = 0
  private let maximumBytes: Int
  private let maximumFields: Int

  init(_ limits: HTTPLimits) {
    maximumBytes = limits.headerBytes
    maximumFields = limits.headerFields
  }

  /// Takes the next byte.
  ///
  /// - Returns: True if that was the last one; then `headers` is complete.
  mutating func take(_ byte: UInt8) throws(HTTPRefusal) -> Bool {
    let tooLarge = HTTPRefusal(431, "more than \(maximumBytes) bytes of header fields")
    bytes += 1
    if bytes > maximumBytes { throw tooLarge }
    guard try lines.take(byte, limit: maximumBytes, orThrow: tooLarge) else { return false }
    if lines.line.isEmpty { return true }
    if headers.fields.count == maximumFields {
      throw HTTPRefusal(431, "more than \(maximumFields) header fields")
    }
    try addField(lines.line[...])
    lines.next()
    return false
  }

  private mutating func addField(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
    if line.first == HTTPGrammar.space || line.first == HTTPGrammar.tab {
      throw HTTPRefusal(400, "a header field that goes on in a second line")
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw HTTPRefusal(400, "a header field without a colon")
    }
    // A space before the colon is no part of a token, and so refused as well.
    guard HTTPGrammar.isToken(line[..<colon]) else {
      throw HTTPRefusal(400, "the name of a header field is not a token")
    }
    let value = HTTPGrammar.trimmed(line[(colon + 1)...])
    guard HTTPGrammar.isFieldValue(value) else {
      throw HTTPRefusal(400, "a control character in a header field")
    }
    headers.add(
      String(decoding: line[..<colon], as: UTF8.self),
      String(decoding: value, as: UTF8.self)
    )
  }
}
