// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct LaunchTests {
  @Test(arguments: Place.allCases)
  func `what the body returns is the coroutine's value`(_ place: Place) throws {
    let value = try place.run { try launch { 6 * 7 }.value() }
    #expect(value == 42)
  }

  @Test(arguments: Place.allCases)
  func `what the body throws is thrown by value`(_ place: Place) throws {
    #expect(throws: Problem(1)) {
      try place.run { try launch { () throws -> Int in throw Problem(1) }.value() }
    }
  }

  @Test(arguments: Place.allCases)
  func `sleepers do not hold up others and wake in the order of their deadlines`(
    _ place: Place
  ) throws {
    let wasInTime = try inTime { margin in
      let (log, late) = (Log(), Counter())
      try place.run {
        let start = CoroutineClock().now.advanced(by: margin)
        let all = [
          launch { log("1") },
          launch {
            try Coroutine.sleep(until: start.advanced(by: .milliseconds(20)))
            log("second delay")
          },
          launch {
            // The other has fallen asleep before.
            if CoroutineClock().now >= start { late.add() }
            try Coroutine.sleep(until: start)
            log("first delay")
          },
          launch { log("3") },
        ]
        log("0")
        for coroutine in all { try coroutine.join() }
      }
      guard late.value == 0 else { return false }
      #expect(log.entries == ["0", "1", "3", "first delay", "second delay"])
      return true
    }
    #expect(wasInTime)
  }

  @Test(arguments: Place.allCases)
  func `a body runs once, however often it parks`(_ place: Place) throws {
    let runs = Counter()
    let steps = Counter()
    try place.run {
      try launch {
        runs.add()
        for _ in 0..<100 {
          try Coroutine.yield()
          steps.add()
        }
      }.join()
    }
    #expect(runs.value == 1)
    #expect(steps.value == 100)
  }

  @Test(arguments: Place.allCases)
  func `local variables survive parking`(_ place: Place) throws {
    let sums = try place.run {
      let coroutines = (0..<50).map { index in
        launch {
          var numbers: [Int] = []
          let half = Double(index) / 2
          for step in 0..<20 {
            numbers.append(index + step)
            try Coroutine.yield()
          }
          return Double(numbers.reduce(0, +)) + half
        }
      }
      return try coroutines.map { try $0.value() }
    }
    let expected = (0..<50).map { (index: Int) -> Double in 20.5 * Double(index) + 190 }
    #expect(sums == expected)
  }

  @Test(arguments: Place.allCases)
  func `ten thousand coroutines wait at once and all end`(_ place: Place) throws {
    let gate = Gate()
    let ended = Counter()
    try place.run {
      let waiting = (0..<10_000).map { _ in
        launch(stackSize: .small) {
          try gate.wait()
          ended.add()
        }
      }
      try Coroutine.yield()
      gate.open()
      for coroutine in waiting { try coroutine.join() }
    }
    #expect(ended.value == 10_000)
  }

  @Test func `the current coroutine is the one that runs, and none outside`() throws {
    #expect(Coroutine.current == nil)
    try runBlocking {
      let main = try #require(Coroutine.current)
      let other = launch { () throws -> Bool in
        let own = Coroutine.current
        try Coroutine.yield()
        return own != nil && own === Coroutine.current && own !== main
      }
      #expect(try other.value())
      #expect(Coroutine.current === main)
    }
    #expect(Coroutine.current == nil)
  }

  @Test func `the states are ready, running, suspended and finished`() throws {
    try runBlocking {
      let gate = Gate()
      let seenInside = Cell<Coroutine.State>()
      let coroutine = launch {
        seenInside.value = Coroutine.current?.state
        try gate.wait()
      }
      #expect(coroutine.state == .ready)
      try Coroutine.yield()
      #expect(seenInside.value == .running)
      #expect(coroutine.state == .suspended)
      gate.open()
      #expect(coroutine.state == .ready)
      #expect(!coroutine.isFinished)
      try coroutine.join()
      #expect(coroutine.state == .finished)
      #expect(coroutine.isFinished)
    }
  }

  @Test func `a coroutine knows its name, its number and where it was launched`() throws {
    try runBlocking {
      let line: UInt = #line + 1
      let named = launch(name: "fetch") {}
      let nameless = launch {}
      #expect(named.name == "fetch")
      #expect(nameless.name == nil)
      #expect(named.id != nameless.id)
      #expect(named.creationSite.line == line)
      #expect(named.creationSite.description == "CoroutinesTests/LaunchTests.swift:\(line)")
      #expect(named.description == "coroutine #\(named.id) \"fetch\" (ready)")
      #expect(nameless.description == "coroutine #\(nameless.id) (ready)")
    }
  }

  @Test func `numbers are unique across threads`() throws {
    let ids = Log()
    try runBlocking {
      let schedulers = (0..<3).map { _ in SerialScheduler() }
      let launchers = schedulers.map { scheduler in
        launch(on: scheduler) {
          for _ in 0..<1500 { ids("\(launch {}.id)") }
        }
      }
      for launcher in launchers { try launcher.value() }
    }
    #expect(ids.entries.count == 4500)
    #expect(Set(ids.entries).count == 4500)
  }

  private final class Canary {}

  @Test func `what the body holds is freed when it ends, though the handle is kept`() throws {
    try runBlocking {
      weak var remains: Canary?
      let coroutine: Coroutine
      do {
        let canary = Canary()
        remains = canary
        coroutine = launch { withExtendedLifetime(canary) {} }
      }
      #expect(remains != nil)
      try coroutine.join()
      #expect(remains == nil)
    }
  }

  @Test(arguments: Place.allCases)
  func `a coroutine without a handle runs to its end and is freed`(_ place: Place) throws {
    let ended = Counter()
    let isFreed = try place.run {
      weak var coroutine: Coroutine?
      coroutine = launch {
        try Coroutine.yield()
        ended.add()
      }
      let wasKept = coroutine != nil
      for _ in 0..<5 { try Coroutine.yield() }
      return wasKept && coroutine == nil
    }
    #expect(isFreed)
    #expect(ended.value == 1)
  }

  /// Whoever drops a handle at once has never had one, where the optimiser sees it: only its scheduler keeps a coroutine then.
  @Test(arguments: Place.allCases)
  func `coroutines whose handles nobody takes run to their ends, however they are launched`(
    _ place: Place
  ) throws {
    final class Token: Sendable {
      let ended: Counter
      init(_ ended: Counter) { self.ended = ended }
      deinit { ended.add() }
    }
    let (ran, ended) = (Counter(), Counter())
    let others: [Scheduler] = [SerialScheduler(), PoolScheduler(threads: 2)]
    let queue = DispatchQueue(label: "queue")
    try place.run {
      for round in 0..<100 {
        try withCoroutineScope { scope in
          for start in [LaunchStart.queued, .immediately] {
            let tokens = (0..<7).map { _ in Token(ended) }
            launch(start: start) { withExtendedLifetime(tokens[0]) { ran.add() } }
            launch(name: "named", start: start) { withExtendedLifetime(tokens[1]) { ran.add() } }
            scope.launch(start: start) { withExtendedLifetime(tokens[2]) { ran.add() } }
            scope.launch(on: queue, start: start) {
              withExtendedLifetime(tokens[3]) { ran.add() }
            }
            scope.launch(on: .current, start: start) {
              withExtendedLifetime(tokens[4]) { ran.add() }
            }
            for (token, scheduler) in zip(tokens[5...], others) {
              scope.launch(on: scheduler, start: start) {
                withExtendedLifetime(token) { ran.add() }
              }
            }
          }
        }
        try Coroutine.yield()
        #expect(ran.value == 14 * (round + 1))
      }
    }
    #expect(ran.value == 1400)
    // The last of them may be letting go of it on its thread.
    #expect(inTime { Self.soon(ended, is: 1400, within: $0) })
  }

  private static func soon(_ counter: Counter, is value: Int, within limit: Duration) -> Bool {
    let end = ContinuousClock.now + limit
    while counter.value != value {
      if ContinuousClock.now > end { return false }
    }
    return true
  }

  @Test func `a launch on a scheduler that has shut down ends with an error at once (rule 12)`()
    throws
  {
    let ended = try runBlocking { Scheduler.current }
    let coroutine = launch(on: ended) { Issue.record("it must not run") }
    #expect(coroutine.isFinished)
    #expect(coroutine.error as? CoroutineError == .schedulerShutDown)
    let hooks = Counter()
    coroutine.onFinish { hooks.add() }
    #expect(hooks.value == 1)
    #expect(throws: CoroutineError.schedulerShutDown) {
      try runBlocking { try coroutine.value() }
    }
  }

  @Test(arguments: Place.allCases)
  func `a deep tree of launches is run in full`(_ place: Place) throws {
    let leaves = try place.run { try countLeaves(depth: 8) }
    #expect(leaves == 256)
  }

  /// F5.
  @Test func `the lock of a coroutine that is launched from elsewhere belongs to no thread`() throws
  {
    let loop = SerialScheduler(name: "loop")
    let pool = PoolScheduler(threads: 2)
    let queue = DispatchQueue(label: "queue")
    try runBlocking {
      let launched = [
        launch(on: loop) {}, launch(on: pool) {}, launch(on: queue) {},
        try withCoroutineScope { $0.launch(on: pool) {} },
      ]
      for coroutine in launched {
        #expect(cck_lock_is_shared(coroutine.fiber.joinLock) == 1)
        try coroutine.join()
      }
      let own = launch {}
      #expect((cck_lock_is_shared(own.fiber.joinLock) == 0) == (cck_lock_make_biased().owner == 0))
    }
  }
}

private func countLeaves(depth: Int) throws -> Int {
  if depth == 0 { return 1 }
  let left = launch { try countLeaves(depth: depth - 1) }
  let right = launch { try countLeaves(depth: depth - 1) }
  return try left.value() + right.value()
}
