// SPDX-License-Identifier: Apache-2.0

/// SHA-256, fed in pieces: whether a file is the one that its server meant.
///
/// Written from FIPS 180-4.
struct SHA256: Sendable {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  /// Fewer than 64 bytes that have not been worked in.
  private var rest: [UInt8] = []
  private var length: UInt64 = 0

  /// The digest of one piece.
  static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    bytes.withUnsafeBytes { hash.add($0) }
    return hash.finish()
  }

  /// Feeds the next piece.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    length &+= UInt64(bytes.count)
    var bytes = bytes
    if !rest.isEmpty {
      let count = min(64 - rest.count, bytes.count)
      rest += bytes[..<count]
      bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
      guard rest.count == 64 else { return }
      rest.withUnsafeBytes { Self.compress($0, &state) }
      rest = []
    }
    let whole = bytes.count & ~63
    Self.compress(UnsafeRawBufferPointer(rebasing: bytes[..<whole]), &state)
    rest = Array(bytes[whole...])
  }

  /// The digest of all that was fed: 32 bytes.
  func finish() -> [UInt8] {
    var state = state
    var last = rest + [0x80]
    last += [UInt8](repeating: 0, count: (120 - last.count) % 64)
    last += (0..<8).map { UInt8(truncatingIfNeeded: (length &* 8) >> UInt64(56 - 8 * $0)) }
    last.withUnsafeBytes { Self.compress($0, &state) }
    return state.flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  /// Works in whole blocks of 64 bytes.
  private static func compress(_ bytes: UnsafeRawBufferPointer, _ state: inout [UInt32]) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
      constants.withUnsafeBufferPointer { constants in
        state.withUnsafeMutableBufferPointer { state in
          for block in stride(from: 0, to: bytes.count, by: 64) {
            compress(
              UnsafeRawBufferPointer(rebasing: bytes[block..<(block + 64)]),
              words,
              constants,
              state
            )
          }
        }
      }
    }
  }

  private static func compress(
    _ block: UnsafeRawBufferPointer,
    _ words: UnsafeMutableBufferPointer<UInt32>,
    _ constants: UnsafeBufferPointer<UInt32>,
    _ state: UnsafeMutableBufferPointer<UInt32>
  ) {
    for index in 0..<16 {
      words[index] = UInt32(
        bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
      )
    }
    for index in 16..<64 {
      let (one, two) = (words[index - 15], words[index - 2])
      let first = rotate(one, 7) ^ rotate(one, 18) ^ (one >> 3)
      let second = rotate(two, 17) ^ rotate(two, 19) ^ (two >> 10)
      words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let sum = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      let one = h &+ sum &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
      let two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word &>> count | word &<< (32 - count)
  }

  /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]
}
