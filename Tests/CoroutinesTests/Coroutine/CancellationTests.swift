// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct CancellationTests {
  @Test(arguments: Place.allCases)
  func `a cancelled sleeper wakes at once`(_ place: Place) throws {
    let clock = ContinuousClock()
    let elapsed = try clock.measure {
      try place.run {
        let sleeper = launch { try Coroutine.sleep(for: .seconds(1000)) }
        try Coroutine.yield()
        #expect(sleeper.state == .suspended)
        try sleeper.cancelAndJoin()
        #expect(sleeper.error is CancellationError)
      }
    }
    #expect(elapsed < .seconds(50))
  }

  @Test(arguments: Place.allCases)
  func `cancelled before its start, the body never runs`(_ place: Place) throws {
    let runs = Counter()
    try place.run {
      let coroutine = launch { runs.add() }
      coroutine.cancel()
      try coroutine.join()
      #expect(coroutine.error is CancellationError)
    }
    #expect(runs.value == 0)
  }

  @Test(arguments: Place.allCases)
  func `running code is cancelled at its next park point and not before (rule 2)`(
    _ place: Place
  ) throws {
    let log = Log()
    try place.run {
      let coroutine = launch {
        defer { log("unwinds") }
        Coroutine.current?.cancel()
        log("goes on")
        try Coroutine.yield()
        log("not reached")
      }
      try coroutine.join()
    }
    #expect(log.entries == ["goes on", "unwinds"])
  }

  @Test(arguments: Place.allCases)
  func `a body that never parks runs to its end`(_ place: Place) throws {
    let value = try place.run {
      let coroutine = launch {
        Coroutine.current?.cancel()
        return Coroutine.isCancelled ? "cancelled" : "not cancelled"
      }
      let value = try coroutine.value()
      #expect(coroutine.isCancelled)
      return value
    }
    #expect(value == "cancelled")
  }

  @Test(arguments: Place.allCases)
  func `every park point refuses cancelled code (rule 2)`(_ place: Place) throws {
    let endings = try place.run {
      let finished = launch { 1 }
      let unfinished = launch { try waitForEver() }
      try Coroutine.yield()
      let coroutine = launch {
        Coroutine.current?.cancel()
        return [
          Ending { try Coroutine.yield() },
          Ending { try Coroutine.sleep(for: .zero) },
          Ending { try Coroutine.sleep(for: .seconds(100)) },
          Ending { try Coroutine.sleep(until: CoroutineClock().now) },
          Ending { try Coroutine.sleep(until: CoroutineClock().now.advanced(by: .seconds(100))) },
          Ending { try finished.join() },
          Ending { _ = try finished.value() },
          Ending { try unfinished.join() },
          Ending { try Coroutine.checkCancellation() },
          Ending { try Gate().wait() },
          Ending { try runBlocking { try Coroutine.yield() } },
        ]
      }
      defer { unfinished.cancel() }
      return try coroutine.value()
    }
    #expect(endings.allSatisfy { $0 == .cancelled }, "\(endings)")
  }

  @Test(arguments: Place.allCases)
  func `cancelling twice, or after the end, has no effect`(_ place: Place) throws {
    let unwinds = Counter()
    try place.run {
      let waiting = launch {
        defer { unwinds.add() }
        try waitForEver()
      }
      try Coroutine.yield()
      waiting.cancel()
      waiting.cancel()
      try waiting.join()
      waiting.cancel()
      let ended = launch { 3 }
      try ended.join()
      ended.cancel()
      #expect(!ended.isCancelled)
      #expect(try ended.value() == 3)
    }
    #expect(unwinds.value == 1)
  }

  @Test func `checking for cancellation does not throw outside a coroutine`() throws {
    try Coroutine.checkCancellation()
    #expect(!Coroutine.isCancelled)
  }

  private final class Canary: Sendable {
    let deaths: Counter
    init(_ deaths: Counter) { self.deaths = deaths }
    deinit { deaths.add() }
  }

  @Test(arguments: Place.allCases)
  func `objects held by a cancelled body are released`(_ place: Place) throws {
    let deaths = Counter()
    try place.run {
      let coroutine = launch {
        let local = Canary(deaths)
        let captured = { withExtendedLifetime(local) {} }
        try waitForEver()
        captured()
      }
      try Coroutine.yield()
      try coroutine.cancelAndJoin()
    }
    #expect(deaths.value == 1)
  }

  @Test(arguments: Place.allCases)
  func `a coroutine may catch its cancellation and return`(_ place: Place) throws {
    let value = try place.run {
      let coroutine = launch {
        do {
          try waitForEver()
          return "woken"
        } catch {
          return "caught"
        }
      }
      try Coroutine.yield()
      coroutine.cancel()
      return try coroutine.value()
    }
    #expect(value == "caught")
  }

  @Test func `a wait that ended before the cancellation keeps its outcome (rule 3)`() throws {
    try runBlocking {
      let gate = Gate()
      let log = Log()
      let coroutine = launch {
        try gate.wait()
        log("went through")
        try Coroutine.yield()
        log("not reached")
      }
      try Coroutine.yield()
      gate.open()
      coroutine.cancel()
      try coroutine.join()
      #expect(log.entries == ["went through"])
      #expect(coroutine.error is CancellationError)
    }
  }

  @Test func `a cancelled wait leaves the gate to the others (rule 3)`() throws {
    try runBlocking {
      let gate = Gate()
      let log = Log()
      let coroutines = (1...3).map { number in
        launch {
          try gate.wait()
          log("\(number)")
        }
      }
      try Coroutine.yield()
      coroutines[1].cancel()
      #expect(gate.openForOne())
      #expect(gate.openForOne())
      #expect(!gate.openForOne())
      for coroutine in coroutines { try coroutine.join() }
      #expect(log.entries == ["1", "3"])
    }
  }

  @Test func `cancelling from plain threads ends every wait exactly once`() throws {
    let unwinds = Counter()
    try runBlocking {
      for scheduler in [SerialScheduler(), .queue(DispatchQueue(label: "test"))] {
        let waiting = (0..<500).map { _ in
          launch(on: scheduler) {
            defer { unwinds.add() }
            try waitForEver()
          }
        }
        // Started, so that each has its `defer`.
        try launch(on: scheduler) {}.join()
        onPlainThread { for coroutine in waiting { coroutine.cancel() } }
        for coroutine in waiting { try coroutine.join() }
        #expect(waiting.allSatisfy { $0.error is CancellationError })
      }
    }
    #expect(unwinds.value == 1000)
  }
}
