// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Nurseries: scopes with children.
@Suite(.timeLimit(.minutes(30))) struct TrioNurseryTests {
  // MARK: - Waiting

  @Test func `a scope is left when its last child has ended`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        for seconds in [2, 3, 1] {
          scope.launch {
            try Coroutine.sleep(for: .seconds(seconds))
            notes.add("\(seconds)")
          }
        }
        notes.add("body ends")
      }
      notes.add("left")
      #expect(notes.entries == ["body ends", "1", "2", "3", "left"])
    }
    #expect(elapsed == .seconds(3))
  }

  @Test func `children take turns`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        for name in ["a", "b"] {
          scope.launch {
            for round in 0..<3 {
              notes.add("\(name)\(round)")
              try Coroutine.yield()
            }
          }
        }
      }
      #expect(notes.entries == ["a0", "b0", "a1", "b1", "a2", "b2"])
    }
  }

  @Test func `a child may launch others when the body is done`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        func spawn(_ depth: Int) {
          scope.launch {
            try Coroutine.sleep(for: .seconds(1))
            notes.add("\(depth)")
            if depth < 4 { spawn(depth + 1) }
          }
        }
        spawn(0)
      }
      #expect(notes.entries == ["0", "1", "2", "3", "4"])
    }
    #expect(elapsed == .seconds(5))
  }

  @Test func `another coroutine may launch into the scope while it has children`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        scope.launch { try Coroutine.sleep(for: .seconds(2)) }
        // Not a child of the scope.
        launch {
          try Coroutine.sleep(for: .seconds(1))
          scope.launch {
            try Coroutine.sleep(for: .seconds(4))
            notes.add("late child")
          }
        }
      }
      #expect(notes.entries == ["late child"])
    }
    #expect(elapsed == .seconds(5))
  }

  @Test func `a launch into a scope that is over stops the program`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try inTrioTime {
        var kept: CoroutineScope?
        try withCoroutineScope { kept = $0 }
        kept?.launch {}
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("in a scope that is over"))
  }

  @Test func `a scope without children is left at once, cancelled or not`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      launch { notes.add("another") }
      try #expect(withCoroutineScope { _ in 7 } == 7)
      let isCaught = try trioScope { outer in
        outer.cancel()
        try withCoroutineScope { _ in }
      }
      #expect(!isCaught)
      // Nobody else has run meanwhile.
      #expect(notes.entries == [])
    }
    #expect(elapsed == .zero)
  }

  @Test func `leaving a scope is no checkpoint, with children or without`() throws {
    try inTrioTime {
      let isCaught = try trioScope { outer in
        try withCoroutineScope { scope in
          scope.launch {}
          try waitUntilTrioTasksBlock()
          outer.cancel()
        }
      }
      #expect(!isCaught)
    }
  }

  @Test func `a child's handle gives its value inside the scope and after it`() throws {
    try inTrioTime {
      let child = try withCoroutineScope { scope in
        let child = scope.launch { 7 }
        try #expect(child.value() == 7)
        return child
      }
      #expect(child.isFinished)
      try #expect(child.value() == 7)
    }
  }

  @Test func `a child has the name that it is given`() throws {
    try inTrioTime {
      try withCoroutineScope { scope in
        scope.launch(name: "named") { #expect(Coroutine.current?.name == "named") }
        scope.launch { #expect(Coroutine.current?.name == nil) }
      }
    }
  }

  // MARK: - Errors

  @Test
  func `the body's error is the scope's, when the children have been cancelled and have ended`()
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      do {
        try withCoroutineScope { scope in
          scope.launch {
            defer { notes.add("child ends") }
            try trioSleepForever()
          }
          try waitUntilTrioTasksBlock()
          throw TrioError("body")
        }
      } catch { notes.add("\((error as? TrioError)?.name ?? "?") throws") }
      #expect(notes.entries == ["child ends", "body throws"])
    }
  }

  @Test func `the error of a body without children is the scope's, in cancelled code too`() throws {
    try inTrioTime {
      #expect(throws: TrioError("body")) { try withCoroutineScope { _ in throw TrioError("body") } }
      try trioScope { outer in
        outer.cancel()
        #expect(throws: TrioError("body")) {
          try withCoroutineScope { _ in throw TrioError("body") }
        }
      }
    }
  }

  @Test func `a child's error is the scope's`() throws {
    try inTrioTime {
      #expect(throws: TrioError("child")) {
        try withCoroutineScope { scope in scope.launch { throw TrioError("child") } }
      }
    }
  }

  @Test func `a child's error ends a body that sleeps for ever`() throws {
    try inTrioTime {
      #expect(throws: TrioError("child")) {
        try withCoroutineScope { scope in
          scope.launch { throw TrioError("child") }
          try trioSleepForever()
        }
      }
    }
  }

  @Test func `a child's error cancels its siblings, which clean up before the scope is left`()
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      do {
        try withCoroutineScope { scope in
          for name in ["first", "second"] {
            scope.launch {
              do { while true { try Coroutine.yield() } } catch is CancellationError {
                try withCancellationShield { try Coroutine.sleep(for: .seconds(1)) }
                notes.add("\(name) cancelled")
              }
            }
          }
          scope.launch {
            try Coroutine.yield()
            throw TrioError("third")
          }
        }
      } catch { notes.add("\((error as? TrioError)?.name ?? "?") threw") }
      #expect(notes.entries == ["first cancelled", "second cancelled", "third threw"])
    }
  }

  @Test func `a child's error comes when all others have ended, however long they take`() throws {
    let elapsed = try inTrioTime {
      #expect(throws: TrioError("child")) {
        try withCoroutineScope { scope in
          scope.launch { try withCancellationShield { try Coroutine.sleep(for: .seconds(60)) } }
          scope.launch {
            try Coroutine.sleep(for: .seconds(1))
            throw TrioError("child")
          }
        }
      }
    }
    #expect(elapsed == .seconds(60))
  }

  @Test func `when body and child fail, the first error is the scope's`() throws {
    try inTrioTime {
      #expect(throws: TrioError("body")) {
        try withCoroutineScope { scope in
          scope.launch { throw TrioError("child") }
          throw TrioError("body")
        }
      }
      #expect(throws: TrioError("child")) {
        try withCoroutineScope { scope in
          scope.launch { throw TrioError("child") }
          do { try trioSleepForever() } catch { throw TrioError("body") }
        }
      }
    }
  }

  @Test func `when two children fail, the first error is the scope's, the second its child's`()
    throws
  {
    try inTrioTime {
      var children: [Coroutine] = []
      #expect(throws: TrioError("first")) {
        try withCoroutineScope { scope in
          for name in ["first", "second"] {
            children.append(
              scope.launch {
                do { try Coroutine.yield() } catch {}
                throw TrioError(name)
              }
            )
          }
        }
      }
      #expect(children.map { $0.error as? TrioError } == [TrioError("first"), TrioError("second")])
    }
  }

  @Test func `an error counts more than the cancellations before and after it`() throws {
    try inTrioTime {
      let isCaught = try trioScope { outer in
        #expect(throws: TrioError("fourth")) {
          try withCoroutineScope { scope in
            // Two that the scope cancels, one that is launched later, and one that fails.
            for _ in 0..<2 { scope.launch { try trioSleepForever() } }
            try waitUntilTrioTasksBlock()
            scope.launch {
              do { try trioSleepForever() } catch {
                try withCancellationShield { try waitUntilTrioTasksBlock() }
                throw TrioError("fourth")
              }
            }
            try waitUntilTrioTasksBlock()
            scope.cancel()
            outer.cancel()
            try Coroutine.yield()
          }
        }
      }
      #expect(!isCaught)
    }
  }

  @Test func `an inner scope's error cancels the outer one's children, too`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      #expect(throws: TrioError("innermost")) {
        try withCoroutineScope { outer in
          outer.launch {
            defer { notes.add("outer's child ends") }
            try trioSleepForever()
          }
          outer.launch {
            try withCoroutineScope { inner in
              inner.launch {
                defer { notes.add("inner's child ends") }
                try trioSleepForever()
              }
              inner.launch {
                try waitUntilTrioTasksBlock()
                throw TrioError("innermost")
              }
            }
          }
        }
      }
      #expect(notes.entries == ["inner's child ends", "outer's child ends"])
    }
  }

  @Test func `an inner scope's error that is caught leaves the outer scope as it was`() throws {
    try inTrioTime {
      try withCoroutineScope { outer in
        let child = outer.launch {
          try Coroutine.sleep(for: .seconds(1))
          return 7
        }
        #expect(throws: TrioError("inner")) {
          try withCoroutineScope { inner in inner.launch { throw TrioError("inner") } }
        }
        #expect(!outer.isCancelled)
        try #expect(child.value() == 7)
      }
    }
  }

  @Test func `both scopes cancelled, the error of one child comes out, and no cancellation`() throws
  {
    try inTrioTime {
      #expect(throws: TrioError("inner")) {
        try withCoroutineScope { outer in
          outer.launch { try trioSleepForever() }
          try withCoroutineScope { inner in
            inner.launch { try trioSleepForever() }
            inner.launch {
              try waitUntilTrioTasksBlock()
              throw TrioError("inner")
            }
            try waitUntilTrioTasksBlock()
            outer.cancel()
          }
        }
      }
      try Coroutine.yield()
    }
  }

  @Test func `errors of many scopes, one in the other, come out as the innermost one`() throws {
    try inTrioTime {
      func nest(_ depth: Int) throws {
        try withCoroutineScope { scope in
          scope.launch {
            if depth == 0 { throw TrioError("innermost") }
            try nest(depth - 1)
          }
          try trioSleepForever()
        }
      }
      #expect(throws: TrioError("innermost")) { try nest(50) }
    }
  }

  // MARK: - Cancelling

  @Test func `a child launched into a cancelled scope does not begin`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        scope.cancel()
        let queued = scope.launch { notes.add("queued") }
        let immediate = scope.launch(start: .immediately) { notes.add("immediate") }
        try withCancellationShield {
          try queued.join()
          try immediate.join()
        }
        #expect(queued.error is CancellationError)
        #expect(immediate.error is CancellationError)
      }
      #expect(!isCaught)
      #expect(notes.entries == [])
    }
  }

  @Test func `a child that has begun is ended at its next checkpoint`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        scope.launch(start: .immediately) {
          notes.add("begun")
          defer { notes.add("ended") }
          try trioSleepForever()
        }
        scope.cancel()
      }
      #expect(!isCaught)
      #expect(notes.entries == ["begun", "ended"])
    }
  }

  @Test func `a child may cancel its scope, and is ended itself at its next checkpoint`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        scope.launch {
          scope.cancel()
          notes.add("goes on")
          try Coroutine.yield()
          notes.add("not reached")
        }
        scope.launch {
          defer { notes.add("sibling ends") }
          try trioSleepForever()
        }
        try trioSleepForever()
      }
      #expect(isCaught)
      #expect(notes.entries == ["goes on"])
    }
  }

  @Test func `cancelling a scope while it waits for its children ends them, and is no error`()
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      let value = try withCoroutineScope { scope in
        for _ in 0..<3 {
          scope.launch {
            defer { notes.add("ended") }
            try trioSleepForever()
          }
        }
        launch {
          try waitUntilTrioTasksBlock()
          scope.cancel()
        }
        return 7
      }
      #expect(value == 7)
      #expect(notes.entries == ["ended", "ended", "ended"])
    }
  }

  @Test func `cancelling one child leaves the others, and is no error`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        let cancelled = scope.launch {
          defer { notes.add("cancelled") }
          try trioSleepForever()
        }
        scope.launch {
          try Coroutine.sleep(for: .seconds(1))
          notes.add("done")
        }
        try waitUntilTrioTasksBlock()
        cancelled.cancel()
      }
      #expect(notes.entries == ["cancelled", "done"])
    }
  }

  @Test func `what a cancelled child holds is gone when the scope is left`() throws {
    final class Held {
      let notes: Notebook<String>
      init(_ notes: Notebook<String>) { self.notes = notes }
      deinit { notes.add("gone") }
    }
    try inTrioTime {
      let notes = Notebook<String>()
      try trioScope { scope in
        scope.launch {
          let held = Held(notes)
          try trioSleepForever()
          withExtendedLifetime(held) {}
        }
        try waitUntilTrioTasksBlock()
        #expect(notes.entries == [])
        scope.cancel()
      }
      #expect(notes.entries == ["gone"])
    }
  }

  // MARK: - In all orders

  @Test func `in all orders an error of a child ends all, and nothing runs after the scope`() throws
  {
    let exploration = try explore(runs: 3_000) {
      let notes = Notebook<String>()
      var isOver = false
      do {
        try withCoroutineScope { scope in
          for name in ["a", "b"] {
            scope.launch {
              defer { notes.add(isOver ? "late" : name) }
              for _ in 0..<2 { try Coroutine.yield() }
            }
          }
          scope.launch {
            try Coroutine.yield()
            throw TrioError("child")
          }
          try Coroutine.yield()
        }
        throw TrioError("no error")
      } catch let error as TrioError where error.name == "child" { isOver = true }
      try Coroutine.yield()
      // One that had not begun does not begin.
      if notes.entries.contains("late") { throw TrioError("\(notes.entries)") }
    }
    #expect(exploration.runs > 100)
  }

  @Test func `in all orders exactly one of two errors comes out`() throws {
    var seen: Set<String> = []
    try explore(runs: 3_000) {
      do {
        try withCoroutineScope { scope in
          for name in ["a", "b"] {
            scope.launch {
              try Coroutine.yield()
              throw TrioError(name)
            }
          }
        }
        throw TrioError("none")
      } catch let error as TrioError {
        seen.insert(error.name)
        try Coroutine.yield()
      }
    }
    #expect(seen == ["a", "b"])
  }

  @Test func `in all orders a child that is launched while the scope is cancelled is waited for`()
    throws
  {
    try explore(runs: 3_000) {
      var (begun, ended) = (0, 0)
      try trioScope { scope in
        scope.launch {
          try Coroutine.yield()
          scope.launch {
            begun += 1
            defer { ended += 1 }
            try trioSleepForever()
          }
        }
        launch {
          try Coroutine.yield()
          scope.cancel()
        }
        try trioSleepForever()
      }
      if begun != ended { throw TrioError("\(begun) begun, \(ended) ended") }
      try Coroutine.yield()
    }
  }

  @Test func `wherever the parent is cancelled, what its children took is given back`() throws {
    let sweep = try sweepCancellation { victim in
      var (taken, given) = (0, 0)
      let parent = launch(name: victim) {
        try withCoroutineScope { scope in
          for _ in 0..<3 {
            scope.launch {
              taken += 1
              defer { given += 1 }
              for _ in 0..<2 { try Coroutine.sleep(for: .seconds(1)) }
            }
          }
          try Coroutine.yield()
          try withTimeout(.seconds(1)) {
            try withCancellationShield { try Coroutine.sleep(for: .milliseconds(1)) }
            try Coroutine.sleep(for: .milliseconds(1))
          }
        }
      }
      try parent.join()
      if taken != given { throw TrioError("\(taken) taken, \(given) given back") }
    }
    #expect(sweep.places >= 4)
  }
}
