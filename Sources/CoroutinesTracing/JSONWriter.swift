// SPDX-License-Identifier: Apache-2.0

/// Writes JSON (RFC 8259) piece by piece, in ASCII: the text may stand in a script of a page as it is.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  /// A value has been written where the next one would need a comma.
  private var needsComma = false

  /// What has been written.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  private mutating func put(_ byte: UInt8) { bytes.append(byte) }

  private mutating func separate() {
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes an object; `body` writes its members.
  mutating func object(_ body: (inout JSONWriter) -> Void) {
    enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  /// Writes an array; `body` writes its elements.
  mutating func array(_ body: (inout JSONWriter) -> Void) {
    enclose(UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  private mutating func enclose(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
    separate()
    put(open)
    needsComma = false
    body(&self)
    put(close)
    needsComma = true
  }

  /// Begins a member of an object: its value comes next.
  mutating func key(_ name: StaticString) {
    separate()
    put(UInt8(ascii: "\""))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    )
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func value(_ number: Int64) {
    separate()
    decimal(number)
  }

  mutating func value(_ number: Int) { value(Int64(number)) }

  private mutating func decimal(_ number: Int64) {
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Nanoseconds as microseconds, exactly.
  mutating func microseconds(_ nanoseconds: Int64) {
    separate()
    if nanoseconds < 0 { put(UInt8(ascii: "-")) }
    let size = nanoseconds.magnitude
    bytes.append(contentsOf: String(size / 1000).utf8)
    let rest = size % 1000
    guard rest > 0 else { return }
    put(UInt8(ascii: "."))
    for digit in [rest / 100, rest / 10 % 10, rest % 10] { put(UInt8(ascii: "0") + UInt8(digit)) }
  }

  mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  mutating func value(_ flag: Bool) {
    separate()
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  mutating func value(_ text: String?) {
    guard let text else { return null() }
    separate()
    put(UInt8(ascii: "\""))
    for unit in text.utf16 {
      switch unit {
      case 0x22, 0x5c:
        put(UInt8(ascii: "\\"))
        put(UInt8(unit))
      // What could end a script, and what editors of pages stumble over.
      case 0x20...0x7e where unit != 0x3c && unit != 0x3e && unit != 0x26: put(UInt8(unit))
      default:
        let digits = String(unit, radix: 16)
        bytes.append(contentsOf: "\\u".utf8)
        bytes.append(contentsOf: String(repeating: "0", count: 4 - digits.utf8.count).utf8)
        bytes.append(contentsOf: digits.utf8)
      }
    }
    put(UInt8(ascii: "\""))
  }

  /// Writes a new line where one does no harm.
  mutating func newLine() { put(UInt8(ascii: "\n")) }
}
