// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct TestSchedulerTests {
  @Test func `time jumps when all wait`() throws {
    let scheduler = TestScheduler()
    let answer = try scheduler.run {
      let coroutine = launch {
        try Coroutine.sleep(for: .seconds(3600))
        return 42
      }
      return try coroutine.value()
    }
    #expect(answer == 42)
    #expect(scheduler.elapsed == .seconds(3600))
  }

  @Test func `sleepers wake in the order of their deadlines`() throws {
    let scheduler = TestScheduler()
    let log = Log()
    try scheduler.run {
      for seconds in [3, 1, 2] {
        launch {
          try Coroutine.sleep(for: .seconds(seconds))
          log.add("\(seconds) at \(CoroutineClock().now.nanoseconds / 1_000_000_000)")
        }
      }
    }
    #expect(log.entries == ["1 at 1", "2 at 2", "3 at 3"])
  }

  @Test func `a timeout fires in virtual time`() throws {
    let scheduler = TestScheduler()
    #expect(throws: TimeoutError.self) {
      try scheduler.run {
        try withTimeout(.seconds(5)) { try Coroutine.sleep(for: .seconds(60)) }
      }
    }
    #expect(scheduler.elapsed == .seconds(5))
  }

  @Test func `steps run one coroutine each`() {
    let scheduler = TestScheduler()
    let log = Log()
    for name in ["a", "b"] {
      scheduler.launch {
        log.add("\(name)1")
        try Coroutine.yield()
        log.add("\(name)2")
      }
    }
    #expect(scheduler.step())
    #expect(log.entries == ["a1"])
    #expect(scheduler.step())
    #expect(log.entries == ["a1", "b1"])
    scheduler.runUntilIdle()
    #expect(log.entries == ["a1", "b1", "a2", "b2"])
    #expect(!scheduler.step())
    #expect(scheduler.coroutines.isEmpty)
  }

  @Test func `advance wakes those whose time has come, each at its time`() {
    let scheduler = TestScheduler()
    let log = Log()
    scheduler.launch {
      for tick in 1...3 {
        try Coroutine.sleep(for: .seconds(2))
        log.add("tick \(tick)")
      }
    }
    scheduler.advance(by: .seconds(5))
    #expect(log.entries == ["tick 1", "tick 2"])
    #expect(scheduler.elapsed == .seconds(5))
    scheduler.advance(by: .seconds(1))
    #expect(log.entries == ["tick 1", "tick 2", "tick 3"])
  }

  @Test func `a seed gives the same order each time, another seed another one`() throws {
    func order(_ seed: UInt64) throws -> [Int] {
      let numbers = Numbers()
      try TestScheduler(order: .random(seed: seed)).run {
        for number in 0..<20 { launch { numbers.add(number) } }
      }
      return numbers.entries
    }
    let (first, again, other) = (try order(7), try order(7), try order(8))
    #expect(first == again)
    #expect(first != other)
    #expect(first.sorted() == Array(0..<20))
  }

  @Test func `an error that nobody looks at is thrown`() {
    struct Oops: Error {}
    #expect(throws: Oops.self) {
      try TestScheduler().run {
        launch { throw Oops() }
        return
      }
    }
  }

  @Test func `immediately means at once, whatever the order`() throws {
    for seed in 0..<20 {
      let log = Log()
      try TestScheduler(order: .random(seed: UInt64(seed))).run {
        launch {}
        launch(start: .immediately) { log.add("child") }
        log.add("parent")
      }
      #expect(log.entries == ["child", "parent"])
    }
  }

  @Test func `what ran on the thread before does not show`() throws {
    // Loops start coroutines at once; the memory of such a loop serves the test's scheduler next.
    try runBlocking { for _ in 0..<10 { launch(start: .immediately) {} } }
    let orders = try (0..<20).map { seed in
      let numbers = Numbers()
      try TestScheduler(order: .random(seed: UInt64(seed))).run {
        for number in 0..<4 { launch { numbers.add(number) } }
      }
      return numbers.entries
    }
    #expect(Set(orders).count > 5)
  }

  @Test func `offloaded work is waited for, and no time passes`() throws {
    let scheduler = TestScheduler()
    let value = try scheduler.run {
      launch { try Coroutine.sleep(for: .seconds(1)) }
      let value = try offload { 6 * 7 }
      #expect(CoroutineClock().now.nanoseconds == 0)
      return value
    }
    #expect(value == 42)
  }

  @Test func `a task is waited for`() async throws {
    // On a thread of its own: blocking one of the task pool's few could keep the task from running.
    let value = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let value = try? TestScheduler().run {
          try awaitTask {
            await Task.yield()
            return 42
          }
        }
        continuation.resume(returning: value)
      }
    }
    #expect(value == 42)
  }

  @Test func `other threads are waited for as long as the test says`() throws {
    let scheduler = TestScheduler()
    scheduler.outsidePatience = .seconds(300)
    let other = SerialScheduler(name: "outside")
    let sum = try scheduler.run {
      let numbers = Channel<Int>()
      launch(on: other) {
        for number in 1...100 { try numbers.send(number) }
        numbers.close()
      }
      return numbers.reduce(0, +)
    }
    #expect(sum == 5050)
  }
}

@Suite(.timeLimit(.minutes(30))) struct DeadlockTests {
  @Test func `a receive that nobody answers is a deadlock, told with call, channel and places`() {
    let scheduler = TestScheduler()
    let error = #expect(throws: Deadlock.self) {
      try scheduler.run {
        let channel = Channel<Int>(name: "jobs")
        _ = try launch(name: "worker") { try channel.receive() }.value()
      }
    }
    #expect(error?.waiting.count == 2)
    let text = "\(error as Any)"
    #expect(text.contains("2 coroutines wait"))
    #expect(text.contains("\"worker\""))
    #expect(text.contains("Channel.receive() on channel \"jobs\" made at CoroutinesTestingTests/"))
    #expect(scheduler.coroutines.isEmpty)
  }

  @Test func `two mutexes taken in different orders are a ring`() {
    let error = #expect(throws: Deadlock.self) {
      try TestScheduler().run {
        let (left, right) = (CoroutineMutex(), CoroutineMutex())
        launch(name: "A") {
          try left.withLock {
            try Coroutine.yield()
            try right.withLock {}
          }
        }
        launch(name: "B") {
          try right.withLock {
            try Coroutine.yield()
            try left.withLock {}
          }
        }
      }
    }
    #expect(error?.cycle.count == 2)
    #expect("\(error as Any)".contains("Each of these waits for the next"))
  }

  @Test func `two coroutines that join each other are a ring`() {
    let error = #expect(throws: Deadlock.self) {
      try TestScheduler().run {
        let other = Promise<Coroutine>()
        let first = launch(name: "first") { try other.await().join() }
        other.fulfill(launch(name: "second") { try first.join() })
      }
    }
    #expect(error?.cycle.count == 2)
  }

  @Test func `what waits in a deadlock is unwound`() {
    let log = Log()
    #expect(throws: Deadlock.self) {
      try TestScheduler().run {
        defer { log.add("unwound") }
        _ = try Channel<Int>().receive()
      }
    }
    #expect(log.entries == ["unwound"])
  }
}

/// What tests note, in order.
final class Log {
  private(set) var entries: [String] = []
  func add(_ entry: String) { entries.append(entry) }
}

/// Numbers in order.
final class Numbers {
  private(set) var entries: [Int] = []
  func add(_ entry: Int) { entries.append(entry) }
}
