// SPDX-License-Identifier: Apache-2.0

// Plays the ordering scenarios on the main queue, served as the argument says, and exits with
// success if all came out right. OrderingRulesTests runs it.

import CoroutineTestSupport
import Coroutines
import Dispatch
import Foundation

/// Plays everything from a thread of its own, and tells what went wrong.
@Sendable func playAll() {
  var failures = 0
  func check(_ scenario: OrderingScenario, _ variant: String, _ steps: [String]) {
    if steps == scenario.expected { return }
    failures += 1
    print("rule \(scenario.rule), \(scenario.name), in a \(variant): \(steps)")
  }
  do {
    for scenario in OrderingScenario.all {
      check(scenario, "block", try scenario.stepsInBlock(of: .main))
      check(scenario, "coroutine", try scenario.stepsInCoroutine(of: .main))
    }
    // Time passes on the main queue as well.
    try runBlocking {
      let sleeper = launch(on: .main) {
        try Coroutine.sleep(for: .milliseconds(2))
        dispatchPrecondition(condition: .onQueue(.main))
      }
      try sleeper.value()
    }
  } catch {
    failures += 1
    print("failed: \(error)")
  }
  exit(failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
}

switch CommandLine.arguments.dropFirst().first {
case "dispatchMain":
  Thread.detachNewThread(playAll)
  dispatchMain()
case "runLoop":
  Thread.detachNewThread(playAll)
  // The input keeps the loop from returning at once.
  let port = Timer.scheduledTimer(withTimeInterval: 3600, repeats: true) { _ in }
  RunLoop.main.run()
  port.invalidate()
default:
  print("usage: main-queue-probe dispatchMain | runLoop")
  exit(EXIT_FAILURE)
}
