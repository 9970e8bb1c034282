// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Timers beside coroutines that compute, and yield now and then.
@Suite(.timeLimit(.minutes(30))) struct LongTurnTests {
  /// Computes for so long.
  private static func compute(for duration: Duration) {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end {}
  }

  /// How often a coroutine that computes yields until a timer of ten milliseconds has fired.
  private static func yieldsUntilTimer() throws -> Int {
    var isOver = false
    launch {
      try Coroutine.sleep(for: .milliseconds(10))
      isOver = true
    }
    var yields = 0
    while !isOver {
      compute(for: .milliseconds(5))
      try Coroutine.yield()
      yields += 1
    }
    return yields
  }

  // Two turns until it is due, and four yields until the loop looks at the clock; more than 900 without that.

  @Test func `a timer of an event loop fires within a few yields of long turns`() throws {
    #expect(try runBlocking { try Self.yieldsUntilTimer() } <= 16)
  }

  @Test func `a timer of a pool's loop fires within a few yields of long turns`() throws {
    let pool = PoolScheduler(threads: 1)
    try withExtendedLifetime(pool) {
      let yields = try runBlocking {
        try launch(on: pool) { try LongTurnTests.yieldsUntilTimer() }.value()
      }
      #expect(yields <= 16)
    }
  }

  @Test func `a limit ends a loop that yields`() throws {
    try runBlocking {
      var yields = 0
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(20)) {
          while true {
            Self.compute(for: .milliseconds(5))
            try Coroutine.yield()
            yields += 1
          }
        }
      }
      #expect(yields <= 16)
    }
  }

  @Test func `a timer fires among coroutines that compute between their messages`() throws {
    try runBlocking {
      let (there, back) = (Channel<Int>(), Channel<Int>())
      var isOver = false
      launch {
        try Coroutine.sleep(for: .milliseconds(10))
        isOver = true
      }
      launch {
        for value in there {
          Self.compute(for: .milliseconds(2))
          try back.send(value)
        }
      }
      var rounds = 0
      while !isOver {
        try there.send(rounds)
        _ = try back.receive()
        rounds += 1
      }
      there.close()
      // A hundred direct switches, until the loop finds out that turns are long.
      #expect(rounds <= 100)
    }
  }
}
