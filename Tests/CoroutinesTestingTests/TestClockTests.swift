// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Foundation
import Testing

/// Tasks that note something go through this one, so that they do it in the order of their wake-ups.
private actor Diary {
  var entries: [String] = []

  func sleep(_ seconds: Int, on clock: TestClock, _ entry: String) async throws {
    try await clock.sleep(for: .seconds(seconds))
    entries.append(entry)
  }
}

/// Code under test that takes any clock.
private func ticks<C: Clock>(_ count: Int, of clock: C) async throws -> C.Instant
where C.Duration == Duration {
  for _ in 0..<count { try await clock.sleep(for: .seconds(1)) }
  return clock.now
}

@Suite(.timeLimit(.minutes(30))) struct TestClockTests {
  @Test func `a clock stands still until it is moved`() {
    let clock = TestClock()
    #expect(clock.now == TestClock.Instant(elapsed: .zero))
    clock.advance(by: .seconds(5))
    clock.advance(by: .zero)
    clock.advance(to: TestClock.Instant(elapsed: .seconds(7)))
    clock.advance(to: clock.now)
    #expect(clock.now.elapsed == .seconds(7))
    #expect(!clock.advanceToNextDeadline())
    #expect(clock.now.elapsed == .seconds(7))
  }

  @Test func `sleepers wake in the order of their deadlines, in any order of running`() throws {
    try explore {
      let (clock, log) = (TestClock(), Numbers())
      let sleepers = [3, 1, 2].map { seconds in
        launch {
          try clock.sleep(until: TestClock.Instant(elapsed: .seconds(seconds)))
          log.add(seconds)
        }
      }
      try clock.waitForSleepers(3)
      // One after the other: how those that are ready run is the explorer's choice.
      for second in 1...3 {
        try #require(clock.nextDeadline?.elapsed == .seconds(second))
        clock.advance(by: .seconds(1))
        try sleepers[[1, 2, 0][second - 1]].join()
      }
      try #require(log.entries == [1, 2, 3])
    }
  }

  @Test func `one move wakes those who are due, in order, and nobody else`() throws {
    let log = Log()
    try runBlocking {
      let clock = TestClock()
      let names = [("late", 9), ("second", 2), ("also second", 2), ("first", 1)]
      let sleepers = names.map { name, seconds in
        launch {
          try clock.sleep(for: .seconds(seconds))
          log.add(name)
        }
      }
      try clock.waitForSleepers(4)
      clock.advance(by: .milliseconds(999))
      for _ in 0..<10 { try Coroutine.yield() }
      #expect(log.entries.isEmpty)
      clock.advance(by: .seconds(3))
      #expect(clock.sleeperCount == 1)
      for sleeper in sleepers.dropFirst() { try sleeper.join() }
      #expect(log.entries == ["first", "second", "also second"])
      #expect(clock.nextDeadline?.elapsed == .seconds(9))
      sleepers[0].cancel()
      try sleepers[0].join()
      #expect(clock.sleeperCount == 0)
      #expect(clock.nextDeadline == nil)
    }
    #expect(log.entries.count == 3)
  }

  @Test func `a ticker goes on from where the clock is, deadline by deadline`() throws {
    try runBlocking {
      let (clock, log) = (TestClock(), Numbers())
      launch {
        for _ in 1...3 {
          try clock.sleep(for: .seconds(10))
          log.add(Int(clock.now.elapsed.components.seconds))
        }
      }
      for _ in 1...3 {
        try clock.waitForSleepers()
        #expect(clock.advanceToNextDeadline())
        try Coroutine.yield()
      }
      #expect(log.entries == [10, 20, 30])
    }
  }

  @Test func `a cancelled sleeper leaves the clock as if it had not slept (rule 3)`() throws {
    let sweep = try sweepCancellation { victim in
      let (clock, log) = (TestClock(), Log())
      let sleeper = launch(name: victim) {
        try clock.sleep(for: .seconds(1))
        log.add("woke")
        try clock.sleep(for: .seconds(1))
      }
      let other = launch { try clock.sleep(for: .seconds(1)) }
      try clock.waitForSleepers(sleeper.isCancelled ? 1 : 2)
      clock.advance(by: .seconds(1))
      try other.join()
      for _ in 0..<3 { try Coroutine.yield() }
      try #require(sleeper.isFinished == sleeper.isCancelled)
      try #require(clock.sleeperCount == (sleeper.isCancelled ? 0 : 1))
      if !sleeper.isFinished { clock.advance(by: .seconds(1)) }
      try sleeper.join()
    }
    #expect(sweep.places == 2)
  }

  @Test func `a deadline that has passed gives way and does not sleep (rule 2)`() throws {
    try TestScheduler().run {
      let (clock, log) = (TestClock(), Log())
      launch { log.add("other") }
      try clock.sleep(for: .zero)
      log.add("sleeper")
      #expect(log.entries == ["other", "sleeper"])
      let cancelled = launch {
        Coroutine.current?.cancel()
        try clock.sleep(until: TestClock.Instant(elapsed: .zero))
      }
      #expect(throws: CancellationError.self) { try cancelled.value() }
    }
  }

  @Test func `tasks wake in the order of their deadlines`() async throws {
    let (clock, diary) = (TestClock(), Diary())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seconds in [2, 3, 1] {
        group.addTask { try await diary.sleep(seconds, on: clock, "after \(seconds)") }
      }
      try await clock.waitForSleepers(3)
      #expect(await diary.entries.isEmpty)
      for second in 1...3 {
        clock.advance(by: .seconds(1))
        try await group.next()
        #expect(await diary.entries.count == second)
      }
    }
    #expect(await diary.entries == ["after 1", "after 2", "after 3"])
  }

  @Test func `code that takes any clock runs by the test's`() async throws {
    let clock = TestClock()
    async let end = ticks(3, of: clock)
    for _ in 1...3 {
      try await clock.waitForSleepers()
      clock.advanceToNextDeadline()
    }
    #expect(try await end.elapsed == .seconds(3))
  }

  @Test func `a cancelled task wakes at once, and is out of the line`() async throws {
    let clock = TestClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    try await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `coroutines and tasks sleep by the same clock`() async throws {
    let clock = TestClock()
    let loop = SerialScheduler(name: "sleeper")
    let coroutine = launch(on: loop) {
      try clock.sleep(for: .seconds(1))
      return clock.now.elapsed
    }
    let task = Task {
      try await clock.sleep(for: .seconds(1))
      return clock.now.elapsed
    }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(4))
    #expect(try await coroutine.value() == .seconds(4))
    #expect(try await task.value == .seconds(4))
  }

  @Test func `who waits for sleepers in vain is named in the deadlock, with the clock`() {
    let deadlock = #expect(throws: Deadlock.self) {
      try TestScheduler().run {
        let clock = TestClock()
        launch(name: "sleeper") { try clock.sleep(for: .seconds(1)) }
        try clock.waitForSleepers(2)
      }
    }
    let text = "\(deadlock as Any)"
    #expect(text.contains("TestClock.sleep(until:) on a test clock that shows 0.0 seconds"))
    #expect(text.contains("TestClock.waitForSleepers(_:)"))
  }

  @Test func `going back stops with a message (rule 12)`() async {
    let back = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      let clock = TestClock()
      clock.advance(by: .seconds(5))
      clock.advance(to: TestClock.Instant(elapsed: .seconds(3)))
    }
    #expect(back.text.contains("shows 5.0 seconds and was to be set back to 3.0 seconds"))
    let negative = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      TestClock().advance(by: .seconds(-2))
    }
    #expect(negative.text.contains("set back by 2.0 seconds"))
    let following = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      TestClock(following: TestScheduler()).advance(by: .seconds(1))
    }
    #expect(following.text.contains("follows a TestScheduler"))
  }
}

