// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct BytePathTests {
  @Test(
    arguments: [
      ([0x61, 0x2F, 0x62], "a/b"), ([0x61, 0x5C, 0x62], #"a\\b"#), ([0xFF, 0x61], #"\xFFa"#),
      ([0x0A], #"\x0A"#), ([0x1B, 0x5B, 0x4B], #"\x1B[K"#), ([0x7F], #"\x7F"#),
      ([0xC3, 0xA4], "ä"), ([0xC3], #"\xC3"#), ([0xC3, 0x28], #"\xC3("#),
      ([0xC2, 0x85], #"\xC2\x85"#), ([0xF0, 0x9F, 0x98], #"\xF0\x9F\x98"#),
      ([0xED, 0xA0, 0x80], #"\xED\xA0\x80"#), ([0xF0, 0x9F, 0x98, 0x80], "😀"),
    ] as [([UInt8], String)]
  )
  func `a description is printable`(bytes: [UInt8], expected: String) {
    #expect(BytePath(bytes).description == expected)
  }

  @Test func `the bytes can be had back from a description`() {
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 1...12)).map { _ in
        [UInt8.random(in: 1...255), 0x5C, 0x78, 0xC3, 0xA4].randomElement() ?? 1
      }
      #expect(Self.bytes(of: BytePath(bytes).description) == bytes)
    }
  }

  private static func bytes(of description: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(description.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == 0x5C, let next = rest.popFirst() else {
        result.append(byte)
        continue
      }
      if next == 0x5C {
        result.append(next)
      } else {
        result.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      }
    }
    return result
  }

  @Test func `a path is shown relative to the root that it is in`() {
    #expect(BytePath("/usr/lib/x").relative(to: BytePath("/usr")) == BytePath("lib/x"))
    #expect(BytePath("/usr/lib/x").relative(to: BytePath("/usr/")) == BytePath("lib/x"))
    #expect(BytePath("/usr").relative(to: BytePath("/")) == BytePath("usr"))
    #expect(BytePath("/usr").relative(to: BytePath("/usr")) == BytePath("/usr"))
  }
}
