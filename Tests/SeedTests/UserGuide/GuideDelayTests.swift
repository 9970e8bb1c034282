// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Dispatch
import Testing
import coswift

/// "User guide", section 8, "Delays inside coroutines".
@Suite(.timeLimit(.minutes(30))) struct GuideDelayTests {
  @Test func `a delay lasts at least as long as it says, while others run`() throws {
    let log = Log()
    try inCoroutine {
      let begin = ContinuousClock.now
      let other = co_launch { log("the other one runs") }
      try co_delay(0.03)
      let realDuration = ContinuousClock.now - begin
      #expect(realDuration >= .milliseconds(30))
      log("delayed")
      other.join()
    }
    #expect(log.entries == ["the other one runs", "delayed"])
  }

  // "If it is used outside, it throws."
  @Test func `a delay outside a coroutine throws`() {
    #expect(throws: COError.invalidCoroutine) { try co_delay(3) }
    #expect(throws: COError.invalidCoroutine) {
      try DispatchQueue(label: "plain").sync { try co_delay(3) }
    }
  }
}
