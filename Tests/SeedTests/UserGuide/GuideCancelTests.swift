// SPDX-License-Identifier: Apache-2.0

import CoswiftScenarios
import Testing
import coswift

/// "User guide", section 2, "Cancelling coroutines".
@Suite(.timeLimit(.minutes(30))) struct GuideCancelTests {
  // In Objective-C the body begins and val becomes 1; the prose says that it does not go on. Here it does not
  // begin (C4).
  static let rightAway = Scenario(
    "User guide 2, cancelling right away",
    expected: ["val 0, cancelled true, finished true"]
  ) { play in
    var val = 0
    let co = co_launch {
      val += 1
      try co_delay(0.01)
      if co_isCancelled { return }
      val += 1
    }
    co.cancel()
    play.finish(after: co) {
      play.log("val \(val), cancelled \(co.isCancelled), finished \(co.isFinished)")
    }
  }

  @Test func `after cancel the code of a coroutine does not go on`() {
    check(Self.rightAway)
  }

  // The same, cancelled while it waits. "Some cleaning operations" are in a defer, since the delay throws.
  static let whileItWaits = Scenario(
    "User guide 2, cancelling while it waits",
    expected: ["cleans up, co_isCancelled true", "val 1"]
  ) { play in
    var val = 0
    let co = co_launch {
      defer { play.log("cleans up, co_isCancelled \(co_isCancelled)") }
      val += 1
      try co_delay(60)
      val += 1
    }
    co_launch { co.cancel() }
    play.finish(after: co) { play.log("val \(val)") }
  }

  @Test func `a coroutine that is cancelled in a delay cleans up and ends`() {
    check(Self.whileItWaits)
  }
}
