// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch
import Synchronization
import Testing

@Suite struct DispatchTests {
  private static func currentQueue() -> UInt {
    UInt(bitPattern: cck_dispatch_current_queue())
  }

  // MARK: - Which queue

  @Test func `a coroutine is on its queue before and after each park`() throws {
    let queue = DispatchQueue(label: "test")
    try runBlocking {
      try launch(on: queue) {
        for _ in 0..<20 {
          dispatchPrecondition(condition: .onQueue(queue))
          try Coroutine.yield()
          dispatchPrecondition(condition: .onQueue(queue))
          try Coroutine.sleep(for: .microseconds(100))
        }
        let gate = Gate()
        launch(on: SerialScheduler()) { gate.open() }
        try gate.wait()
        dispatchPrecondition(condition: .onQueue(queue))
      }.value()
    }
  }

  @Test func `a launch in a plain block of a serial queue lands on that queue (3.4-13)`() throws {
    let queue = DispatchQueue(label: "test")
    let coroutine = queue.sync {
      launch {
        dispatchPrecondition(condition: .onQueue(queue))
        try Coroutine.yield()
        dispatchPrecondition(condition: .onQueue(queue))
        return Self.currentQueue()
      }
    }
    let expected = queue.sync { Self.currentQueue() }
    #expect(try runBlocking { try coroutine.value() } == expected)
  }

  @Test func `launches from plain threads land on one queue that the process shares`() throws {
    let names = (0..<3).map { _ in
      onPlainThread {
        let coroutine = launch { ["\(Scheduler.current)", "\(Self.currentQueue())"] }
        return (try? runBlocking { try coroutine.value() }) ?? []
      }
    }
    #expect(names[0].first == "swift-coroutines.default")
    #expect(Set(names).count == 1)
  }

  @Test func `a launch in a block of a global queue lands on the shared queue`() throws {
    let coroutine = DispatchQueue.global().sync { launch { "\(Scheduler.current)" } }
    #expect(try runBlocking { try coroutine.value() } == "swift-coroutines.default")
  }

  @Test func `a global queue can be named`() throws {
    let values = try runBlocking {
      let coroutines = (0..<50).map { number in
        launch(on: .global()) {
          try Coroutine.sleep(for: .microseconds(100))
          return number
        }
      }
      return try coroutines.map { try $0.value() }
    }
    #expect(values == Array(0..<50))
  }

  @Test func `a queue that targets another keeps its own coroutines`() throws {
    let target = DispatchQueue(label: "target")
    let queue = DispatchQueue(label: "queue", target: target)
    try runBlocking {
      let inner = launch(on: queue) { () throws -> String in
        dispatchPrecondition(condition: .onQueue(target))
        try Coroutine.yield()
        return try launch { "\(Scheduler.current)" }.value()
      }
      let outer = launch(on: target) { "\(Scheduler.current)" }
      let names = [try inner.value(), try outer.value()]
      #expect(names == ["queue", "target"])
    }
  }

  @Test func `an immediate start in a plain block runs there at once`() throws {
    let queue = DispatchQueue(label: "test")
    let log = Log()
    let coroutine = queue.sync {
      let coroutine = launch(start: .immediately) {
        log("body")
        dispatchPrecondition(condition: .onQueue(queue))
        try Coroutine.yield()
        log("later")
      }
      log("block")
      return coroutine
    }
    try runBlocking { try coroutine.value() }
    #expect(log.entries == ["body", "block", "later"])
  }

  @Test func `an immediate start for another queue is queued`() throws {
    let queue = DispatchQueue(label: "test")
    let other = DispatchQueue(label: "other")
    let log = Log()
    let coroutine = queue.sync {
      other.suspend()
      let coroutine = launch(on: other, start: .immediately) { log("body") }
      log("block")
      other.resume()
      return coroutine
    }
    try runBlocking { try coroutine.value() }
    #expect(log.entries == ["block", "body"])
  }

  @Test func `a suspended queue's coroutines stand still until it is resumed (rule 6)`() throws {
    let queue = DispatchQueue(label: "test")
    let gate = Gate()
    let coroutine = launch(on: queue) { try gate.wait() }
    while !gate.hasWaiters {}
    queue.suspend()
    gate.open()
    #expect(!coroutine.isFinished)
    queue.resume()
    try runBlocking { try coroutine.value() }
  }

