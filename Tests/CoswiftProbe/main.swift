// SPDX-License-Identifier: Apache-2.0

// Plays the scenarios and the rj_async cases on the main queue, served as the argument says, and exits
// with success if all came out right. ScenarioTests runs it. "delayOutside" is for AncestorTests.

import CoswiftScenarios
import Dispatch
import Foundation

/// Plays everything from a thread of its own, and tells what went wrong.
@Sendable func playAll() {
  var failures = 0
  for scenario in Scenario.all + Scenario.mainQueueOnly {
    let steps = scenario.steps(on: .main)
    if steps == scenario.expected { continue }
    failures += 1
    print("\(scenario): \(steps)")
  }
  print("\(Scenario.all.count + Scenario.mainQueueOnly.count) played, \(failures) failed")
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
case "delayOutside":
  exit(delaysOutsideLeaveNoTimer() ? EXIT_SUCCESS : EXIT_FAILURE)
default:
  print("usage: coswift-probe dispatchMain | runLoop | delayOutside")
  exit(EXIT_FAILURE)
}
