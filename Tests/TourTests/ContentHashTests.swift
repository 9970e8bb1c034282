// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct ContentHashTests {
  private func hash(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { bytes in
      var hash = ContentHash()
      let tail = bytes.count & ~31
      hash.add(stripes: UnsafeRawBufferPointer(rebasing: bytes[..<tail]))
      return hash.finish(tail: UnsafeRawBufferPointer(rebasing: bytes[tail...]))
    }
  }

  // The reference implementation's values.
  @Test(
    arguments: [
      ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
      ("Call me Ishmael. Some years ago--never mind how long precisely-", 0x02A2_E854_70D6_FD96),
    ] as [(String, UInt64)]
  )
  func `the hash is XXH64`(text: String, expected: UInt64) {
    #expect(hash(Array(text.utf8)) == expected)
  }

  @Test func `contents of the same length that differ in one byte have different hashes`() {
    var bytes = [UInt8](repeating: 7, count: 100)
    let before = hash(bytes)
    for index in bytes.indices {
      bytes[index] ^= 1
      #expect(hash(bytes) != before)
      bytes[index] ^= 1
    }
  }
}
