// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Foundation
import Testing

/// How many threads are woken, by what the loops count themselves.
@Suite(.timeLimit(.minutes(30)))
struct WakeUpCountTests {
  private static let rounds = 40
  /// A loop that was just about to sleep, and counted as neither.
  private static let slack = 5

  private static func counts(of name: String) -> (sleeps: Int, wakeUps: Int) {
    RuntimeMetrics().schedulers.filter { $0.name == name }
      .reduce((0, 0)) { ($0.0 + $1.sleeps, $0.1 + $1.wakeUps) }
  }

  /// Waits until no loop of that name has slept anew for a while.
  private static func waitForSleep(of name: String) {
    var known = -1
    while true {
      let sleeps = counts(of: name).sleeps
      if sleeps == known, sleeps > 0 { return }
      known = sleeps
      Thread.sleep(forTimeInterval: 0.004)
    }
  }

  /// Wake-ups of a pool that sleeps before each round.
  private static func wakeUps(_ pool: PoolScheduler, _ name: String, _ body: () -> Void) -> Int {
    waitForSleep(of: name)
    let before = counts(of: name).wakeUps
    for _ in 0..<rounds {
      body()
      waitForSleep(of: name)
    }
    return counts(of: name).wakeUps - before
  }

  @Test func `a launch from outside wakes one loop of a pool that sleeps (P4)`() {
    let name = "wake-ups, from outside"
    let pool = PoolScheduler(threads: 8, name: name)
    let wakeUps = Self.wakeUps(pool, name) {
      let done = Counter()
      launch(on: pool) { done.add() }
      while done.value == 0 { spinWait() }
    }
    #expect((Self.rounds / 2...Self.rounds + Self.slack).contains(wakeUps))
  }

  @Test func `a launch inside wakes one more, which comes for it (P4)`() {
    let name = "wake-ups, inside"
    let pool = PoolScheduler(threads: 8, name: name)
    let wakeUps = Self.wakeUps(pool, name) {
      let done = Counter()
      launch(on: pool) {
        // Lets no child run here.
        let child = launch(on: pool) {}
        while !child.isFinished {}
        done.add()
      }
      while done.value == 0 { spinWait() }
    }
    #expect((Self.rounds...Self.rounds * 2 + Self.slack).contains(wakeUps))
  }

  @Test func `who sends to a loop that is awake makes no system call`() throws {
    let name = "wake-ups, awake"
    let scheduler = SerialScheduler(name: name)
    let steps = Counter()
    let busy = launch(on: scheduler) {
      steps.add()
      while steps.value == 1 {}
    }
    while steps.value == 0 { spinWait() }
    let before = Self.counts(of: name).wakeUps
    let launched = (0..<100).map { number in launch(on: scheduler) { number } }
    let cancelled = launch(on: scheduler) { try Coroutine.sleep(for: .seconds(100)) }
    cancelled.cancel()
    steps.add()
    try runBlocking {
      try busy.value()
      for (number, coroutine) in launched.enumerated() { try #expect(coroutine.value() == number) }
      try? cancelled.join()
    }
    #expect(Self.counts(of: name).wakeUps == before)
  }
}
