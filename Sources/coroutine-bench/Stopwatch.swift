// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter

/// Runs a piece of work several times and takes the median.
struct Stopwatch {
  /// Rounds that count.
  let rounds: Int
  /// Share of the usual number of operations; small for a smoke test.
  let share: Double

  /// Measures `body`, which does as many operations as it is told.
  func measure(
    _ name: String,
    operations: Int,
    _ body: (Int) throws -> Void
  ) rethrows -> Figure {
    let operations = max(1, Int(Double(operations) * share))
    try body(max(1, operations / 10))
    var times: [Double] = []
    var allocations: Double?
    for _ in 0..<rounds {
      let before = allocation_count()
      let start = ContinuousClock.now
      try body(operations)
      let duration = start.duration(to: .now)
      let after = allocation_count()
      if before >= 0 { allocations = Double(after - before) / Double(operations) }
      let seconds = Double(duration.components.seconds)
      let nanoseconds = Double(duration.components.attoseconds) / 1e9 + seconds * 1e9
      times.append(nanoseconds / Double(operations))
    }
    times.sort()
    return Figure(
      name: name,
      nanoseconds: times[times.count / 2],
      fastest: times[0],
      slowest: times[times.count - 1],
      allocations: allocations
    )
  }
}
