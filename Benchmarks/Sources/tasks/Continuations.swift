// SPDX-License-Identifier: Apache-2.0

import harness

let continuations = [
  Row(task: "promise", settled), Row(task: "promise-park", parked),
  Row(task: "promise-chain", chain),
]

/// A promise in Swift is a continuation.
private func settled(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count {
    sum += await withUnsafeContinuation { $0.resume(returning: number) }
  }
  return sum
}

private actor Slot {
  private var continuation: UnsafeContinuation<Int, Never>?
  private var isOver = false

  func settle() async {
    var number = 0
    while !isOver {
      if let waiting = continuation {
        continuation = nil
        waiting.resume(returning: number)
        number += 1
      }
      await Task.yield()
    }
  }

  func sum(_ count: Int) async -> Int {
    var sum = 0
    for _ in 0..<count { sum += await withUnsafeContinuation { continuation = $0 } }
    isOver = true
    return sum
  }
}

/// One makes a continuation and suspends; the other resumes it and yields.
private func parked(_ count: Int) async -> Int {
  let slot = Slot()
  async let other: Void = slot.settle()
  let sum = await slot.sum(count)
  await other
  return sum
}

/// A link is a task that waits for the one before it.
private func chain(_ count: Int) async -> Int {
  var sum = 0
  for start in stride(from: 0, to: count, by: Shape.chain) {
    let (gate, head) = AsyncStream.makeStream(of: Int.self)
    var last = Task { () -> Int in
      for await number in gate { return number }
      return 0
    }
    for _ in start..<min(start + Shape.chain, count) {
      let before = last
      last = Task { await before.value + 1 }
    }
    head.yield(0)
    sum += await last.value
  }
  return sum
}
