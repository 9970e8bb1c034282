// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tour

@Suite struct FormattingTests {
  @Test func `numbers are grouped by three`() {
    #expect([0, 999, 1000, 1_234_567].map(\.grouped) == ["0", "999", "1,000", "1,234,567"])
  }

  @Test func `bytes have a unit`() {
    #expect(
      [0, 999, 1000, 1_234_567, 45_600_000_000].map(\.asBytes)
        == ["0 bytes", "999 bytes", "1.00 kB", "1.23 MB", "45.6 GB"]
    )
  }

  @Test func `times have three digits after the point`() {
    #expect(Duration.milliseconds(1007).inSeconds == "1.007 s")
    #expect(Duration.zero.inSeconds == "0.000 s")
  }

  @Test func `JSON strings are escaped`() {
    #expect("\(JSON.string("a\"b\\c\nd"))" == #""a\"b\\c\u000ad""#)
  }

  @Test(arguments: [0, 1, 5, 20, 40, 60, 80, 200])
  func `a bar never reaches the edge of the terminal`(width: Int) {
    for fraction in [0, 0.001, 0.5, 0.999, 1] {
      let reading = Reading(fraction: fraction, files: 123_456, bytes: 9_876_543_210)
      #expect(Bar.line(reading, width: width, isUnicode: true).count <= max(width - 1, 0))
      #expect(Bar.line(reading, width: width, isUnicode: false).count <= max(width - 1, 0))
    }
  }

  @Test func `a bar is as full as the work is done`() {
    let reading = Reading(fraction: 0.5, files: 10, bytes: 1000)
    #expect(
      Bar.line(reading, width: 80, isUnicode: false)
        == "Counting [####################....................]  50%  10 files  1.00 kB"
    )
  }
}
