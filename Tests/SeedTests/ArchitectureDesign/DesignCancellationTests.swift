// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Testing
import coswift

/// "Architecture design", section "The design of cancellation".
@Suite(.timeLimit(.minutes(30))) struct DesignCancellationTests {
  // `id obj = …; await(…); obj = nil;` "If we stop here, the cleanup phase will not execute. Cause leak."
  static let cleanup = Scenario(
    "Architecture design, cleanup",
    expected: ["made", "cancel", "cleanup", "released", "ended"]
  ) { play in
    let never = Promise<Int>()
    let co = co_launch {
      let obj = Probe { play.log("released") }
      play.log("made")
      defer { play.log("cleanup") }
      try co_await(promise: never)
      play.log("not reached")
      withExtendedLifetime(obj) {}
    }
    co_launch {
      play.log("cancel")
      co.cancel()
    }
    play.finish(after: co) { play.log("ended") }
  }

  @Test func `a coroutine that is cancelled at an await cleans up, and nothing leaks`() {
    check(Self.cleanup)
  }

  // "in objc": the mark is looked at. The await of a cancelled coroutine throws, so code that goes on catches
  // that.
  static let cooperative = Scenario(
    "Architecture design, cancellation in Objective-C",
    expected: ["waits", "is cancelled"]
  ) { play in
    let never = Promise<Int>()
    let co = co_launch {
      play.log("waits")
      _ = try? co_await(promise: never)
      // Check the current coroutine is cancelled.
      if co_isCancelled {
        play.log("is cancelled")
        return
      }
      play.log("not reached")
    }
    co_launch { co.cancel() }
    play.finish(after: co)
  }

  @Test func `a coroutine can look at the mark and return`() {
    check(Self.cooperative)
  }

  // "in swift": no look is needed.
  static let direct = Scenario(
    "Architecture design, cancellation in Swift",
    expected: ["waits", "lastError coroutineCancelled"]
  ) { play in
    let never = Promise<Int>()
    let co = co_launch {
      play.log("waits")
      try co_await(promise: never)
      play.log("not reached")
    }
    co_launch { co.cancel() }
    play.finish(after: co) {
      play.log("lastError \(co.lastError.map { "\($0)" } ?? "nil")")
    }
  }

  @Test func `in Swift a cancelled coroutine stops at its await by itself`() {
    check(Self.direct)
  }
}
