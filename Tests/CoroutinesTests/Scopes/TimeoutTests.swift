// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct TimeoutTests {
  @Test(arguments: Place.allCases)
  func `work that is done in time returns its value`(_ place: Place) throws {
    let value = try place.run {
      try withTimeout(.seconds(1000)) {
        try Coroutine.yield()
        return 4
      }
    }
    #expect(value == 4)
  }

  @Test(arguments: Place.allCases)
  func `work that takes too long is cancelled, unwinds, and a TimeoutError follows`(
    _ place: Place
  ) throws {
    let log = Log()
    try place.run {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(2)) {
          defer { log("unwinds") }
          do {
            try waitForEver()
          } catch {
            log("\(error is CancellationError)")
            throw error
          }
        }
      }
      log("goes on")
      // The coroutine itself is not cancelled.
      try Coroutine.yield()
      #expect(!Coroutine.isCancelled)
    }
    #expect(log.entries == ["true", "unwinds", "goes on"])
  }

  @Test func `the error says what was allowed, and where`() throws {
    let error = try runBlocking {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) { try waitForEver() }
      }
    }
    #expect(error?.limit == .milliseconds(1))
    #expect(error?.site.hasPrefix("CoroutinesTests/TimeoutTests.swift:") == true)
    #expect(error?.description.contains("Allow more time") == true)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(Int64.min)])
  func `a limit of nothing is over at the first park point`(_ limit: Duration) throws {
    try runBlocking {
      let log = Log()
      #expect(throws: TimeoutError.self) {
        try withTimeout(limit) {
          log("runs")
          try Coroutine.yield()
          log("not reached")
        }
      }
      #expect(log.entries == ["runs"])
      // One that never parks is not interrupted.
      let value = try withTimeout(limit) { 3 }
      #expect(value == 3)
    }
  }

  @Test func `an endless limit never ends the work`() throws {
    try runBlocking {
      let value = try withTimeout(.seconds(Int64.max)) {
        try Coroutine.sleep(for: .milliseconds(1))
        return 1
      }
      #expect(value == 1)
    }
  }

  @Test func `the work's own errors pass through, cancellation of its own too`() throws {
    try runBlocking {
      #expect(throws: Problem(1)) { try withTimeout(.seconds(100)) { throw Problem(1) } }
      #expect(throws: CancellationError.self) {
        try withTimeout(.seconds(100)) { throw CancellationError() }
      }
    }
  }

  @Test func `a value that comes in spite of the timeout is returned`() throws {
    try runBlocking {
      let value = try withTimeout(.milliseconds(1)) {
        try? waitForEver()
        return 6
      }
      #expect(value == 6)
    }
  }

  @Test(arguments: Place.allCases)
  func `of nested limits the nearest ends the work, and its withTimeout throws (rule 8)`(
    _ place: Place
  ) throws {
    let log = Log()
    try place.run {
      // The outer one is nearer.
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(2)) {
          let inner = Ending { try withTimeout(.seconds(1000)) { try waitForEver() } }
          log("\(inner)")
          try Coroutine.checkCancellation()
        }
      }
      // The inner one is nearer, and the outer work goes on.
      let value = try withTimeout(.seconds(1000)) {
        let inner = Ending { try withTimeout(.milliseconds(2)) { try waitForEver() } }
        log("\(inner)")
        try Coroutine.yield()
        return 5
      }
      #expect(value == 5)
    }
    #expect(log.entries == ["cancelled", "timedOut"])
  }

  @Test func `two limits that are over at the same time throw once, from the outer one`() throws {
    try runBlocking {
      let log = Log()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.zero) {
          log("\(Ending { try withTimeout(.zero) { try Coroutine.yield() } })")
          try Coroutine.yield()
        }
      }
      #expect(log.entries == ["cancelled"])
    }
  }

  @Test(arguments: Place.allCases)
  func `cancelling the coroutine is not a timeout`(_ place: Place) throws {
    let ending = try place.run {
      let ending = Cell<Ending>()
      let coroutine = launch {
        ending.value = Ending { try withTimeout(.seconds(1000)) { try waitForEver() } }
      }
      try Coroutine.yield()
      try coroutine.cancelAndJoin()
      return ending.value
    }
    #expect(ending == .cancelled)
  }

  @Test(arguments: Place.allCases)
  func `children launched in the work are cancelled with it (rule 8)`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let children = Cell<[Coroutine]>()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(2)) {
          children.value = [
            launch { try waitForEver() },
            launch(on: SerialScheduler()) { try waitForEver() },
            launch(on: DispatchQueue(label: "test")) { try waitForEver() },
          ]
          try waitForEver()
        }
      }
      for child in children.value ?? [] {
        try child.join()
        if child.error is CancellationError { log("cancelled") }
      }
    }
    #expect(log.entries.count == 3)
  }

  @Test func `children launched before the work are not`() throws {
    try runBlocking {
      let gate = Gate()
      let child = launch { try gate.wait() }
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) { try waitForEver() }
      }
      #expect(!child.isCancelled)
      gate.open()
      try child.value()
    }
  }

  @Test(arguments: Place.allCases)
  func `thousands of limits one after another leave no timer behind`(_ place: Place) throws {
    try place.run {
      for index in 0..<3_000 {
        let value = try withTimeout(.seconds(1000)) { index }
        if value != index { throw Problem(value) }
      }
    }
  }

  @Test(arguments: Place.allCases)
  func `a wait that ends as the limit does ends one way or the other`(_ place: Place) throws {
    let endings = try place.run {
      try (0..<100).map { index in
        let gate = Gate()
        launch {
          try Coroutine.sleep(for: .microseconds(index))
          gate.open()
        }
        let ending = Ending { try withTimeout(.microseconds(index)) { try gate.wait() } }
        try Coroutine.yield()
        return ending
      }
    }
    #expect(endings.allSatisfy { $0 == .returned || $0 == .timedOut })
  }
}
