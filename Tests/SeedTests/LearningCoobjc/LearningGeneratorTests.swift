// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Testing
import coswift

/// "Learning coobjc", section "Generator".
@Suite(.timeLimit(.minutes(30))) struct LearningGeneratorTests {
  // testForRandomGenerator. The document asks why a value more is made without the cancel at the end, and why
  // the lines come in pairs; that was a fault of coobjc 1.0. Here a body runs when it is asked, no further (C2,
  // C3).
  private static func random(cancels: Bool) -> Scenario {
    let lines = (1...10).flatMap { ["makes \($0)", "gets \($0)"] }
    return Scenario(
      "Learning coobjc, testForRandomGenerator",
      expected: lines + ["made 10"]
    ) { play in
      let array = ["apple", "banana", "orange", "pear"]
      var made = 0
      let generator = co_sequence(String.self) {
        while co_isActive {
          let result = array[Int.random(in: array.indices)]
          made += 1
          play.log("makes \(made)")
          try yield { result }
        }
      }
      let reader = co_launch {
        for i in 1...10 {
          let whatIsThis = try generator.next()
          play.log(array.contains(whatIsThis) ? "gets \(i)" : "gets something else")
        }
        if cancels { generator.cancel() }
      }
      play.finish(after: reader) {
        play.log("made \(made)")
        withExtendedLifetime(generator) {}
      }
    }
  }

  static let cancelled = random(cancels: true)
  static let notCancelled = random(cancels: false)

  @Test func `a generator makes ten values for ten calls, one at a time`() {
    check(Self.cancelled)
  }

  @Test func `without the cancel it does not make one more`() {
    check(Self.notCancelled)
  }

  // "Only when it is asked from outside": no code of the body runs before the first next.
  @Test func `nothing of a generator runs before it is asked`() throws {
    let log = Log()
    try inCoroutine {
      let generator = co_sequence(Int.self) {
        log("begins")
        try yield { 1 }
        log("goes on")
      }
      try co_delay(0)
      log("asks")
      log("\(try generator.next())")
      try co_delay(0)
      log("asks no more")
    }
    #expect(log.entries == ["asks", "begins", "1", "asks no more"])
  }
}
