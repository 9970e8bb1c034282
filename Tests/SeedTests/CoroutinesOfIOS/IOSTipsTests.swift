// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Testing
import coswift

/// "Coroutines of iOS", section "Other tips about coobjc".
@Suite(.timeLimit(.minutes(30))) struct IOSTipsTests {
  // "Can be cancelled". The body does not begin (C4).
  static let cancelled = Scenario(
    "Coroutines of iOS, can be cancelled",
    expected: ["cancelled", "finished"]
  ) { play in
    let coroutine = co_launch {
      try co_delay(0.002)
      if co_isCancelled { return }
      play.log("works")
    }
    coroutine.cancel()
    play.log("cancelled")
    play.finish(after: coroutine) { play.log("finished") }
  }

  @Test func `a coroutine that is cancelled right away does not do its work`() {
    check(Self.cancelled)
  }

  // The same, for one that waits already: the delay throws, where coobjc's returned early.
  static let cancelledLater = Scenario(
    "Coroutines of iOS, can be cancelled while it waits",
    expected: ["waits", "cancelled", "threw coroutineCancelled"]
  ) { play in
    let coroutine = co_launch {
      play.log("waits")
      do {
        try co_delay(60)
      } catch {
        play.log("threw \(error)")
        throw error
      }
      play.log("works")
    }
    co_launch {
      coroutine.cancel()
      play.log("cancelled")
    }
    play.finish(after: coroutine)
  }

  @Test func `a coroutine that is cancelled while it waits does not wait on`() {
    check(Self.cancelledLater)
  }

  // "Can be suspended"
  static let suspended = Scenario(
    "Coroutines of iOS, can be suspended",
    expected: ["the other one waits, and this one runs", "waited"]
  ) { play in
    let first = co_launch {
      try co_delay(0.02)
      play.log("waited")
    }
    co_launch { play.log("the other one waits, and this one runs") }
    play.finish(after: first)
  }

  @Test func `a coroutine that waits does not hold up the others of its thread`() {
    check(Self.suspended)
  }

  // "Tuples for Objective-C code"
  @Test func `a tuple of anything, nil included, is unpacked into variables`() {
    let tuple = co_tuple(nil, "1", 2, [1, 2], ["key": "value"])
    #expect(tuple[3] as? [Int] == [1, 2])

    var nonValue: Any?
    var stringValue: String?
    var numberValue: Int?
    var arrayValue: [Int]?
    var dictValue: [String: String]?
    co_unpack(&nonValue, &stringValue, &numberValue, &arrayValue, &dictValue, from: tuple)
    #expect(nonValue == nil)
    #expect(stringValue == "1")
    #expect(numberValue == 2)
    #expect(arrayValue == [1, 2])
    #expect(dictValue == ["key": "value"])
  }
}
