// SPDX-License-Identifier: Apache-2.0

/// Steps of several parties in one order: a row for each step, a column for each party.
struct StepTable {
  /// One step.
  struct Row {
    /// When.
    let head: String
    /// Whose.
    let column: Int
    /// What.
    let text: String
  }

  /// What the first column shows.
  let heading: String
  /// The parties.
  var names: [String] = []
  /// The steps, first to last.
  var rows: [Row] = []

  /// Rows that the text has at most; the last ones count.
  private static let limit = 120

  /// The table, as text.
  var text: String {
    let shown = rows.suffix(Self.limit)
    let used = Set(shown.map(\.column)).sorted()
    var widths: [Int: Int] = [:]
    for column in used {
      let texts = shown.lazy.filter { $0.column == column }.map(\.text.count)
      widths[column] = min(40, max(names[column].count, texts.max() ?? 0))
    }
    func line(_ head: String, _ cell: (Int) -> String) -> String {
      let cells = used.map { column in
        let width = widths[column] ?? 0
        let text = String(cell(column).prefix(width))
        return text + String(repeating: " ", count: width - text.count)
      }
      let first = String(repeating: " ", count: max(0, 9 - head.count)) + head
      let full = ([first] + cells).joined(separator: " | ")
      return String(full.reversed().drop { $0 == " " }.reversed())
    }
    var lines = [line(heading) { names[$0] }]
    if rows.count > shown.count { lines.append(line("…") { _ in "…" }) }
    for row in shown {
      lines.append(
        line(row.head) { $0 == row.column ? row.text : "" }
      )
    }
    return lines.joined(separator: "\n")
  }
}
