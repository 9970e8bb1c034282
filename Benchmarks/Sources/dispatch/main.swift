// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import harness

/// A number that blocks of one serial queue share.
final class Tally: @unchecked Sendable {
  // SAFETY: only touched on the queue, and after waiting for it.
  var value = 0
}

/// Blocks on a serial queue, a thousand at a time.
func launches(_ count: Int) -> Int {
  let queue = DispatchQueue(label: "launch")
  let ended = Tally()
  for start in stride(from: 0, to: count, by: 1000) {
    for _ in start..<min(start + 1000, count) { queue.async { ended.value += 1 } }
    queue.sync {}
  }
  return ended.value
}

/// Blocks on a queue of several threads, a thousand at a time.
func groups(_ count: Int) -> Int {
  let ended = Atomic(0)
  for start in stride(from: 0, to: count, by: 1000) {
    let group = DispatchGroup()
    for _ in start..<min(start + 1000, count) {
      DispatchQueue.global().async(group: group) {
        _ = ended.wrappingAdd(1, ordering: .relaxed)
      }
    }
    group.wait()
  }
  return ended.load(ordering: .relaxed)
}

/// A block that runs on the queue's thread and that the caller waits for.
func joins(_ count: Int) -> Int {
  let queue = DispatchQueue(label: "join")
  let sum = Tally()
  for number in 0..<count {
    let item = DispatchWorkItem { sum.value += number }
    queue.async(execute: item)
    item.wait()
  }
  return sum.value
}

/// A block that runs on a thread of the pool and that the caller waits for.
func offloads(_ count: Int) -> Int {
  let sum = Tally()
  for number in 0..<count {
    let item = DispatchWorkItem { sum.value += number }
    DispatchQueue.global().async(execute: item)
    item.wait()
  }
  return sum.value
}

/// What a serial queue guards, asked.
func asks(_ count: Int) -> Int {
  let queue = DispatchQueue(label: "ask")
  let total = Tally()
  var last = 0
  for _ in 0..<count {
    last = queue.sync {
      total.value += 1
      return total.value
    }
  }
  return last
}

/// Two threads that hand a number over with two semaphores.
func handover(_ count: Int) -> Int {
  let (full, empty) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let slot = Tally()
  DispatchQueue(label: "producer").async {
    for number in 0..<count {
      slot.value = number
      full.signal()
      empty.wait()
    }
  }
  var sum = 0
  for _ in 0..<count {
    full.wait()
    sum += slot.value
    empty.signal()
  }
  return sum
}

/// A block for each sleep.
func sleeps(_ count: Int) -> Outcome {
  let queue = DispatchQueue(label: "timers")
  let group = DispatchGroup()
  let overshoot = Overshoot()
  let lengths = Xorshift.sleeps(count)
  for length in lengths {
    group.enter()
    let start = Stopwatch.now
    queue.asyncAfter(deadline: .now() + .milliseconds(length)) {
      overshoot.nanoseconds.append(Stopwatch.now - start - length * 1_000_000)
      group.leave()
    }
  }
  group.wait()
  var outcome = Outcome(lengths.reduce(0, +))
  queue.sync { outcome.addOvershoot(overshoot.nanoseconds) }
  outcome.note = "blocks that run later; nothing is suspended"
  return outcome
}

final class Overshoot: @unchecked Sendable {
  // SAFETY: only touched on the queue.
  var nanoseconds: [Int] = []
}

/// A block for each file, on as many threads as the queue likes.
func read(_ kind: String, _ count: Int) -> Outcome {
  let group = DispatchGroup()
  let serial = DispatchQueue(label: "sum")
  let sum = Tally()
  for number in 0..<count {
    DispatchQueue.global().async(group: group) {
      let part = Files.read(Files.path(kind, number))
      serial.sync { sum.value += part }
    }
  }
  group.wait()
  return Outcome(sum.value)
}

Program(
  peer: "dispatch",
  rows: [
    Row("launch-join", joins), Row("launch", launches), Row("launch-2", groups), Row("ask", asks),
    Row("handover-2", handover), Row("offload", offloads),
    Row("timers", operations: 100_000, sleeps),
    Row("read-256k", operations: 256, warmsUp: true) { read("256k", $0) },
    Row("read-20m", operations: 16, warmsUp: true) { read("20m", $0) },
  ]
).run()
