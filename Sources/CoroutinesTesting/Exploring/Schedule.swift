// SPDX-License-Identifier: Apache-2.0

/// The choices of a run, as text that a person can paste.
///
/// One character for each decision that had a choice: the place of the chosen coroutine among the ready ones, in
/// base 36, with `~` before two-character ones; zeros at the end are left out.
struct Schedule: Hashable {
  /// The choices, first to last.
  let choices: [Int]

  init(_ choices: [Int]) {
    self.choices = Array(choices.reversed().drop { $0 == 0 }.reversed())
  }

  /// - Precondition: The text is a replay string of a report.
  init(_ text: String) {
    var choices: [Int] = []
    var rest = Substring(text)
    while let first = rest.popFirst() {
      if first == "." { continue }
      let digits = first == "~" ? String(rest.prefix(2)) : String(first)
      if first == "~" { rest = rest.dropFirst(2) }
      guard let choice = Int(digits, radix: 36) else {
        fatalError(
          "\"\(text)\" is no replay string. Paste the one that a failed exploration printed."
        )
      }
      choices.append(choice)
    }
    self.init(choices)
  }

  /// The replay string; `.` if every choice was the first.
  var text: String {
    let digits = choices.map { choice in
      choice < 36
        ? String(choice, radix: 36)
        : "~" + (choice < 1296 ? String(choice, radix: 36) : "zz")
    }
    return digits.isEmpty ? "." : digits.joined()
  }
}
