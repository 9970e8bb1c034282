// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What ran when, in one run: a table with a column for each coroutine.
///
/// ```
///  time | #1 main                | #2 left                 | #3 right
///     0 | waits in join()        |                         |
///     0 |                        | waits in lock()         |
/// ```
struct Interleaving {
  private struct Row {
    let time: Int64
    let column: Int
    let text: String
  }

  private var names: [String] = []
  private var columns: [UInt64: Int] = [:]
  private var rows: [Row] = []

  /// Rows that a table has at most; the last ones count.
  private static let limit = 120

  /// Notes a step.
  mutating func add(_ coroutine: Coroutine, at time: Int64) {
    let column =
      columns[coroutine.id]
      ?? {
        columns[coroutine.id] = names.count
        names.append("#\(names.count + 1)\(coroutine.name.map { " \($0)" } ?? "")")
        return names.count - 1
      }()
    let text =
      switch coroutine.state {
      case .suspended: "waits in \(coroutine.wait?.operation ?? "?")"
      case .ready: "gives way"
      case .running: "runs"
      case .finished:
        coroutine.failure.map { "throws \($0)" } ?? "ends"
      }
    rows.append(Row(time: time, column: column, text: text))
  }

  /// The table.
  var table: String {
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
      let time = String(repeating: " ", count: max(0, 9 - head.count)) + head
      let full = ([time] + cells).joined(separator: " | ")
      return String(full.reversed().drop { $0 == " " }.reversed())
    }
    var lines = [line("time") { names[$0] }]
    if rows.count > shown.count { lines.append(line("…") { _ in "…" }) }
    for row in shown {
      lines.append(
        line(Self.format(row.time)) { $0 == row.column ? row.text : "" }
      )
    }
    return lines.joined(separator: "\n")
  }

  private static func format(_ nanoseconds: Int64) -> String {
    if nanoseconds == 0 { return "0" }
    return if nanoseconds % 1_000_000_000 == 0 {
      "\(nanoseconds / 1_000_000_000) s"
    } else if nanoseconds % 1_000_000 == 0 {
      "\(nanoseconds / 1_000_000) ms"
    } else if nanoseconds % 1_000 == 0 {
      "\(nanoseconds / 1_000) µs"
    } else {
      "\(nanoseconds) ns"
    }
  }
}
