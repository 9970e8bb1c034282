// SPDX-License-Identifier: Apache-2.0

/// Puts lines together from bytes that come in pieces of any size.
///
/// A line ends with CR LF and with nothing else. A lone CR or LF is refused: two parsers that disagree about
/// where a line ends disagree about where a request ends, which is how requests are smuggled.
struct HTTPLineReader: Sendable {
  private(set) var line: [UInt8] = []
  private var hasCarriageReturn = false

  /// Takes the next byte.
  ///
  /// - Parameters:
  ///   - byte: The byte.
  ///   - limit: Most bytes that a line may have.
  ///   - tooLong: What is thrown if it has more.
  /// - Returns: True if the line is complete; then it is in `line` until `next` is called.
  /// - Throws: `tooLong`; a refusal for an end of line that is none.
  mutating func take(_ byte: UInt8, limit: Int, orThrow tooLong: HTTPRefusal) throws(HTTPRefusal)
    -> Bool
  {
    if hasCarriageReturn {
      guard byte == HTTPGrammar.lineFeed else {
        throw HTTPRefusal(400, "a carriage return without a line feed")
      }
      return true
    }
    switch byte {
    case HTTPGrammar.lineFeed: throw HTTPRefusal(400, "a line feed without a carriage return")
    case HTTPGrammar.carriageReturn: hasCarriageReturn = true
    default:
      if line.count >= limit { throw tooLong }
      line.append(byte)
    }
    return false
  }

  /// Begins the next line.
  mutating func next() {
    line.removeAll(keepingCapacity: true)
    hasCarriageReturn = false
  }
}
