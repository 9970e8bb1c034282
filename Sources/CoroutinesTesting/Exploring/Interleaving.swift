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
  private var columns: [UInt64: Int] = [:]
  private var steps = StepTable(heading: "time")

  /// Notes a step.
  mutating func add(_ coroutine: Coroutine, at time: Int64) {
    let column =
      columns[coroutine.id]
      ?? {
        columns[coroutine.id] = steps.names.count
        steps.names.append("#\(steps.names.count + 1)\(coroutine.name.map { " \($0)" } ?? "")")
        return steps.names.count - 1
      }()
    let text =
      switch coroutine.state {
      case .suspended: "waits in \(coroutine.wait?.operation ?? "?")"
      case .ready: "gives way"
      case .running: "runs"
      case .finished:
        coroutine.failure.map { "throws \($0)" } ?? "ends"
      }
    steps.rows.append(.init(head: Self.format(time), column: column, text: text))
  }

  /// The table.
  var table: String { steps.text }

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
