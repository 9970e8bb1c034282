// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let memory = [
  Row("idle", operations: 1_000_000) { try idle($0, started: true) },
  Row("idle-unstarted", operations: 1_000_000) { try idle($0, started: false) },
]

/// The time is that of making them; their end is an extra.
private func idle(_ count: Int, started: Bool) throws -> Outcome {
  try runBlocking {
    let gate = Channel<Void>()
    var ended = 0
    let before = Memory()
    let stopwatch = Stopwatch()
    for _ in 0..<count {
      launch(stackSize: .small) {
        for _ in gate {}
        ended += 1
      }
    }
    if started { try Coroutine.yield() }
    let elapsed = stopwatch.elapsed
    let after = Memory()
    let ending = Stopwatch()
    gate.close()
    while ended < count { try Coroutine.yield() }
    var outcome = Outcome(ended)
    outcome.elapsed = elapsed
    outcome.extras = after.growth(since: before, each: count)
    outcome.extras.append(("end_ns", Double(ending.elapsed.wall) / Double(count)))
    return outcome
  }
}
