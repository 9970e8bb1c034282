// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

let testingMessages = Chapter(
  title: "Tests: time, deadlocks, leaks",
  messages: [
    .thrown(
      "a deadlock in a test",
      "nothing can wake them",
      at: "\"A\" (suspended), launched at",
      do: "take several locks in the same order"
    ) {
      try TestScheduler().run {
        let (left, right) = (CoroutineMutex(), CoroutineMutex())
        for (name, first, second) in [("A", left, right), ("B", right, left)] {
          launch(name: name) {
            try first.withLock {
              try Coroutine.yield()
              try second.withLock {}
            }
          }
        }
      }
    },
    .thrown(
      "a wait in a test that nobody ends",
      "1 coroutine waits, and nothing can wake them",
      at: "Channel.receive() on channel \"jobs\" made at",
      do: "Give each wait somebody who ends it"
    ) {
      try TestScheduler().run { _ = try Channel<Int>(name: "jobs").receive() }
    },
    .thrown(
      "something left at the end of a leak check",
      "Left at the end",
      at: "on channel \"jobs\" made at",
      do: "Cancel and join"
    ) {
      try runBlocking {
        let jobs = Channel<Int>(name: "jobs")
        defer { jobs.close() }
        var kept: Generator<Int>?
        try withLeakCheck {
          let numbers = Generator<Int> { yield in for number in 0... { try yield(number) } }
          _ = numbers.next()
          kept = numbers
          launch(name: "worker") { for _ in jobs {} }
          try Coroutine.yield()
        }
        kept?.cancel()
      }
    },
    .stop(
      "a test run inside a coroutine",
      "was to be run inside a coroutine",
      at: "A TestScheduler",
      do: "Run it from the test itself"
    ) {
      try runBlocking { try TestScheduler().run {} }
    },
    .stop("virtual time set back", "set back by -1.0 seconds", at: "Time", do: "only goes forward")
    {
      TestScheduler().advance(by: .seconds(-1))
    },
    .stop(
      "a test clock set back by a time",
      "set back by 1.0 seconds",
      at: "TestClock.advance(by:)",
      do: "only goes forward"
    ) {
      TestClock().advance(by: .seconds(-1))
    },
    .stop(
      "a test clock set back to a moment",
      "set back to 1.0 seconds",
      at: "TestClock.advance(to:): the clock shows 2.0 seconds",
      do: "only goes forward"
    ) {
      let clock = TestClock()
      clock.advance(by: .seconds(2))
      clock.advance(to: TestClock.Instant(elapsed: .seconds(1)))
    },
    .stop(
      "a clock moved that follows a scheduler",
      "follows a TestScheduler",
      at: "TestClock.advance(by:)",
      do: "Move that one"
    ) {
      TestClock(following: TestScheduler()).advance(by: .seconds(1))
    },
    .stop(
      "a step before the first",
      "Step -1 of a sequencer",
      at: "a sequencer",
      do: "they begin with 0"
    ) {
      try runBlocking { try Sequencer().step(-1) }
    },
    .stop(
      "a step passed twice",
      "was passed twice",
      at: "Step 0 of a sequencer",
      do: "Give each place a number of its own"
    ) {
      try runBlocking {
        let sequencer = Sequencer()
        for _ in 1...2 { try sequencer.step(0) }
      }
    },
  ]
)
