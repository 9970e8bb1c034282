// SPDX-License-Identifier: Apache-2.0

import harness

let memory = [Row(task: "idle", operations: 1_000_000, idle)]

/// Where the tasks wait.
private actor Gate {
  private var waiters: [UnsafeContinuation<Void, Never>] = []
  private(set) var ended = 0

  var waiting: Int { waiters.count }

  init(count: Int) { waiters.reserveCapacity(count) }

  func pass() async {
    await withUnsafeContinuation { waiters.append($0) }
    ended += 1
  }

  func open() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}

/// The time is that of making them; their end is an extra.
private func idle(_ count: Int) async -> Outcome {
  let gate = Gate(count: count)
  let before = Memory()
  let stopwatch = Stopwatch()
  for _ in 0..<count { Task.detached { await gate.pass() } }
  while await gate.waiting < count { await Task.yield() }
  let elapsed = stopwatch.elapsed
  let after = Memory()
  let ending = Stopwatch()
  await gate.open()
  while await gate.ended < count { await Task.yield() }
  var outcome = Outcome(count)
  outcome.elapsed = elapsed
  outcome.extras = after.growth(since: before, each: count)
  outcome.extras.append(("end_ns", Double(ending.elapsed.wall) / Double(count)))
  outcome.note = "stackless"
  return outcome
}
