// SPDX-License-Identifier: Apache-2.0

/// An answer, taken apart.
struct Answer: Equatable {
  let status: Int
  let fields: [String]
  let body: String

  /// Takes a row of answers apart; those without Content-Length have no body.
  static func all(in text: String) throws -> [Answer] {
    var answers: [Answer] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      var lines: [String] = []
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = rest[..<end].dropLast()
        rest = rest[(end + 1)...]
        if line.isEmpty { break }
        lines.append(String(decoding: line, as: UTF8.self))
      }
      let prefix = "Content-Length: "
      let length = lines.first { $0.hasPrefix(prefix) }.flatMap { Int($0.dropFirst(prefix.count)) }
      guard let first = lines.first, let status = Int(first.dropFirst(9).prefix(3)),
        first.hasPrefix("HTTP/1.1 ")
      else { throw Malformed(text: text) }
      let body = rest.prefix(length ?? 0)
      rest = rest.dropFirst(body.count)
      answers.append(
        Answer(
          status: status,
          fields: Array(lines.dropFirst()),
          body: String(decoding: body, as: UTF8.self)
        )
      )
    }
    return answers
  }

  struct Malformed: Error { let text: String }
}
