// SPDX-License-Identifier: Apache-2.0

/// What `wc` counts.
struct Counts: Sendable, Hashable {
  /// Newline bytes.
  var lines = 0
  /// Longest runs of bytes that are not white space, in the sense of the C locale.
  var words = 0
  var bytes = 0
}

/// Counts the lines, words and bytes of a stream that comes in pieces.
///
/// White space is space, tab, newline, vertical tab, form feed and carriage return, as POSIX has it for
/// the C locale, and every other byte belongs to a word. (GNU `wc` before 9.5 does not begin a word at a
/// byte that is not printable, and finds fewer words in binary files.)
struct ByteCounter: Sendable {
  private(set) var counts = Counts()
  private var endsInSpace = true

  private typealias Block = SIMD64<UInt8>

  /// Counts the next piece.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first, let last = bytes.last else { return }
    counts.bytes += bytes.count
    if first == 0x0A { counts.lines += 1 }
    if !Self.isSpace(first), endsInSpace { counts.words += 1 }
    endsInSpace = Self.isSpace(last)
    var offset = 1
    // One counter per byte of a block: read out before any can overflow.
    while offset + 64 <= bytes.count {
      var lines = Block.zero
      var words = Block.zero
      let end = min(bytes.count - 64, offset + 64 * 254)
      while offset <= end {
        let now = bytes.loadUnaligned(fromByteOffset: offset, as: Block.self)
        let before = bytes.loadUnaligned(fromByteOffset: offset - 1, as: Block.self)
        lines = lines.replacing(with: lines &+ 1, where: now .== 0x0A)
        words = words.replacing(with: words &+ 1, where: Self.begins(now, after: before))
        offset += 64
      }
      counts.lines += Self.sum(lines)
      counts.words += Self.sum(words)
    }
    while offset < bytes.count {
      if bytes[offset] == 0x0A { counts.lines += 1 }
      if !Self.isSpace(bytes[offset]), Self.isSpace(bytes[offset - 1]) { counts.words += 1 }
      offset += 1
    }
  }

  @inline(__always)
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte &- 9 < 5
  }

  /// Where words begin: no space here, a space one byte before.
  @inline(__always)
  private static func begins(_ now: Block, after before: Block) -> SIMDMask<SIMD64<Int8>> {
    .!isSpace(now) .& isSpace(before)
  }

  @inline(__always)
  private static func isSpace(_ block: Block) -> SIMDMask<SIMD64<Int8>> {
    (block .== 0x20) .| (block &- 9 .< 5)
  }

  private static func sum(_ block: Block) -> Int {
    Int(SIMD64<UInt16>(truncatingIfNeeded: block).wrappedSum())
  }
}
