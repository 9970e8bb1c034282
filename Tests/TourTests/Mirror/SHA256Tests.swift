// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct SHA256Tests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Those of FIPS 180-4's examples, and lengths round the edges of blocks as coreutils have them.
  @Test(arguments: [
    ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    ("a", 100_000, "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee"),
  ])
  func `digests are those of the standard`(_ text: String, _ times: Int, _ digest: String) {
    let bytes = Array(String(repeating: text, count: times).utf8)
    #expect(hexadecimal(SHA256.digest(of: bytes)) == digest)
  }

  @Test func `pieces of any size have the digest of the whole`() {
    for length in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 200] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37) }
      let whole = SHA256.digest(of: bytes)
      for size in [1, 3, 63, 64, 65] {
        var hash = SHA256()
        for start in stride(from: 0, to: length, by: size) {
          bytes[start..<min(start + size, length)].withUnsafeBytes { hash.add($0) }
        }
        #expect(hash.finish() == whole, "\(length) bytes in pieces of \(size)")
      }
    }
  }
}
