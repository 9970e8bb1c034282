// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct PictureTests {
  @Test func `a picture of four pixels is the file that zlib and libpng understand`() {
    let colors = [Color(1, 0, 0), Color(0, 1, 0), Color(0, 0, 1), Color(1, 1, 1)]
    var number = 0
    let picture = Picture(width: 2, height: 2) { _ in
      number += 1
      return colors[number - 1]
    }
    let digits = PNG.encode(picture).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    // Made with Python's zlib.
    #expect(
      digits.joined()
        == "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a7300000019494441"
        + "547801010e00f1ff00ff000000ff00000000ffffffff1fee05fbdeddec2b0000000049454e44ae42"
        + "6082"
    )
  }

  @Test func `each motif draws a picture of its shape, the same each time, and not of one colour`()
  {
    for number in 0..<(3 * Motif.allCases.count) {
      let (name, draw) = Motif.picture(number, side: 24)
      let picture = draw()
      #expect(max(picture.width, picture.height) == 24, "\(name)")
      #expect(picture.pixels.count == picture.width * picture.height * 3)
      #expect(Set(picture.pixels).count > 8, "\(name)")
      #expect(draw().pixels == picture.pixels)
    }
  }

  @Test func `no two pictures have the same name`() {
    let names = (0..<1000).map { Motif.picture($0, side: 16).name }
    #expect(Set(names).count == 1000)
  }
}
