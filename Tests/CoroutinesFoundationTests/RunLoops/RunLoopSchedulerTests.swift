// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

/// A thread that runs its run loop until this object goes away.
final class RunLoopThread: @unchecked Sendable {
  // SAFETY: `runLoop` is set before anybody can see the object; what is done with it from other
  // threads is what the tests are about.
  private(set) var runLoop = RunLoop.main
  private let stopped = Cell(false)

  init() {
    let ready = DispatchSemaphore(value: 0)
    let stopped = stopped
    let found = Cell<Unchecked>()
    Thread.detachNewThread {
      found.value = Unchecked(runLoop: RunLoop.current)
      let input = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
      RunLoop.current.add(input, forMode: .common)
      ready.signal()
      while stopped.value != true {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
      }
      input.invalidate()
    }
    ready.wait()
    if let runLoop = found.value?.runLoop { self.runLoop = runLoop }
  }

  deinit { stopped.value = true }

  var scheduler: Scheduler { .runLoop(runLoop) }

  /// Has the run loop call `block` from a timer, as a program would that knows nothing of coroutines.
  func perform(_ block: @escaping @Sendable () -> Void) {
    runLoop.perform(inModes: [.common], block: block)
    runLoop.add(Timer(timeInterval: 0, repeats: false) { _ in }, forMode: .common)
  }

  private struct Unchecked: @unchecked Sendable { let runLoop: RunLoop }
}

@Suite(.timeLimit(.minutes(30))) struct RunLoopSchedulerTests {
  @Test(arguments: OrderingScenario.all)
  func `the ordering rules hold in a coroutine of a run loop`(_ scenario: OrderingScenario) throws {
    let thread = RunLoopThread()
    let steps = try scenario.steps(inCoroutineOf: thread.scheduler, andBlocksBy: thread.perform)
    #expect(steps == scenario.expected)
  }

  @Test func `coroutines run on the run loop's thread, after waits too`() throws {
    let thread = RunLoopThread()
    let runLoop = ObjectIdentifier(thread.runLoop)
    try runBlocking {
      let gate = Gate()
      let coroutine = launch(on: thread.scheduler) { () throws -> Int in
        #expect(ObjectIdentifier(RunLoop.current) == runLoop)
        let first = pthread_self()
        try gate.wait()
        #expect(pthread_equal(pthread_self(), first) != 0)
        try Coroutine.sleep(for: .milliseconds(2))
        #expect(pthread_equal(pthread_self(), first) != 0)
        let child = launch { pthread_equal(pthread_self(), first) != 0 }
        let isThere = try child.value()
        #expect(isThere)
        return 42
      }
      gate.open()
      let value = try coroutine.value()
      #expect(value == 42)
    }
  }

  @Test func `sleepers and time limits wake in order (3.4-13)`() throws {
    let wasInTime = try inTime(sleepersWakeInOrder(after:))
    #expect(wasInTime, "the sleepers did not fall asleep within a minute")
  }

  /// - Returns: False if somebody came too late to sleep.
  private func sleepersWakeInOrder(after margin: Duration) throws -> Bool {
    let thread = RunLoopThread()
    let log = Log()
    let late = Counter()
    try runBlocking {
      let coroutine = launch(on: thread.scheduler) {
        let start = CoroutineClock().now.advanced(by: margin)
        let sleepers = [30, 10, 20].map { delay in
          launch {
            if CoroutineClock().now >= start { late.add() }
            try Coroutine.sleep(until: start.advanced(by: .milliseconds(delay)))
            log("\(delay)")
          }
        }
        if CoroutineClock().now >= start { late.add() }
        #expect(throws: TimeoutError.self) {
          try withDeadline(start.advanced(by: .milliseconds(1))) {
            try Coroutine.sleep(for: .seconds(3600))
          }
        }
        log("limit")
        for sleeper in sleepers { try sleeper.join() }
      }
      try coroutine.value()
    }
    guard late.value == 0 else { return false }
    #expect(log.entries == ["limit", "10", "20", "30"])
    return true
  }

  @Test func `a timer can be used again after a pause`() throws {
    let thread = RunLoopThread()
    try runBlocking {
      for _ in 1...5 {
        let coroutine = launch(on: thread.scheduler) {
          _ = try? withTimeout(.seconds(60)) { try Coroutine.yield() }
          try Coroutine.sleep(for: .milliseconds(1))
        }
        try coroutine.value()
      }
    }
  }

  @Test func `a run loop has one scheduler (3.4-13)`() throws {
    let thread = RunLoopThread()
    let log = Log()
    try runBlocking {
      let first = launch(on: .runLoop(thread.runLoop)) {
        launch(on: .runLoop(RunLoop.current)) { log("other") }
        log("one")
        try Coroutine.yield()
        log("one again")
      }
      try first.value()
    }
    #expect(log.entries == ["one", "other", "one again"])
  }

  @Test func `an immediate start in a callback of the run loop runs at once (ordering rule 2)`()
    throws
  {
    let thread = RunLoopThread()
    let log = Log()
    try runBlocking {
      let end = Gate()
      thread.perform {
        launch(on: .runLoop(RunLoop.current), start: .immediately) {
          log("coroutine")
          try Coroutine.yield()
          log("again")
          end.open()
        }
        log("callback")
      }
      try end.wait()
    }
    #expect(log.entries == ["coroutine", "callback", "again"])
  }

  @Test func `a run loop run inside a coroutine does not run others (3.4-18)`() throws {
    let thread = RunLoopThread()
    let log = Log()
    try runBlocking {
      let coroutine = launch(on: thread.scheduler) {
        let other = launch { log("other") }
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
        log("nested run is over")
        try other.join()
      }
      try coroutine.value()
    }
    #expect(log.entries == ["nested run is over", "other"])
  }

  @Test func `wake-ups from many threads all arrive`() throws {
    let thread = RunLoopThread()
    let counter = Counter()
    try runBlocking {
      let numbers = Channel<Int>(capacity: 4)
      let receivers = (0..<4).map { _ in
        launch(on: thread.scheduler) { for number in numbers { counter.add(number) } }
      }
      let senders = (0..<4).map { _ in
        launch(on: SerialScheduler()) { for _ in 0..<500 { try numbers.send(1) } }
      }
      for sender in senders { try sender.value() }
      numbers.close()
      for receiver in receivers { try receiver.value() }
    }
    #expect(counter.value == 2000)
  }

  @Test func `living coroutines keep a run loop running`() async throws {
    let log = Log()
    try await onPlainThread {
      // This run loop has no input but the coroutine.
      let coroutine = launch(on: .runLoop(RunLoop.current)) {
        try Coroutine.sleep(for: .milliseconds(20))
        log("slept")
      }
      while !coroutine.isFinished {
        guard RunLoop.current.run(mode: .default, before: .distantFuture) else { break }
      }
      #expect(coroutine.isFinished)
    }
    #expect(log.entries == ["slept"])
  }

  @Test func `cancelling from elsewhere reaches a coroutine of a run loop`() throws {
    let thread = RunLoopThread()
    try runBlocking {
      let started = Gate()
      let coroutine = launch(on: thread.scheduler) {
        started.open()
        try Coroutine.sleep(for: .seconds(60))
      }
      try started.wait()
      try coroutine.cancelAndJoin()
      #expect(coroutine.error is CancellationError)
    }
  }
}