extension ExitTest.Result? {
  fileprivate var text: String {
    self.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
  }
}

@Suite(.timeLimit(.minutes(30))) struct FollowingClockTests {
  @Test func `its time is the scheduler's, which jumps`() throws {
    let scheduler = TestScheduler()
    let clock = TestClock(following: scheduler)
    let order = Numbers()
    try scheduler.run {
      launch {
        try clock.sleep(for: .seconds(3600))
        order.add(2)
      }
      launch {
        try Coroutine.sleep(for: .seconds(60))
        order.add(1)
      }
    }
    #expect(order.entries == [1, 2])
    #expect(clock.now.elapsed == .seconds(3600))
    scheduler.advance(by: .seconds(1))
    #expect(clock.now.elapsed == scheduler.elapsed)
  }

  /// Runs on a thread of its own: a thread of the task pool must not wait for a task.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
  }

  @Test func `a task that a coroutine awaits sleeps in virtual time`() async throws {
    let (instant, elapsed) = try await onThread {
      let scheduler = TestScheduler()
      let clock = TestClock(following: scheduler)
      let instant = try scheduler.run {
        launch { try Coroutine.sleep(for: .seconds(1000)) }
        return try awaitTask { try await ticks(90, of: clock) }
      }
      return (instant, scheduler.elapsed)
    }
    #expect(instant.elapsed == .seconds(90))
    #expect(elapsed == .seconds(1000))
  }

  @Test func `a cancelled sleep of a task does not hold the scheduler's time`() async throws {
    let end = try await onThread {
      let scheduler = TestScheduler()
      let clock = TestClock(following: scheduler)
      try scheduler.run {
        let isOver = DispatchSemaphore(value: 0)
        do {
          try withTimeout(.seconds(5)) {
            try awaitTask {
              defer { isOver.signal() }
              try await clock.sleep(for: .seconds(3600))
            }
          }
        } catch is TimeoutError {}
        // Blocks the thread of this test, not one that the task needs.
        isOver.wait()
      }
      return (scheduler.elapsed, clock.sleeperCount)
    }
    #expect(end == (.seconds(5), 0))
  }

  @Test func `a coroutine of another scheduler sleeps by it, too`() throws {
    let scheduler = TestScheduler()
    let clock = TestClock(following: scheduler)
    let other = SerialScheduler(name: "other")
    let woken = try scheduler.run {
      let slept = launch(on: other) {
        try clock.sleep(for: .seconds(10))
        return clock.now.elapsed
      }
      // Time stands still until it sleeps, since this waits for a thread that does not.
      return try offload { try runBlocking { try slept.value() } }
    }
    #expect(woken == .seconds(10))
  }
}