  @Test func `blocks and launches of a serial queue keep their order`() throws {
    let queue = DispatchQueue(label: "test")
    let log = Log()
    queue.suspend()
    for number in 0..<10 {
      queue.async { log("block \(number)") }
      launch(on: queue) { log("coroutine \(number)") }
    }
    queue.resume()
    queue.sync {}
    #expect(log.entries == (0..<10).flatMap { ["block \($0)", "coroutine \($0)"] })
  }

  @Test func `a loop of yields does not starve the queue's blocks`() throws {
    let queue = DispatchQueue(label: "test")
    let ran = Counter()
    let coroutine = launch(on: queue) { while ran.value == 0 { try Coroutine.yield() } }
    queue.async { ran.add() }
    try runBlocking { try coroutine.value() }
    #expect(ran.value == 1)
  }

  // MARK: - Concurrent queues

  private final class Unprotected: @unchecked Sendable {
    // SAFETY: that no two coroutines of one queue run at a time is what the test shows.
    var count = 0
    var isInside = false
    var overlaps = 0

    func use() {
      if isInside { overlaps += 1 }
      isInside = true
      for _ in 0..<50 { count += 1 }
      isInside = false
    }
  }

  @Test func `coroutines of a concurrent queue run one at a time (3.3-6)`() throws {
    let queue = DispatchQueue(label: "test", attributes: .concurrent)
    let state = Unprotected()
    try runBlocking {
      let coroutines = (0..<40).map { index in
        launch(on: queue) {
          for round in 0..<20 {
            state.use()
            if (index + round) % 4 == 0 {
              try Coroutine.sleep(for: .microseconds(50))
            } else {
              try Coroutine.yield()
            }
          }
        }
      }
      for coroutine in coroutines { try coroutine.value() }
    }
    #expect(state.overlaps == 0)
    #expect(state.count == 40 * 20 * 50)
  }

  @Test func `no sleeper of a concurrent queue is forgotten`() throws {
    let queue = DispatchQueue(label: "test", attributes: .concurrent)
    let woken = Counter()
    try runBlocking {
      let sleepers = (0..<200).map { index in
        launch(on: queue) {
          for round in 0..<10 {
            try Coroutine.sleep(for: .microseconds((index * 7 + round * 13) % 300))
            woken.add()
          }
        }
      }
      for sleeper in sleepers { try sleeper.value() }
    }
    #expect(woken.value == 2_000)
  }

  // MARK: - Time

  @Test func `timers of a queue fire in order, late rather than early (3.4-13)`() throws {
    let wasInTime = try inTime(sleepersFireInOrder(after:))
    #expect(wasInTime)
  }

  /// - Returns: False if a sleeper came too late to sleep.
  private func sleepersFireInOrder(after margin: Duration) throws -> Bool {
    let queue = DispatchQueue(label: "test")
    let log = Log()
    let early = Counter()
    let late = Counter()
    try runBlocking {
      let start = CoroutineClock().now.advanced(by: margin)
      let sleepers = [9, 3, 6, 1].map { milliseconds in
        launch(on: queue) {
          let deadline = start.advanced(by: .milliseconds(milliseconds))
          // They take turns, so all have come before the first of them wakes up, if the last comes in time.
          if CoroutineClock().now >= start { late.add() }
          try Coroutine.sleep(until: deadline)
          if CoroutineClock().now < deadline { early.add() }
          log("\(milliseconds)")
        }
      }
      for sleeper in sleepers { try sleeper.value() }
    }
    #expect(early.value == 0)
    guard late.value == 0 else { return false }
    #expect(log.entries == ["1", "3", "6", "9"])
    return true
  }

  @Test func `a nearer timer is not held up by a farther one, nor by one disarmed`() throws {
    let queue = DispatchQueue(label: "test")
    try runBlocking {
      let far = launch(on: queue) { try Coroutine.sleep(for: .seconds(1000)) }
      try launch(on: queue) { try Coroutine.sleep(for: .milliseconds(1)) }.value()
      let near = launch(on: queue) { try Coroutine.sleep(for: .milliseconds(2)) }
      let nearest = launch(on: queue) { try Coroutine.sleep(for: .milliseconds(1)) }
      nearest.cancel()
      try near.value()
      far.cancel()
      try far.join()
    }
  }
}
