// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct CoroutineScopeTests {
  @Test(arguments: Place.allCases)
  func `a scope returns its body's value when all children have ended (rule 6)`(
    _ place: Place
  ) throws {
    let log = Log()
    let value = try place.run {
      let value = try withCoroutineScope { scope in
        for index in 0..<3 {
          scope.launch {
            for _ in 0..<index { try Coroutine.yield() }
            log("child")
          }
        }
        log("body")
        return 7
      }
      log("after")
      return value
    }
    #expect(value == 7)
    #expect(log.entries == ["body", "child", "child", "child", "after"])
  }

  @Test(arguments: Place.allCases)
  func `a failing child cancels its siblings and the body; its error is thrown (rule 6)`(
    _ place: Place
  ) throws {
    let log = Log()
    #expect(throws: Problem(1)) {
      try place.run {
        try withCoroutineScope { scope in
          scope.launch {
            defer { log("sibling unwinds") }
            try waitForEver()
          }
          scope.launch {
            try Coroutine.yield()
            throw Problem(1)
          }
          defer { log("body unwinds") }
          try waitForEver()
        }
      }
    }
    #expect(Set(log.entries) == ["sibling unwinds", "body unwinds"])
  }

  @Test(arguments: Place.allCases)
  func `a failing body cancels the children and waits for them (rule 6)`(_ place: Place) throws {
    let log = Log()
    #expect(throws: Problem(2)) {
      try place.run {
        defer { log("after") }
        try withCoroutineScope { scope in
          scope.launch {
            do {
              try waitForEver()
            } catch {
              try withCancellationShield { try Coroutine.sleep(for: .milliseconds(1)) }
              log("child unwinds")
              throw error
            }
          }
          try Coroutine.yield()
          throw Problem(2)
        }
      }
    }
    #expect(log.entries == ["child unwinds", "after"])
  }

  @Test func `the first of several errors is thrown`() throws {
    #expect(throws: Problem(1)) {
      try runBlocking {
        try withCoroutineScope { scope in
          for number in 1...3 { scope.launch { throw Problem(number) } }
          try waitForEver()
        }
      }
    }
  }

  @Test func `a child that was cancelled alone does not fail the scope`() throws {
    try runBlocking {
      let value = try withCoroutineScope { scope in
        let child = scope.launch { try waitForEver() }
        try Coroutine.yield()
        child.cancel()
        return 1
      }
      #expect(value == 1)
    }
  }

  @Test(arguments: Place.allCases)
  func `an error of a cancelled child is thrown, not the body's cancellation before it (rule 6)`(
    _ place: Place
  ) throws {
    try place.run {
      let ending = Ending {
        try withCoroutineScope { scope in
          scope.launch {
            do {
              try waitForEver()
            } catch {
              try withCancellationShield { for _ in 0..<3 { try Coroutine.yield() } }
              throw Problem(9)
            }
          }
          try Coroutine.yield()
          scope.cancel()
          try Coroutine.checkCancellation()
        }
      }
      #expect(ending == .failed("\(Problem(9))"))
    }
  }

  @Test(arguments: Place.allCases)
  func `children on other schedulers are waited for and cancelled (rule 8)`(
    _ place: Place
  ) throws {
    let unwound = Counter()
    try place.run {
      let started = [Gate(), Gate(), Gate()]
      #expect(throws: Problem(3)) {
        try withCoroutineScope { scope in
          scope.launch(on: SerialScheduler()) {
            defer { unwound.add() }
            started[0].open()
            try waitForEver()
          }
          scope.launch(on: DispatchQueue(label: "test")) {
            defer { unwound.add() }
            started[1].open()
            try waitForEver()
          }
          scope.launch(on: .global()) {
            defer { unwound.add() }
            started[2].open()
            try waitForEver()
          }
          for gate in started { try gate.wait() }
          scope.launch(on: SerialScheduler()) { throw Problem(3) }
          try waitForEver()
        }
      }
      #expect(unwound.value == 3)
    }
  }

  @Test func `children may launch into the scope, from any scheduler`() throws {
    let ended = Counter()
    try runBlocking {
      try withCoroutineScope { scope in
        for _ in 0..<10 {
          scope.launch(on: SerialScheduler()) {
            scope.launch {
              try Coroutine.yield()
              ended.add()
            }
            scope.launch(on: DispatchQueue(label: "test")) { ended.add() }
          }
        }
      }
      #expect(ended.value == 20)
    }
  }

  @Test(arguments: Place.allCases)
  func `scopes nest: an inner failure unwinds outwards`(_ place: Place) throws {
    let log = Log()
    #expect(throws: Problem(4)) {
      try place.run {
        try withCoroutineScope { outer in
          outer.launch {
            defer { log("outer child unwinds") }
            try waitForEver()
          }
          try withCoroutineScope { inner in
            inner.launch {
              defer { log("inner child unwinds") }
              try waitForEver()
            }
            inner.launch {
              try Coroutine.yield()
              throw Problem(4)
            }
            try waitForEver()
          }
        }
      }
    }
    #expect(log.entries == ["inner child unwinds", "outer child unwinds"])
  }

  @Test func `an inner failure that is caught leaves the outer scope alone`() throws {
    try runBlocking {
      let value = try withCoroutineScope { outer in
        let gate = Gate()
        let child = outer.launch {
          try gate.wait()
          return 6
        }
        #expect(throws: Problem(5)) {
          try withCoroutineScope { inner in
            inner.launch { throw Problem(5) }
            try waitForEver()
          }
        }
        gate.open()
        return try child.value()
      }
      #expect(value == 6)
    }
  }

  @Test func `a launch into a scope that is over stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        var kept: CoroutineScope?
        try withCoroutineScope { kept = $0 }
        kept?.launch {}
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("in a scope that is over"))
  }

  @Test(arguments: Place.allCases)
  func `a thousand children of a scope end with it`(_ place: Place) throws {
    let sum = try place.run {
      let total = Counter()
      try withCoroutineScope { scope in
        for number in 1...1_000 {
          scope.launch(stackSize: .small) {
            try Coroutine.yield()
            total.add(number)
          }
        }
      }
      return total.value
    }
    #expect(sum == 500_500)
  }

  enum Last: CaseIterable {
    case here
    case elsewhere
  }

  /// N1: they are counted apart.
  @Test(arguments: Place.allCases, Last.allCases)
  func `children here and elsewhere are waited for, whichever end last`(
    _ place: Place,
    _ last: Last
  ) throws {
    let log = Log()
    try place.run {
      let (here, elsewhere) = (Gate(), Gate())
      let result = try withCoroutineScope { scope in
        scope.launch {
          try here.wait()
          log("here")
          elsewhere.open()
        }
        scope.launch(on: SerialScheduler()) {
          try elsewhere.wait()
          log("elsewhere")
          here.open()
        }
        (last == .here ? elsewhere : here).open()
        return 7
      }
      log("over: \(result)")
    }
    let order = last == .here ? ["elsewhere", "here"] : ["here", "elsewhere"]
    #expect(log.entries == order + ["over: 7"])
  }

  /// N1: the scope has waited for the one here, and waits for one elsewhere, when another comes here.
  @Test func `a child elsewhere may launch one on the scope's own loop`() throws {
    let log = Log()
    try runBlocking {
      let home = Scheduler.current
      let hasEnded = Gate()
      try withCoroutineScope { scope in
        scope.launch(on: SerialScheduler()) {
          try hasEnded.wait()
          scope.launch(on: home) {
            scope.launch { log("grandchild") }
            try Coroutine.yield()
            log("child")
          }
        }
        scope.launch { log("first") }.onFinish { hasEnded.open() }
      }
      log("over")
    }
    #expect(log.entries == ["first", "grandchild", "child", "over"])
  }

  /// N2: whoever ends elsewhere last wakes one who lets go of the scope at once.
  @Test func `scopes go away as soon as their children elsewhere have ended`() throws {
    let pool = PoolScheduler(threads: 2)
    let ended = Counter()
    try runBlocking {
      for _ in 0..<2_000 {
        try withCoroutineScope { scope in
          for _ in 0..<3 { scope.launch(on: pool) { ended.add() } }
        }
      }
    }
    #expect(ended.value == 6_000)
  }

  @Test func `the last child elsewhere ends the wait, whoever else of the body's lives there`()
    throws
  {
    let other = SerialScheduler(name: "other")
    try runBlocking {
      let (gate, begun) = (Channel<Void>(), Channel<Void>(capacity: 1))
      let free = try withCoroutineScope { scope in
        scope.launch(on: other) {
          try begun.receive()
          try Coroutine.sleep(for: .milliseconds(20))
        }
        // Not of the scope, which does not wait for it, but in the same registry.
        let free = launch(on: other) { _ = try? gate.receive() }
        try begun.send(())
        return free
      }
      #expect(!free.isFinished)
      gate.close()
      try free.join()
    }
  }
}
