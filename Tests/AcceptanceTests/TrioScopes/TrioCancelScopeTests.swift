// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Checkpoints, scopes that are cancelled, what they catch, and scopes in scopes.
@Suite(.timeLimit(.minutes(30))) struct TrioCancelScopeTests {
  // MARK: - Checkpoints

  @Test(arguments: TrioCheckpoint.allCases)
  func `a checkpoint passes until the scope is cancelled, and throws then`(
    _ checkpoint: TrioCheckpoint
  ) throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        try checkpoint.pass()
        notes.add("passed")
        scope.cancel()
        try checkpoint.pass()
        notes.add("passed again")
      }
      #expect(isCaught)
      #expect(notes.entries == ["passed"])
    }
  }

  @Test(arguments: TrioCheckpoint.allCases)
  func `a cancelled scope throws at each checkpoint, not at the first only`(
    _ checkpoint: TrioCheckpoint
  ) throws {
    try inTrioTime {
      try trioScope { scope in
        scope.cancel()
        for _ in 0..<3 { #expect(throws: CancellationError.self) { try checkpoint.pass() } }
      }
    }
  }

  @Test(arguments: TrioCheckpoint.allCases)
  func `a shielded checkpoint passes in a cancelled scope, the next throws`(
    _ checkpoint: TrioCheckpoint
  ) throws {
    try inTrioTime {
      try trioScope { scope in
        scope.cancel()
        try withCancellationShield { for _ in 0..<2 { try checkpoint.pass() } }
        #expect(throws: CancellationError.self) { try checkpoint.pass() }
      }
    }
  }

  @Test func `asking for cancellation is no wait: it passes, or throws`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      launch { notes.add("another") }
      try trioScope { scope in
        try Coroutine.checkCancellation()
        #expect(!Coroutine.isCancelled)
        scope.cancel()
        #expect(Coroutine.isCancelled)
        #expect(throws: CancellationError.self) { try Coroutine.checkCancellation() }
      }
      #expect(notes.entries == [])
    }
    #expect(elapsed == .zero)
  }

  @Test func `what a scope cancels is ended while it waits`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        launch {
          try waitUntilTrioTasksBlock()
          notes.add("cancelling")
          scope.cancel()
        }
        try trioSleepForever()
      }
      #expect(isCaught)
      #expect(notes.entries == ["cancelling"])
    }
  }

  // MARK: - What is caught

  @Test func `cancelling twice is cancelling once`() throws {
    try inTrioTime {
      let isCaught = try trioScope { scope in
        scope.cancel()
        scope.cancel()
        #expect(scope.isCancelled)
        try Coroutine.yield()
      }
      #expect(isCaught)
      try Coroutine.yield()
    }
  }

  @Test func `a scope that is left before a checkpoint has caught nothing, and returns its value`()
    throws
  {
    try inTrioTime {
      let value = try withCoroutineScope { scope in
        scope.cancel()
        try withCancellationShield { try Coroutine.yield() }
        return 7
      }
      #expect(value == 7)
      #expect(try !trioScope { $0.cancel() })
      try Coroutine.yield()
    }
  }

  @Test func `a body that handles the cancellation itself has its value returned`() throws {
    try inTrioTime {
      let value = try withCoroutineScope { scope in
        scope.cancel()
        do {
          try trioSleepForever()
          return "slept"
        } catch { return "handled" }
      }
      #expect(value == "handled")
    }
  }

  @Test func `another error than the cancellation passes through a cancelled scope`() throws {
    try inTrioTime {
      #expect(throws: TrioError("own")) {
        try trioScope { scope in
          scope.cancel()
          throw TrioError("own")
        }
      }
      #expect(throws: TrioError("in its place")) {
        try trioScope { scope in
          scope.cancel()
          do { try trioSleepForever() } catch { throw TrioError("in its place") }
        }
      }
    }
  }

  @Test func `a cancellation that nobody asked for passes through a scope`() throws {
    try inTrioTime {
      #expect(throws: CancellationError.self) { try trioScope { _ in throw CancellationError() } }
      try Coroutine.yield()
    }
  }

  @Test
  func `the innermost scope that is cancelled throws out of withCoroutineScope, and no further`()
    throws
  {
    try inTrioTime {
      #expect(throws: CancellationError.self) {
        try withCoroutineScope { scope in
          scope.cancel()
          try Coroutine.yield()
        }
      }
      #expect(!Coroutine.isCancelled)
      for checkpoint in TrioCheckpoint.allCases { try checkpoint.pass() }
    }
  }

  // MARK: - Before entering, after leaving

  @Test
  func `a scope entered in code that is cancelled already is cancelled at its first checkpoint`()
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { outer in
        outer.cancel()
        let isCaughtInside = try trioScope { inner in
          #expect(!inner.isCancelled)
          #expect(Coroutine.isCancelled)
          notes.add("entered")
          try Coroutine.yield()
          notes.add("not reached")
        }
        notes.add("\(isCaughtInside)")
      }
      #expect(isCaught)
      #expect(notes.entries == ["entered"])
    }
  }

  @Test func `a coroutine that is cancelled before it starts never enters its scopes`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let coroutine = launch {
        notes.add("started")
        try trioScope { _ in notes.add("entered") }
      }
      coroutine.cancel()
      try coroutine.join()
      #expect(coroutine.error is CancellationError)
      #expect(notes.entries == [])
    }
  }

  @Test func `cancelling a scope that is over has no effect`() throws {
    try inTrioTime {
      var kept: CoroutineScope?
      try trioScope { scope in
        kept = scope
        try Coroutine.yield()
      }
      kept?.cancel()
      #expect(kept?.isCancelled == true)
      #expect(!Coroutine.isCancelled)
      try Coroutine.yield()
      #expect(try !trioScope { _ in try Coroutine.yield() })
    }
  }

  @Test func `cancelling a scope from another coroutine ends that scope's code alone`() throws {
    try inTrioTime {
      let scopes = Channel<CoroutineScope>()
      let notes = Notebook<String>()
      launch {
        let isCaught = try trioScope { scope in
          try scopes.send(scope)
          try trioSleepForever()
        }
        notes.add("scope ended: \(isCaught)")
        try Coroutine.yield()
        notes.add("went on")
      }
      let scope = try scopes.receive()
      try waitUntilTrioTasksBlock()
      scope.cancel()
      try Coroutine.yield()
      try waitUntilTrioTasksBlock()
      #expect(notes.entries == ["scope ended: true", "went on"])
    }
  }

  @Test func `a scope that another thread cancels ends`() throws {
    let scheduler = TestScheduler()
    scheduler.outsidePatience = .seconds(300)
    try scheduler.run {
      let isCaught = try trioScope { scope in
        let canceller = SerialScheduler(name: "canceller")
        launch(on: canceller) { scope.cancel() }
        try trioSleepForever()
      }
      #expect(isCaught)
    }
  }

  // MARK: - Nesting

  @Test func `of nested scopes that are cancelled the outermost catches`() throws {
    try inTrioTime {
      var caught: [Bool] = []
      let outermost = try trioScope { _ in
        caught.append(
          try trioScope { second in
            _ = try trioScope { third in
              third.cancel()
              second.cancel()
              try trioSleepForever()
            }
            Issue.record("the inner scope caught")
          }
        )
      }
      #expect(caught == [true])
      #expect(!outermost)
    }
  }

  @Test func `an inner scope that is cancelled leaves the code around it alone`() throws {
    try inTrioTime {
      let outer = try trioScope { outer in
        let inner = try trioScope { inner in
          inner.cancel()
          try trioSleepForever()
        }
        #expect(inner)
        #expect(!outer.isCancelled)
        try Coroutine.yield()
      }
      #expect(!outer)
    }
  }

  @Test func `an outer scope that is cancelled ends the code of the inner ones`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { outer in
        launch {
          try waitUntilTrioTasksBlock()
          outer.cancel()
        }
        for depth in 0..<3 { notes.add("in \(depth)") }
        try trioScope { middle in
          defer { notes.add("middle: \(middle.isCancelled)") }
          try trioScope { inner in
            defer { notes.add("inner: \(inner.isCancelled)") }
            try trioSleepForever()
          }
        }
      }
      #expect(isCaught)
      #expect(notes.entries == ["in 0", "in 1", "in 2", "inner: false", "middle: false"])
    }
  }

  @Test func `thousands of scopes one in the other end with the outermost`() throws {
    try inTrioTime {
      let deep = launch(stackSize: .bytes(64 << 20)) { () throws -> Int in
        var unwound = 0
        func nest(_ depth: Int) throws {
          guard depth > 0 else { return try trioSleepForever() }
          defer { unwound += 1 }
          try withCoroutineScope { _ in try nest(depth - 1) }
        }
        let isCaught = try trioScope { outermost in
          launch {
            try waitUntilTrioTasksBlock()
            outermost.cancel()
          }
          try nest(5_000)
        }
        #expect(isCaught)
        return unwound
      }
      try #expect(deep.value() == 5_000)
    }
  }

  // MARK: - Shields

  @Test func `a shield keeps out the scopes around it, not those inside`() throws {
    try inTrioTime {
      try trioScope { outer in
        outer.cancel()
        try withCancellationShield {
          try Coroutine.yield()
          let isCaught = try trioScope { inner in
            try Coroutine.yield()
            inner.cancel()
            try Coroutine.yield()
          }
          #expect(isCaught)
          try Coroutine.yield()
        }
        #expect(throws: CancellationError.self) { try Coroutine.yield() }
      }
    }
  }

  @Test func `a shield between two scopes keeps the outer from the inner one's code`() throws {
    try inTrioTime {
      try trioScope { outer in
        _ = try withCancellationShield {
          try trioScope { inner in
            outer.cancel()
            #expect(!inner.isCancelled)
            #expect(!Coroutine.isCancelled)
            try Coroutine.yield()
            inner.cancel()
            #expect(throws: CancellationError.self) { try Coroutine.yield() }
          }
        }
        #expect(Coroutine.isCancelled)
      }
    }
  }

  @Test func `shields can be opened again and again`() throws {
    try inTrioTime {
      try trioScope { scope in
        scope.cancel()
        for _ in 0..<3 {
          #expect(throws: CancellationError.self) { try Coroutine.yield() }
          try withCancellationShield { try Coroutine.yield() }
        }
      }
    }
  }

  @Test func `a shield in a shield is one`() throws {
    try inTrioTime {
      try trioScope { scope in
        try withCancellationShield {
          scope.cancel()
          try withCancellationShield { try Coroutine.yield() }
          try Coroutine.yield()
        }
        #expect(throws: CancellationError.self) { try Coroutine.yield() }
      }
    }
  }

  @Test func `a shield opened while the cancellation unwinds does not stop it`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let outer = try trioScope { outer in
        let inner = try trioScope { _ in
          outer.cancel()
          defer {
            try? withCancellationShield {
              try Coroutine.sleep(for: .seconds(1))
              notes.add("cleaned up")
            }
          }
          try Coroutine.yield()
        }
        notes.add("inner caught: \(inner)")
      }
      #expect(outer)
      #expect(notes.entries == ["cleaned up"])
    }
  }

  @Test func `what sleeps in a shield sleeps on, and sees the cancellation when it leaves`() throws
  {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        scope.launch {
          try withCancellationShield {
            notes.add("sleeps")
            try Coroutine.sleep(for: .seconds(3))
            notes.add("woke")
          }
          do { try Coroutine.yield() } catch {
            notes.add("cancelled")
            throw error
          }
        }
        try waitUntilTrioTasksBlock()
        scope.cancel()
        try withCancellationShield { try waitUntilTrioTasksBlock() }
        #expect(notes.entries == ["sleeps"])
      }
      #expect(!isCaught)
      #expect(notes.entries == ["sleeps", "woke", "cancelled"])
    }
    #expect(elapsed >= .seconds(3))
  }

  @Test func `a scope cancelled around a shield catches after it`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        launch {
          try Coroutine.sleep(for: .seconds(1))
          scope.cancel()
        }
        try withCancellationShield { try Coroutine.sleep(for: .seconds(5)) }
        notes.add("left the shield")
        try Coroutine.yield()
        notes.add("not reached")
      }
      #expect(isCaught)
      #expect(notes.entries == ["left the shield"])
    }
  }

  // MARK: - In all orders

  @Test func `a cancellation that comes as the work ends ends the scope one way or the other`()
    throws
  {
    var endings: Set<String> = []
    try explore(runs: 2_000) {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        launch {
          try Coroutine.yield()
          scope.cancel()
        }
        for step in 0..<3 {
          try Coroutine.yield()
          notes.add("\(step)")
        }
      }
      endings.insert("\(isCaught), \(notes.entries.count)")
      // Either way it is over: nothing of it is left in the code around.
      try Coroutine.yield()
      if isCaught == (notes.entries.count == 3) { throw TrioError("\(isCaught), \(notes.entries)") }
    }
    #expect(endings.contains("false, 3"))
    #expect(endings.contains("true, 0"))
  }
}
