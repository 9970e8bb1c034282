// SPDX-License-Identifier: Apache-2.0

/// XXH64 with seed 0, fed in pieces: tells files apart quickly.
///
/// It is no proof that files are the same: those with the same hash are compared byte for byte.
/// Written from the specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
struct ContentHash: Sendable {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  private var lane1 = prime1 &+ prime2
  private var lane2 = prime2
  private var lane3: UInt64 = 0
  private var lane4 = 0 &- prime1
  private var length: UInt64 = 0

  /// Feeds whole stripes.
  ///
  /// - Parameter bytes: A multiple of 32 bytes.
  mutating func add(stripes bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count % 32 == 0, "\(bytes.count) bytes are no whole number of stripes.")
    length &+= UInt64(bytes.count)
    var (one, two, three, four) = (lane1, lane2, lane3, lane4)
    var offset = 0
    while offset < bytes.count {
      one = Self.round(one, Self.word(bytes, offset))
      two = Self.round(two, Self.word(bytes, offset + 8))
      three = Self.round(three, Self.word(bytes, offset + 16))
      four = Self.round(four, Self.word(bytes, offset + 24))
      offset += 32
    }
    (lane1, lane2, lane3, lane4) = (one, two, three, four)
  }

  /// The hash of all that was fed, and of the last few bytes.
  ///
  /// - Parameter tail: What is left after the last whole stripe: fewer than 32 bytes.
  /// - Returns: The hash.
  func finish(tail: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64
    if length >= 32 {
      hash =
        Self.rotate(lane1, 1) &+ Self.rotate(lane2, 7) &+ Self.rotate(lane3, 12)
        &+ Self.rotate(lane4, 18)
      for lane in [lane1, lane2, lane3, lane4] {
        hash = (hash ^ Self.round(0, lane)) &* Self.prime1 &+ Self.prime4
      }
    } else {
      hash = Self.prime5
    }
    hash &+= length &+ UInt64(tail.count)
    var offset = 0
    while offset + 8 <= tail.count {
      hash ^= Self.round(0, Self.word(tail, offset))
      hash = Self.rotate(hash, 27) &* Self.prime1 &+ Self.prime4
      offset += 8
    }
    if offset + 4 <= tail.count {
      let half = UInt32(littleEndian: tail.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      hash ^= UInt64(half) &* Self.prime1
      hash = Self.rotate(hash, 23) &* Self.prime2 &+ Self.prime3
      offset += 4
    }
    for byte in tail[offset...] {
      hash ^= UInt64(byte) &* Self.prime5
      hash = Self.rotate(hash, 11) &* Self.prime1
    }
    hash = (hash ^ (hash >> 33)) &* Self.prime2
    hash = (hash ^ (hash >> 29)) &* Self.prime3
    return hash ^ (hash >> 32)
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotate(lane &+ word &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
    word &<< count | word &>> (64 - count)
  }
}
