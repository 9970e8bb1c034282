// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Dispatch

extension OrderingScenario {
  /// All of them.
  package static let all =
    launching + starting + queueing + handingOver + draining + posting + serving

  // MARK: - 1. Launching never runs the body; launch order is start order

  private static let launching = [
    Self(
      rule: 1,
      "bodies run after the launching code, in launch order",
      expected: ["before", "after", "1", "2", "3"]
    ) { stage in
      stage.log("before")
      launch { stage.log("1") }
      launch { stage.log("2") }
      launch {
        stage.log("3")
        stage.finish()
      }
      stage.log("after")
    },
    Self(
      rule: 1,
      "a coroutine's own launches come after those that were there before",
      expected: ["A launches", "A ends", "B", "child of A"]
    ) { stage in
      launch {
        stage.log("A launches")
        launch {
          stage.log("child of A")
          stage.finish()
        }
        stage.log("A ends")
      }
      launch { stage.log("B") }
    },
  ]

  // MARK: - 2. An immediate start runs the body up to where it first parks

  private static let starting = [
    Self(
      rule: 2,
      "an immediate start overtakes the launches before it",
      expected: ["now", "launching code", "coroutine 1", "coroutine 2"]
    ) { stage in
      launch { stage.log("coroutine 1") }
      launch(start: .immediately) { stage.log("now") }
      launch {
        stage.log("coroutine 2")
        stage.finish()
      }
      stage.log("launching code")
    },
    Self(
      rule: 2,
      "the launching code goes on where the started body parks",
      expected: ["started", "launching code", "goes on"]
    ) { stage in
      launch(start: .immediately) {
        stage.log("started")
        try Coroutine.yield()
        stage.log("goes on")
        stage.finish()
      }
      stage.log("launching code")
    },
    Self(
      rule: 2,
      "immediate starts nest",
      expected: ["outer", "inner", "outer again", "launching code", "inner again"]
    ) { stage in
      launch(start: .immediately) {
        stage.log("outer")
        launch(start: .immediately) {
          stage.log("inner")
          try Coroutine.yield()
          stage.log("inner again")
          stage.finish()
        }
        stage.log("outer again")
      }
      stage.log("launching code")
    },
  ]

  // MARK: - 3. First ready, first run; a coroutine runs until it parks or ends

  private static let queueing = [
    Self(
      rule: 3,
      "those who yield take turns",
      expected: ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]
    ) { stage in
      for name in ["a", "b", "c"] {
        launch {
          for round in 1...3 {
            stage.log("\(name)\(round)")
            try Coroutine.yield()
          }
          if name == "c" { stage.finish() }
        }
      }
    },
    Self(
      rule: 3,
      "yielding lets a coroutine run that was launched before",
      expected: ["launches", "launched", "goes on"]
    ) { stage in
      launch {
        launch { stage.log("launched") }
        stage.log("launches")
        try Coroutine.yield()
        stage.log("goes on")
        stage.finish()
      }
    },
  ]

  // MARK: - 4. Who completes a wait keeps running; who waited goes to the end of the line

  private static let handingOver = [
    Self(
      rule: 4,
      "the opener of a gate goes on before those it lets through",
      expected: ["B waits", "A opens", "A goes on", "B goes on", "end"]
    ) { stage in
      let gate = Gate()
      launch {
        stage.log("B waits")
        try gate.wait()
        stage.log("B goes on")
      }
      launch {
        stage.log("A opens")
        gate.open()
        stage.log("A goes on")
        try Coroutine.yield()
        stage.log("end")
        stage.finish()
      }
    },
    Self(
      rule: 4,
      "a joiner runs after the coroutine that it joined has ended",
      expected: ["child", "joiner joins", "child ends", "joiner goes on"]
    ) { stage in
      let child = launch {
        stage.log("child")
        try Coroutine.yield()
        stage.log("child ends")
      }
      launch {
        stage.log("joiner joins")
        try child.join()
        stage.log("joiner goes on")
        stage.finish()
      }
    },
    Self(
      rule: 4,
      "who cancels goes on before the cancelled one unwinds",
      expected: ["B waits", "A cancels", "A goes on", "B unwinds"]
    ) { stage in
      let gate = Gate()
      let waiting = launch {
        defer {
          stage.log("B unwinds")
          stage.finish()
        }
        stage.log("B waits")
        try gate.wait()
      }
      launch {
        stage.log("A cancels")
        waiting.cancel()
        stage.log("A goes on")
      }
    },
  ]

  // MARK: - 5. A block of a queue returns when nothing that it made ready is left

  private static let draining = [
    Self(
      rule: 5,
      "the next block sees all that the last one woke",
      expected: ["A", "B", "C", "next block"],
      needsQueue: true
    ) { stage in
      let first = Gate()
      let second = Gate()
      launch {
        try first.wait()
        stage.log("B")
        second.open()
      }
      launch {
        try second.wait()
        stage.log("C")
      }
      launch {
        stage.log("A")
        first.open()
      }
      stage.perform?({
        stage.log("next block")
        stage.finish()
      })
    }
  ]

  // MARK: - 6. A wake-up from elsewhere is posted; it never runs anything on the waker's thread

  private static let posting = [
    Self(
      rule: 6,
      "a wake-up from another thread waits for the scheduler's turn",
      expected: ["B waits", "woken elsewhere", "A parks", "B goes on"]
    ) { stage in
      let gate = Gate()
      launch {
        stage.log("B waits")
        try gate.wait()
        stage.log("B goes on")
        stage.finish()
      }
      launch {
        let woken = DispatchSemaphore(value: 0)
        startKernelThread(named: "waker") {
          gate.open()
          stage.log("woken elsewhere")
          woken.signal()
        }
        // Holds the scheduler's turn until the waker is through.
        woken.wait()
        stage.log("A parks")
      }
    }
  ]

  // MARK: - 7. Those who wait for one thing are served in the order of their coming

  private static let serving = [
    Self(
      rule: 7,
      "waiters go on in the order in which they came",
      expected: ["1", "2", "3", "4", "5", "all"]
    ) { stage in
      let gate = Gate()
      for number in 1...5 {
        launch {
          try gate.wait()
          stage.log("\(number)")
        }
      }
      launch {
        for _ in 1...5 { gate.openForOne() }
        try Coroutine.yield()
        stage.log("all")
        stage.finish()
      }
    },
    Self(
      rule: 7,
      "joiners go on in the order in which they came",
      expected: ["end", "1", "2", "3", "4"]
    ) { stage in
      let gate = Gate()
      let joined = launch {
        try gate.wait()
        stage.log("end")
      }
      for number in 1...4 {
        launch {
          try joined.join()
          stage.log("\(number)")
          if number == 4 { stage.finish() }
        }
      }
      launch { gate.open() }
    },
  ]
}
