// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "Learning coobjc", section "Simple launch".
@Suite(.timeLimit(.minutes(30))) struct LearningLaunchTests {
  // co_launch, co_launch_onqueue, co_launch_now
  static let ways = Scenario(
    "Learning coobjc, ways to launch",
    expected: ["deal things in coroutine now", "asynchronous on the current queue", "on q"]
  ) { play in
    let q = DispatchQueue(label: "q")
    let here = co_launch { play.log("asynchronous on the current queue") }
    co_launch_now { play.log("deal things in coroutine now") }
    co_launch {
      here.join()
      let there = co_launch_onqueue(q) {
        dispatchPrecondition(condition: .onQueue(q))
        play.log("on q")
      }
      play.finish(after: there)
    }
  }

  @Test func `a coroutine begins later, or on another queue, or now`() {
    check(Self.ways)
  }

  // testForLaunch
  static let order = Scenario(
    "Learning coobjc, testForLaunch",
    expected: [
      "deal things in coroutine now", "testForLaunch", "deal things in coroutine 1",
      "deal things in coroutine 2",
    ]
  ) { play in
    let first = co_launch { play.log("deal things in coroutine 1") }
    co_launch_now { play.log("deal things in coroutine now") }
    let second = co_launch { play.log("deal things in coroutine 2") }
    play.log("testForLaunch")
    play.finish(after: first, second)
  }

  @Test func `co_launch_now runs first, then the caller, then the two of co_launch`() {
    check(Self.order)
  }

  // resume and resumeNow, and the correction of 4.16: performBlockOnQueue
  static let resumeNow = Scenario(
    "Learning coobjc, resumeNow",
    expected: ["here, at once", "caller", "there, later"]
  ) { play in
    let q = DispatchQueue(label: "q")
    let here = COCoroutine(block: { play.log("here, at once") })
    here.resumeNow()
    play.log("caller")
    let there = COCoroutine(
      block: {
        dispatchPrecondition(condition: .onQueue(q))
        play.log("there, later")
      },
      on: q
    )
    there.resumeNow()
    play.finish(after: here, there)
  }

  @Test func `resumeNow runs at once on its own queue, and later on another one`() {
    check(Self.resumeNow)
  }
}
