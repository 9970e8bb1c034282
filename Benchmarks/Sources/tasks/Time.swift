// SPDX-License-Identifier: Apache-2.0

import harness

let time = [
  Row(task: "timers", operations: 100_000, sleeps),
  Row(task: "cancel-sleepers", operations: 100_000, cancellation),
]

/// Tasks of their own: a group is slow when its children end in another order than they began.
private func sleeps(_ count: Int) async -> Outcome {
  var sleepers: [Task<Int, Never>] = []
  sleepers.reserveCapacity(count)
  let lengths = Xorshift.sleeps(count)
  for (number, length) in lengths.enumerated() {
    sleepers.append(
      Task.detached {
        let start = Stopwatch.now
        try? await Task.sleep(for: .milliseconds(length))
        return Stopwatch.now - start - length * 1_000_000
      }
    )
    if number % 1024 == 1023 { await Task.yield() }
  }
  var overshoot: [Int] = []
  overshoot.reserveCapacity(count)
  for sleeper in sleepers { overshoot.append(await sleeper.value) }
  var outcome = Outcome(lengths.reduce(0, +))
  outcome.addOvershoot(overshoot)
  return outcome
}

/// From the first cancellation until all have ended.
private func cancellation(_ count: Int) async -> Outcome {
  let (begun, begin) = AsyncStream.makeStream(of: Void.self)
  let making = Stopwatch()
  let sleepers = (0..<count).map { _ in
    Task.detached { () -> Int in
      begin.yield(())
      do {
        try await Task.sleep(for: .seconds(3600))
        return 0
      } catch { return 1 }
    }
  }
  var left = count
  for await _ in begun {
    left -= 1
    if left == 0 { break }
  }
  let made = making.elapsed
  let stopwatch = Stopwatch()
  for sleeper in sleepers { sleeper.cancel() }
  var ended = 0
  for sleeper in sleepers { ended += await sleeper.value }
  var outcome = Outcome(ended)
  outcome.elapsed = stopwatch.elapsed
  outcome.extras = [("create_ns", Double(made.wall) / Double(count))]
  return outcome
}
