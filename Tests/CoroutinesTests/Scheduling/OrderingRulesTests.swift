// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Foundation
import Testing

extension OrderingScenario: CustomTestStringConvertible {
  /// Rule and sentence.
  public var testDescription: String { "\(rule). \(name)" }
}

/// The seven ordering rules on every kind of scheduler.
@Suite struct OrderingRulesTests {
  private static let loopScenarios = OrderingScenario.all.filter { !$0.needsQueue }

  @Test(arguments: loopScenarios)
  func `the rules hold under runBlocking`(_ scenario: OrderingScenario) throws {
    #expect(try scenario.stepsOnRunBlocking() == scenario.expected)
  }

  @Test(arguments: loopScenarios)
  func `the rules hold on a serial scheduler`(_ scenario: OrderingScenario) throws {
    #expect(try scenario.stepsOnSerialScheduler() == scenario.expected)
  }

  @Test(arguments: OrderingScenario.all)
  func `the rules hold in a block of a serial queue`(_ scenario: OrderingScenario) throws {
    #expect(try scenario.stepsInBlock(of: DispatchQueue(label: "test")) == scenario.expected)
  }

  @Test(arguments: OrderingScenario.all)
  func `the rules hold in a coroutine of a serial queue`(_ scenario: OrderingScenario) throws {
    #expect(try scenario.stepsInCoroutine(of: DispatchQueue(label: "test")) == scenario.expected)
  }

  @Test(arguments: ["dispatchMain", "runLoop"])
  func `the rules hold on the main queue`(_ service: String) throws {
    // The main thread of the tests is not ours to serve the main queue with.
    let products = try #require(Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    let output = Pipe()
    process.executableURL = products.appending(path: "main-queue-probe")
    process.arguments = [service]
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
  }
}
