// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let time = [
  Row("timers", operations: 100_000, sleeps),
  Row("cancel-sleepers", operations: 100_000, cancellation),
]

private func sleeps(_ count: Int) throws -> Outcome {
  let lengths = Xorshift.sleeps(count)
  var overshoot: [Int] = []
  overshoot.reserveCapacity(count)
  var slept = 0
  try runBlocking {
    for (number, length) in lengths.enumerated() {
      launch(stackSize: .small) {
        let start = Stopwatch.now
        try Coroutine.sleep(for: .milliseconds(length))
        overshoot.append(Stopwatch.now - start - length * 1_000_000)
        slept += length
      }
      if number % 1024 == 1023 { try Coroutine.yield() }
    }
  }
  var outcome = Outcome(slept)
  outcome.addOvershoot(overshoot)
  return outcome
}

/// From the first cancellation until all have ended.
private func cancellation(_ count: Int) throws -> Outcome {
  try runBlocking {
    var ended = 0
    let making = Stopwatch()
    let sleepers = (0..<count).map { _ in
      launch(stackSize: .small) {
        defer { ended += 1 }
        try Coroutine.sleep(for: .seconds(3600))
      }
    }
    try Coroutine.yield()
    let made = making.elapsed
    let stopwatch = Stopwatch()
    for sleeper in sleepers { sleeper.cancel() }
    for sleeper in sleepers { try? sleeper.join() }
    var outcome = Outcome(ended)
    outcome.elapsed = stopwatch.elapsed
    outcome.extras = [("create_ns", Double(made.wall) / Double(count))]
    return outcome
  }
}
