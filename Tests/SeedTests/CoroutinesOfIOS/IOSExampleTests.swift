// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "Coroutines of iOS", section "An example".
@Suite(.timeLimit(.minutes(30))) struct IOSExampleTests {
  // The document prints `0 4 5 1 3 2-delay-1 2`, and adds that 4 and 5 come in no certain order: they run on
  // queues of their own. The order of the others is certain.
  static let order = Scenario(
    "Coroutines of iOS, an example",
    expected: ["0", "1", "3", "2-delay-1", "2", "on other queues: 4 5"]
  ) { play in
    let others = Log()
    let first = co_launch { play.log("1") }
    let slow = co_launch {
      try co_delay(4)
      play.log("2")
    }
    let lessSlow = co_launch {
      try co_delay(1)
      play.log("2-delay-1")
    }
    let third = co_launch { play.log("3") }
    let fourth = co_launch_onqueue(DispatchQueue(label: "4")) { others("4") }
    let fifth = co_launch_onqueue(DispatchQueue(label: "5")) { others("5") }
    play.log("0")
    play.finish(after: first, slow, lessSlow, third, fourth, fifth) {
      play.log("on other queues: \(others.entries.sorted().joined(separator: " "))")
    }
  }

  @Test func `the caller goes on first, then 1 and 3, then what waited for a shorter time`() {
    check(Self.order)
  }
}
