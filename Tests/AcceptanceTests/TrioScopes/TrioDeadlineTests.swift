// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Deadlines and timeouts, alone and one in the other.
@Suite(.timeLimit(.minutes(30))) struct TrioDeadlineTests {
  /// The forms of a limit.
  enum Limit: String, CaseIterable, Sendable {
    case timeout
    case deadline

    func callAsFunction<Result>(_ limit: Duration, _ body: () throws -> Result) throws -> Result {
      switch self {
      case .timeout: try withTimeout(limit, body)
      case .deadline: try withDeadline(CoroutineClock().now.advanced(by: limit), body)
      }
    }
  }

  // MARK: - One limit

  @Test(arguments: Limit.allCases)
  func `a limit that is met ends what sleeps for ever, when it is met`(_ limit: Limit) throws {
    let elapsed = try inTrioTime {
      #expect(throws: TimeoutError.self) { try limit(.seconds(3)) { try trioSleepForever() } }
    }
    #expect(elapsed == .seconds(3))
  }

  @Test(arguments: Limit.allCases)
  func `a limit that is met ends a sleep that is longer`(_ limit: Limit) throws {
    let elapsed = try inTrioTime {
      #expect(throws: TimeoutError.self) {
        try limit(.seconds(1)) { try Coroutine.sleep(for: .seconds(100)) }
      }
    }
    #expect(elapsed == .seconds(1))
  }

  @Test(arguments: Limit.allCases)
  func `work that is done in time returns its value, and is not told later`(_ limit: Limit) throws {
    try inTrioTime {
      let value = try limit(.seconds(1)) {
        try Coroutine.sleep(for: .milliseconds(999))
        return 7
      }
      #expect(value == 7)
      try Coroutine.sleep(for: .seconds(10))
      #expect(!Coroutine.isCancelled)
    }
  }

  @Test(arguments: Limit.allCases)
  func `work that does not wait is done in time`(_ limit: Limit) throws {
    let elapsed = try inTrioTime {
      try #expect(limit(.seconds(100)) { 7 } == 7)
      try limit(.seconds(100)) { try Coroutine.yield() }
    }
    #expect(elapsed == .zero)
  }

  @Test(arguments: TrioCheckpoint.allCases)
  func `a limit that is over is noticed at the first checkpoint`(_ checkpoint: TrioCheckpoint)
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      for limit in Limit.allCases {
        #expect(throws: TimeoutError.self) {
          try limit(.zero) {
            notes.add("entered")
            try checkpoint.pass()
            notes.add("not reached")
          }
        }
      }
      #expect(notes.entries == ["entered", "entered"])
    }
  }

  @Test(arguments: TrioCheckpoint.allCases)
  func `a limit that passes while the code does not look is noticed at the next checkpoint`(
    _ checkpoint: TrioCheckpoint
  ) throws {
    try inTrioTime {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.seconds(5)) {
          try checkpoint.pass()
          try withCancellationShield { try Coroutine.sleep(for: .seconds(10)) }
          try checkpoint.pass()
        }
      }
    }
  }

  @Test func `a limit that is met throws at each checkpoint`() throws {
    try inTrioTime {
      let isOver = try trioMoveOn(after: .seconds(1)) {
        for _ in 0..<3 { #expect(throws: CancellationError.self) { try trioSleepForever() } }
        try trioSleepForever()
      }
      #expect(isOver)
    }
  }

  @Test(arguments: Limit.allCases)
  func `the body's own error passes through a limit that is met`(_ limit: Limit) throws {
    try inTrioTime {
      #expect(throws: TrioError("own")) {
        try limit(.seconds(1)) {
          do { try trioSleepForever() } catch { throw TrioError("own") }
        }
      }
    }
  }

  @Test(arguments: Limit.allCases)
  func `a body that handles the end of its time has its value returned`(_ limit: Limit) throws {
    try inTrioTime {
      let value = try limit(.seconds(1)) {
        do {
          try trioSleepForever()
          return "slept"
        } catch { return "handled" }
      }
      #expect(value == "handled")
      try Coroutine.yield()
    }
  }

  @Test func `moving on is no error`() throws {
    let elapsed = try inTrioTime {
      try #expect(trioMoveOn(after: .seconds(2)) { try trioSleepForever() })
      try #expect(!trioMoveOn(after: .seconds(2)) { try Coroutine.sleep(for: .seconds(1)) })
      try Coroutine.yield()
    }
    #expect(elapsed == .seconds(3))
  }

  @Test func `a time to wait is counted from where the limit is entered`() throws {
    try inTrioTime {
      func limited() throws { try withTimeout(.seconds(5)) { try trioSleepForever() } }
      try Coroutine.sleep(for: .seconds(3))
      let time = try trioTime { #expect(throws: TimeoutError.self) { try limited() } }
      #expect(time == .seconds(5))
    }
  }

  @Test func `a moment is the same wherever the limit is entered`() throws {
    try inTrioTime {
      let deadline = CoroutineClock().now.advanced(by: .seconds(5))
      try Coroutine.sleep(for: .seconds(3))
      let time = try trioTime {
        #expect(throws: TimeoutError.self) { try withDeadline(deadline) { try trioSleepForever() } }
      }
      #expect(time == .seconds(2))
    }
  }

  @Test(arguments: Limit.allCases)
  func `a limit of less than nothing is over, and no misuse`(_ limit: Limit) throws {
    let elapsed = try inTrioTime {
      #expect(throws: TimeoutError.self) { try limit(.seconds(-1)) { try trioSleepForever() } }
    }
    #expect(elapsed == .zero)
  }

  @Test(arguments: Limit.allCases)
  func `a limit as far as the clock goes is none`(_ limit: Limit) throws {
    let elapsed = try inTrioTime {
      try limit(.seconds(Int64.max)) { try Coroutine.sleep(for: .seconds(1_000_000)) }
    }
    #expect(elapsed == .seconds(1_000_000))
  }

  // MARK: - Several limits

  @Test(arguments: [(5, 10), (5, 3), (3, 3), (1, 100)])
  func `of two limits the nearer ends the wait, and is the one that throws`(
    _ outer: Int,
    _ inner: Int
  ) throws {
    let elapsed = try inTrioTime {
      var innerEnded: Bool?
      let outerEnded = try trioMoveOn(after: .seconds(outer)) {
        innerEnded = try trioMoveOn(after: .milliseconds(inner * 1_000)) { try trioSleepForever() }
      }
      // When both are over at once, the outer one is what ends both.
      #expect(innerEnded == (inner < outer ? true : nil))
      #expect(outerEnded == (inner >= outer))
    }
    #expect(elapsed == .seconds(min(outer, inner)))
  }

  @Test func `after an inner limit the outer one goes on as it was`() throws {
    let elapsed = try inTrioTime {
      let isOver = try trioMoveOn(after: .seconds(5)) {
        for _ in 0..<2 { try trioMoveOn(after: .seconds(2)) { try trioSleepForever() } }
        try trioSleepForever()
      }
      #expect(isOver)
    }
    #expect(elapsed == .seconds(5))
  }

  @Test func `thousands of limits at one moment throw once, from the outermost`() throws {
    let elapsed = try inTrioTime {
      let deep = launch(stackSize: .bytes(64 << 20)) {
        let deadline = CoroutineClock().now.advanced(by: .seconds(9))
        var thrown = 0
        func nest(_ depth: Int) throws {
          guard depth > 0 else { return try trioSleepForever() }
          do {
            try withDeadline(deadline) { try nest(depth - 1) }
          } catch let error as TimeoutError {
            thrown += 1
            throw error
          }
        }
        #expect(throws: TimeoutError.self) { try nest(2_000) }
        #expect(thrown == 1)
      }
      try deep.value()
    }
    #expect(elapsed == .seconds(9))
  }

  @Test func `thousands of limits one after the other leave nothing behind`() throws {
    let elapsed = try inTrioTime {
      let deadline = CoroutineClock().now.advanced(by: .seconds(9_999))
      for _ in 0..<5_000 { try withDeadline(deadline) { try Coroutine.yield() } }
      try Coroutine.sleep(for: .milliseconds(10))
    }
    // A timer that was left would have been waited for.
    #expect(elapsed == .milliseconds(10))
  }

  // MARK: - Limits and shields

  @Test(arguments: Limit.allCases)
  func `a limit in a shield ends its body, though the code around is cancelled`(_ limit: Limit)
    throws
  {
    let elapsed = try inTrioTime {
      let isCaught = try trioScope { outer in
        outer.cancel()
        try withCancellationShield {
          #expect(throws: TimeoutError.self) { try limit(.seconds(1)) { try trioSleepForever() } }
          try Coroutine.yield()
        }
        try Coroutine.yield()
      }
      #expect(isCaught)
    }
    #expect(elapsed == .seconds(1))
  }

  @Test func `an outer limit that is met during a shield ends the code after it`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      let isOver = try trioMoveOn(after: .seconds(5)) {
        let isInnerOver = try withCancellationShield {
          try trioMoveOn(after: .seconds(10)) { try trioSleepForever() }
        }
        notes.add("inner: \(isInnerOver)")
        try Coroutine.yield()
        notes.add("not reached")
      }
      #expect(isOver)
      #expect(notes.entries == ["inner: true"])
    }
    #expect(elapsed == .seconds(10))
  }

  @Test func `a shield that is left in time leaves the limit as it was`() throws {
    let elapsed = try inTrioTime {
      let isOver = try trioMoveOn(after: .seconds(5)) {
        try withCancellationShield { try Coroutine.sleep(for: .seconds(4)) }
        try trioSleepForever()
      }
      #expect(isOver)
    }
    #expect(elapsed == .seconds(5))
  }

  @Test func `a limit whose code was cancelled from outside before is not what throws`() throws {
    try inTrioTime {
      let isCaught = try trioScope { outer in
        launch {
          try Coroutine.sleep(for: .seconds(1))
          outer.cancel()
        }
        try withTimeout(.seconds(5)) {
          do { try trioSleepForever() } catch {
            // Past the limit, too, by the time it is left.
            try withCancellationShield { try Coroutine.sleep(for: .seconds(10)) }
            throw error
          }
        }
      }
      #expect(isCaught)
    }
  }

  // MARK: - Deadlines that move

  @Test func `a deadline that is moved away in time is not met`() throws {
    let elapsed = try inTrioTime {
      let start = CoroutineClock().now
      let isOver = try TrioDeadline.with(start.advanced(by: .seconds(2))) { deadline in
        for seconds in 1...5 {
          try Coroutine.sleep(for: .seconds(1))
          deadline.move(to: start.advanced(by: .seconds(seconds + 2)))
        }
      }
      #expect(!isOver)
    }
    #expect(elapsed == .seconds(5))
  }

  @Test func `a deadline that is moved nearer is met there`() throws {
    let elapsed = try inTrioTime {
      let start = CoroutineClock().now
      let isOver = try TrioDeadline.with(start.advanced(by: .seconds(100))) { deadline in
        try Coroutine.sleep(for: .seconds(1))
        deadline.move(to: start.advanced(by: .seconds(3)))
        try trioSleepForever()
      }
      #expect(isOver)
    }
    #expect(elapsed == .seconds(3))
  }

  @Test func `a deadline that is moved to a moment that has passed ends the next checkpoint`()
    throws
  {
    try inTrioTime {
      let start = CoroutineClock().now
      let isOver = try TrioDeadline.with(nil) { deadline in
        try Coroutine.sleep(for: .seconds(5))
        deadline.move(to: start.advanced(by: .seconds(1)))
        #expect(throws: CancellationError.self) { try waitUntilTrioTasksBlock() }
        try Coroutine.yield()
      }
      #expect(isOver)
    }
  }

  @Test func `a deadline that is taken away is never met`() throws {
    let elapsed = try inTrioTime {
      let start = CoroutineClock().now
      let isOver = try TrioDeadline.with(start.advanced(by: .seconds(2))) { deadline in
        deadline.move(to: nil)
        try Coroutine.sleep(for: .seconds(50))
      }
      #expect(!isOver)
    }
    #expect(elapsed == .seconds(50))
  }

  // MARK: - In all orders

  @Test func `work that ends as its limit does ends one way or the other, and leaves nothing`()
    throws
  {
    var endings: Set<Bool> = []
    try explore(runs: 2_000) {
      var isDone = false
      let isOver = try trioMoveOn(after: .seconds(1)) {
        try withCoroutineScope { scope in
          for _ in 0..<2 { scope.launch { try Coroutine.sleep(for: .seconds(1)) } }
          try Coroutine.sleep(for: .seconds(1))
          isDone = true
        }
      }
      endings.insert(isOver)
      try Coroutine.yield()
      if !isOver && !isDone { throw TrioError("neither done nor over") }
    }
    #expect(!endings.isEmpty)
  }
}
