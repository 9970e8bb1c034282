// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import Testing

/// The behaviours that the documents describe with steps in an order, on a queue and on the main queue.
///
/// The number of each, in `Tests/CoswiftScenarios`, is that of the list in section 2.1 of the inventory of
/// the documents. Those without an order are in the other files here, their numbers in the names; so are
/// those of the bugs that section 3 lists: see `Ancestors.md`. 2.1-14 and 2.1-15 are about bare context
/// switches: `SeedTests` has them, and `CoroutineKernelTests` 2.1-16.
@Suite(.timeLimit(.minutes(30)))
struct ScenarioTests {
  @Test(arguments: Scenario.all)
  func `steps come in the documents' order on a serial queue (2.1-1 to 2.1-63)`(
    _ scenario: Scenario
  ) {
    #expect(scenario.steps(on: DispatchQueue(label: "test")) == scenario.expected)
  }

  @Test(arguments: Scenario.all)
  func `steps come in the documents' order on a concurrent queue, too`(_ scenario: Scenario) {
    // Scenarios that look at plain blocks of their queue cannot be played there, nor the one that cancels what it has
    // launched before that begins: on another thread it may have begun.
    let needsSerial: Set<Int> = [1, 2, 3, 4, 7, 12, 19, 25, 61]
    guard !needsSerial.contains(scenario.number) else { return }
    let queue = DispatchQueue(label: "test", attributes: .concurrent)
    // In some, a launch counts on having begun before the next: these are blocks, of which either may be the first.
    let isAsExpected = succeeds { Set(scenario.steps(on: queue)) == Set(scenario.expected) }
    #expect(isAsExpected)
  }

  @Test(arguments: ["dispatchMain", "runLoop"])
  func `steps come in the documents' order on the main queue (2.1-1 to 2.1-71, 3.5-r8 to 3.5-r11)`(
    _ mode: String
  ) throws {
    // The main thread of the tests is not ours to serve the main queue with.
    let products = try #require(Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    let output = Pipe()
    process.executableURL = products.appending(path: "coswift-probe")
    process.arguments = [mode]
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
  }
}
