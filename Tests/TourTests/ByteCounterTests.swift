// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct ByteCounterTests {
  private func count(_ bytes: [UInt8], piece: Int) -> Counts {
    var counter = ByteCounter()
    for start in stride(from: 0, to: bytes.count, by: piece) {
      bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { counter.add($0) }
    }
    return counter.counts
  }

  @Test(arguments: [
    ("", 0, 0), ("word", 0, 1), ("two words\n", 1, 2), ("\n\n\n", 3, 0), ("a\r\nb\r\n", 2, 2),
    (" \t\u{B}\u{C}\r", 0, 0), ("a\0b", 0, 1), ("\u{1} \u{7F}", 0, 2), ("ünï cödé", 0, 2),
  ])
  func `lines are newlines and words are runs of what is not white space`(
    text: String,
    lines: Int,
    words: Int
  ) {
    let counts = count(Array(text.utf8), piece: 1 << 10)
    #expect(counts == Counts(lines: lines, words: words, bytes: text.utf8.count))
  }

  @Test(arguments: [1, 2, 3, 7, 239, 240, 241, 242, 10_000])
  func `the counts do not depend on the pieces`(piece: Int) {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<5000).map { _ in UInt8.random(in: 0...40, using: &generator) }
    var expected = Counts(bytes: bytes.count)
    var isInWord = false
    for byte in bytes {
      if byte == 10 { expected.lines += 1 }
      let isSpace = byte == 32 || (9...13).contains(byte)
      if !isSpace, !isInWord { expected.words += 1 }
      isInWord = !isSpace
    }
    #expect(count(bytes, piece: piece) == expected)
  }
}
