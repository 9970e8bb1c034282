// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Which cancellations, limits and values reach which children, and what reaches nobody.
@Suite(.timeLimit(.minutes(30))) struct TrioInheritanceTests {
  @Test func `cancelling a scope ends all leaves of the tree in it`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        for worker in ["w1", "w2"] {
          scope.launch {
            try withCoroutineScope { inner in
              for leaf in ["l1", "l2"] {
                inner.launch {
                  do { try trioSleepForever() } catch {
                    notes.add("\(worker)-\(leaf)")
                    throw error
                  }
                }
              }
            }
          }
        }
        try waitUntilTrioTasksBlock()
        scope.cancel()
        #expect(notes.entries == [])
      }
      #expect(!isCaught)
      #expect(Set(notes.entries) == ["w1-l1", "w1-l2", "w2-l1", "w2-l2"])
    }
  }

  @Test func `a line of a hundred generations ends with its first`() throws {
    try inTrioTime {
      var ended = 0
      func generation(_ number: Int) throws {
        defer { ended += 1 }
        guard number < 100 else { return try trioSleepForever() }
        _ = try withCoroutineScope { scope in scope.launch { try generation(number + 1) } }
      }
      try trioScope { scope in
        scope.launch { try generation(1) }
        try waitUntilTrioTasksBlock()
        scope.cancel()
      }
      #expect(ended == 100)
    }
  }

  @Test func `a limit reaches the children that are launched in it`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      let isOver = try trioMoveOn(after: .seconds(2)) {
        try withCoroutineScope { scope in
          for name in ["a", "b"] {
            scope.launch {
              defer { notes.add(name) }
              try trioSleepForever()
            }
          }
          try trioSleepForever()
        }
      }
      #expect(isOver)
      #expect(notes.entries == ["a", "b"])
    }
    #expect(elapsed == .seconds(2))
  }

  @Test func `a limit ends a scope that waits for its children, and says so`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.seconds(2)) {
          try withCoroutineScope { scope in
            scope.launch {
              defer { notes.add("child ends") }
              try trioSleepForever()
            }
          }
        }
      }
      #expect(notes.entries == ["child ends"])
    }
    #expect(elapsed == .seconds(2))
  }

  @Test func `a child of an outer scope is not under the limit of the code that launches it`()
    throws
  {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        let isOver = try trioMoveOn(after: .seconds(1)) {
          scope.launch {
            try Coroutine.sleep(for: .seconds(5))
            notes.add("done")
          }
          try trioSleepForever()
        }
        #expect(isOver)
      }
      #expect(notes.entries == ["done"])
    }
    #expect(elapsed == .seconds(5))
  }

  @Test func `a child of an outer scope is not ended with the inner scope that launches it`() throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { outer in
        let isCaught = try trioScope { inner in
          inner.cancel()
          outer.launch {
            try Coroutine.sleep(for: .seconds(1))
            notes.add("done")
          }
          try Coroutine.yield()
        }
        #expect(isCaught)
      }
      #expect(notes.entries == ["done"])
    }
  }

  @Test func `a child of an outer scope is not under the shield of the code that launches it`()
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        try withCancellationShield {
          scope.launch {
            defer { notes.add("child ends") }
            try trioSleepForever()
          }
          try waitUntilTrioTasksBlock()
          scope.cancel()
          try waitUntilTrioTasksBlock()
          #expect(notes.entries == ["child ends"])
        }
      }
      #expect(!isCaught)
    }
  }

  @Test func `the children of a scope in a shield are under the shield`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { outer in
        outer.cancel()
        try withCancellationShield {
          _ = try withCoroutineScope { inner in
            inner.launch {
              try Coroutine.sleep(for: .seconds(1))
              notes.add("done")
            }
          }
        }
      }
      #expect(!isCaught)
      #expect(notes.entries == ["done"])
    }
  }

  @Test func `a child that is shielded does not keep its siblings from being ended`() throws {
    let elapsed = try inTrioTime {
      let notes = Notebook<String>()
      let isOver = try trioMoveOn(after: .seconds(1)) {
        try withCoroutineScope { scope in
          scope.launch {
            try withCancellationShield { try Coroutine.sleep(for: .seconds(5)) }
            notes.add("shielded")
          }
          scope.launch {
            defer { notes.add("sibling") }
            try trioSleepForever()
          }
          try trioSleepForever()
        }
      }
      #expect(isOver)
      #expect(notes.entries == ["sibling", "shielded"])
    }
    #expect(elapsed == .seconds(5))
  }

  @Test
  func `a plain launch is a child of the scope that the code is in, though it is not waited for`()
    throws
  {
    try inTrioTime {
      let notes = Notebook<String>()
      try trioScope { scope in
        launch {
          defer { notes.add("ended") }
          try trioSleepForever()
        }
        try waitUntilTrioTasksBlock()
        scope.cancel()
        notes.add("body ends")
      }
      notes.add("scope left")
      try waitUntilTrioTasksBlock()
      #expect(notes.entries == ["body ends", "scope left", "ended"])
    }
  }

  @Test func `cancelling the coroutine is cancelling the scope around all of its code`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let coroutine = launch {
        defer { notes.add("coroutine ends") }
        let isCaught = try trioScope { scope in
          scope.launch {
            defer { notes.add("child ends") }
            try trioSleepForever()
          }
          try trioSleepForever()
        }
        notes.add("caught: \(isCaught)")
      }
      try waitUntilTrioTasksBlock()
      try coroutine.cancelAndJoin()
      #expect(coroutine.error is CancellationError)
      #expect(notes.entries == ["child ends", "coroutine ends"])
    }
  }

  @Test func `a child's own scopes and limits do not reach its parent or its siblings`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        scope.launch {
          try trioScope { own in
            own.cancel()
            try Coroutine.yield()
          }
          try trioMoveOn(after: .seconds(1)) { try trioSleepForever() }
          notes.add("first done")
        }
        scope.launch {
          try Coroutine.sleep(for: .seconds(2))
          notes.add("second done")
        }
        try Coroutine.sleep(for: .seconds(3))
        #expect(!scope.isCancelled)
      }
      #expect(notes.entries == ["first done", "second done"])
    }
  }

  @Test func `a child that a scope's cancellation escapes from is no failure`() throws {
    try inTrioTime {
      try withCoroutineScope { scope in
        let child = scope.launch {
          try withCoroutineScope { own in
            own.cancel()
            try Coroutine.yield()
          }
        }
        try withCancellationShield { try child.join() }
        #expect(child.error is CancellationError)
        #expect(!scope.isCancelled)
        try Coroutine.yield()
      }
    }
  }

  @Test(arguments: ["scope", "timeout", "error", "shield"])
  func `after a scope nothing of it is left`(_ kind: String) throws {
    try inTrioTime {
      for _ in 0..<100 {
        switch kind {
        case "scope":
          try trioScope { scope in
            scope.cancel()
            try Coroutine.yield()
          }
        case "timeout": try trioMoveOn(after: .milliseconds(1)) { try trioSleepForever() }
        case "error":
          _ = try? withCoroutineScope { scope in scope.launch { throw TrioError("child") } }
        default:
          try trioScope { scope in
            scope.cancel()
            try withCancellationShield { try Coroutine.yield() }
          }
        }
        #expect(!Coroutine.isCancelled)
        try Coroutine.yield()
      }
      try Coroutine.sleep(for: .seconds(1))
      try launch { try Coroutine.yield() }.value()
      _ = try withCoroutineScope { scope in scope.launch { try Coroutine.yield() } }
    }
  }

  // MARK: - Values

  @Test func `a child sees the values that were bound where it was launched`() throws {
    let request = CoroutineLocal<String>("none")
    try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        _ = try request.withValue("outer") {
          scope.launch {
            notes.add(request.value)
            try request.withValue("inner") {
              try Coroutine.yield()
              notes.add(request.value)
            }
          }
        }
        scope.launch { notes.add(request.value) }
        try waitUntilTrioTasksBlock()
        notes.add(request.value)
      }
      #expect(notes.entries == ["outer", "none", "inner", "none"])
    }
  }

  @Test func `children that bind values do not see one another's`() throws {
    let number = CoroutineLocal<Int>(0)
    try inTrioTime {
      let sums = try withCoroutineScope { scope in
        let children = (1...3).map { own in
          scope.launch {
            try number.withValue(own) {
              var sum = 0
              for _ in 0..<3 {
                sum += number.value
                try Coroutine.yield()
              }
              return sum
            }
          }
        }
        return try children.map { try $0.value() }
      }
      #expect(sums == [3, 6, 9])
    }
  }
}
