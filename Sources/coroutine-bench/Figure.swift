// SPDX-License-Identifier: Apache-2.0

/// What one benchmark found.
struct Figure {
  /// What was measured.
  let name: String
  /// Median over the rounds, in nanoseconds an operation.
  let nanoseconds: Double
  /// Fastest and slowest round.
  let fastest: Double
  let slowest: Double
  /// Allocations an operation, on the measuring thread; nil where they cannot be counted.
  let allocations: Double?
  /// Bytes resident for each thing made; only footprints have it.
  var residentBytes: Double?

  /// One line for people.
  var line: String {
    var text = name.padded(to: 44) + nanoseconds.text.leftPadded(to: 10) + " ns"
    text += "  (\(fastest.text)–\(slowest.text))".padded(to: 22)
    text += (allocations.map { $0.text } ?? "?").leftPadded(to: 8) + " allocations"
    if let residentBytes { text += "  \(residentBytes.text) bytes resident" }
    return text
  }

  /// The same as a JSON object.
  var json: String {
    var fields = [
      "\"name\": \"\(name)\"", "\"nanoseconds\": \(nanoseconds)", "\"fastest\": \(fastest)",
      "\"slowest\": \(slowest)", "\"allocations\": \(allocations.map { "\($0)" } ?? "null")",
    ]
    if let residentBytes { fields.append("\"residentBytes\": \(residentBytes)") }
    return "{" + fields.joined(separator: ", ") + "}"
  }
}

extension Double {
  /// Two decimals below ten, one below a thousand, none above.
  var text: String {
    let scale: Double = self < 10 ? 100 : self < 1000 ? 10 : 1
    let rounded = (self * scale).rounded() / scale
    return scale == 1 ? "\(Int(rounded))" : "\(rounded)"
  }
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  func leftPadded(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}
