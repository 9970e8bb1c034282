// SPDX-License-Identifier: Apache-2.0

/// Random numbers that are the same in every run: xorshift64* (Vigna 2016).
struct SavinaRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1
    for _ in 0..<4 { _ = next() }
  }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
