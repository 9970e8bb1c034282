// SPDX-License-Identifier: Apache-2.0

/// As much of Swift and C as is needed to find the string literals in a stretch of code.
struct Lexer {
  private let text: String
  private var place: String.Index

  init(_ text: String) {
    self.text = text
    place = text.startIndex
  }

  /// All literals.
  ///
  /// - Returns: Their pieces.
  mutating func literals() -> [String] { literals(from: text.startIndex, to: nil) }

  /// The literals from a place to the bracket that closes it, without what is interpolated.
  ///
  /// - Parameters:
  ///   - start: Behind the bracket that opens.
  ///   - end: The bracket that closes.
  /// - Returns: Their pieces.
  mutating func literals(from start: String.Index, to end: Character?) -> [String] {
    place = start
    var found: [String] = []
    var depth = 0
    while place < text.endIndex {
      let character = text[place]
      if text[place...].hasPrefix("//") {
        place = text[place...].firstIndex(of: "\n") ?? text.endIndex
        continue
      }
      if character == "\"" {
        found += literal()
        continue
      }
      if depth == 0, character == end { return found }
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      if end != nil, depth < 0 { return found }
      place = text.index(after: place)
    }
    return found
  }

  /// The pieces of the literal that begins here.
  private mutating func literal() -> [String] {
    let isLong = text[place...].hasPrefix("\"\"\"")
    let quote = isLong ? "\"\"\"" : "\""
    place = text.index(place, offsetBy: quote.count)
    var (found, piece) = ([String](), "")
    while place < text.endIndex, !text[place...].hasPrefix(quote) {
      if text[place] != "\\" {
        piece.append(text[place])
        place = text.index(after: place)
        continue
      }
      place = text.index(after: place)
      let escaped = text[place]
      place = text.index(after: place)
      if escaped == "(" {
        found.append(piece)
        piece = ""
        found += literals(from: place, to: ")")
        place = text.index(after: place)
      } else {
        piece.append(escaped == "n" ? "\n" : escaped)
      }
    }
    if place < text.endIndex { place = text.index(place, offsetBy: quote.count) }
    return found + [piece]
  }
}
