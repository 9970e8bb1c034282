// SPDX-License-Identifier: Apache-2.0

/// Writes JSON: for those who cannot use Foundation.
package struct JSONText {
  /// What has been written.
  package private(set) var text = ""
  private var needsComma = false

  package init() {}

  /// Writes an object whose fields `body` writes.
  package mutating func object(_ body: (inout JSONText) -> Void) {
    enclose("{", "}", body)
  }

  /// Writes an array whose elements `body` writes.
  package mutating func array(_ body: (inout JSONText) -> Void) {
    enclose("[", "]", body)
  }

  private mutating func enclose(_ start: String, _ end: String, _ body: (inout JSONText) -> Void) {
    separate()
    text += start
    needsComma = false
    body(&self)
    text += end
    needsComma = true
  }

  /// Writes the name of a field, whose value is written next.
  package mutating func key(_ name: String) {
    separate()
    quote(name)
    text += ":"
    needsComma = false
  }

  /// Writes a field, unless there is nothing to write.
  package mutating func field(_ name: String, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  /// Writes a field, unless there is nothing to write.
  package mutating func field(_ name: String, _ value: (some BinaryInteger)?) {
    guard let value else { return }
    key(name)
    literal("\(value)")
  }

  /// Writes a field, unless there is nothing to write; what JSON has no number for counts as that.
  package mutating func field(_ name: String, _ value: Double?) {
    guard let value, value.isFinite else { return }
    key(name)
    literal("\(value)")
  }

  /// Writes a field.
  package mutating func field(_ name: String, _ value: Bool) {
    key(name)
    literal("\(value)")
  }

  /// Writes a string.
  package mutating func string(_ value: String) {
    separate()
    quote(value)
    needsComma = true
  }

  /// Writes a number, or one of JSON's words.
  package mutating func literal(_ value: String) {
    separate()
    text += value
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { text += "," }
  }

  private mutating func quote(_ value: String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      // In a page, the text stands inside a script.
      case "<": text += "\\u003c"
      case ..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
