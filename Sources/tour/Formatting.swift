// SPDX-License-Identifier: Apache-2.0

extension Int {
  /// With commas between groups of three digits: `1,234,567`.
  var grouped: String {
    let digits = String(magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return self < 0 ? "-" + text : text
  }

  /// As a number of bytes, in three digits or so: `1.23 MB`.
  var asBytes: String {
    var value = Double(self)
    for unit in ["bytes", "kB", "MB", "GB", "TB"] {
      if value < 1000 || unit == "TB" {
        if unit == "bytes" { return "\(self) bytes" }
        return "\(value.rounded(to: value < 10 ? 2 : 1)) \(unit)"
      }
      value /= 1000
    }
    return "\(self) bytes"
  }

  /// With a noun in the right number: `1 file`, `2 files`.
  func of(_ noun: String, _ plural: String? = nil) -> String {
    "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
  }
}

extension Double {
  /// With so many digits after the point.
  func rounded(to places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((self * Double(scale)).rounded())
    guard places > 0 else { return "\(scaled)" }
    let rest = String(scaled % scale)
    return "\(scaled / scale)." + String(repeating: "0", count: places - rest.count) + rest
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  /// `0.123 s`.
  var inSeconds: String { seconds.rounded(to: 3) + " s" }
}

extension String {
  /// With spaces in front, so many characters wide at least.
  func padded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
