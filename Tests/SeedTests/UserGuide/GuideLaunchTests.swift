// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "User guide", section 1, "Creating coroutines".
@Suite(.timeLimit(.minutes(30))) struct GuideLaunchTests {
  static let places = Scenario(
    "User guide 1, creating",
    expected: ["on the current queue", "on q"]
  ) { play in
    let q = DispatchQueue(label: "q")
    let here = co_launch {
      dispatchPrecondition(condition: .onQueue(play.queue))
      play.log("on the current queue")
    }
    co_launch {
      let there = co_launch_onqueue(q) {
        dispatchPrecondition(condition: .onQueue(q))
        play.log("on q")
      }
      play.finish(after: here, there)
    }
  }

  @Test func `a coroutine runs where it is made, or on the queue that is named`() {
    check(Self.places)
  }
}
