// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Lua's `coroutine.create`, `resume`, `yield`, `status`, `wrap`, `isyieldable` and `close`.
@Suite(.timeLimit(.minutes(30))) struct ClassicLuaTests {
  private let notes = Notebook<String>()

  /// `wrap`: a function that resumes.
  private func wrap(_ body: @escaping (Numbers.Yield) throws -> Int) -> (Int?) throws -> Int? {
    let coroutine = Numbers(body)
    return { value in
      switch try value.map({ try coroutine.next($0) }) ?? coroutine.next() {
      case .yielded(let value): value
      case .returned(let value): value
      }
    }
  }

  @Test func `resume and yield exchange values, and the end returns one`() {
    let coroutine = Numbers { yield in
      let a = try yield(1) ?? 0
      let b = try yield(a * 2) ?? 0
      return a + b
    }
    #expect(
      play(coroutine, .next, .send(10), .send(5)) == ["yields 1", "yields 20", "returns 15"]
    )
  }

  @Test func `resuming a dead coroutine says so and does no harm`() {
    #expect(play(Numbers { _ in 1 }, .next, .next, .next) == ["returns 1", "is done", "is done"])
  }

  @Test func `an error in a coroutine comes out of resume, and it is dead`() {
    let coroutine = Numbers { yield in
      try yield(1)
      throw Boom(3)
    }
    #expect(play(coroutine, .next, .next, .next) == ["yields 1", "throws 3", "is done"])
    #expect(coroutine.isFinished)
  }

  @Test func `an error inside a protected call stays inside`() {
    let coroutine = Numbers { yield in
      let result = Result {
        try yield(1)
        throw Boom(3)
      }
      if case .failure(let error as Boom) = result { return error.code }
      return 0
    }
    #expect(play(coroutine, .next, .next) == ["yields 1", "returns 3"])
  }

  @Test func `a yield crosses nested protected calls both ways`() {
    let coroutine = Numbers { yield in
      let result = Result { try Result { try yield(1) ?? 0 }.get() + (try yield(2) ?? 0) }
      return try result.get()
    }
    #expect(play(coroutine, .next, .send(3), .send(4)) == ["yields 1", "yields 2", "returns 7"])
  }

  @Test func `wrap makes a function of a coroutine`() throws {
    let next = wrap { yield in (try yield(1) ?? 0) + (try yield(2) ?? 0) }
    #expect(try [next(nil), next(10), next(20)] == [1, 2, 30])
    #expect(try next(nil) == nil)
  }

  @Test func `a wrapped function throws what its body throws`() throws {
    let next = wrap { yield in
      try yield(1)
      throw Boom(4)
    }
    #expect(try next(nil) == 1)
    #expect(throws: Boom(4)) { try next(nil) }
  }

  @Test func `wrapped functions resume each other`() throws {
    let inner = wrap { yield in
      for value in 1...3 { try yield(value) }
      return 0
    }
    let outer = wrap { yield in
      while let value = try inner(nil), value != 0 { try yield(value * 10) }
      return -1
    }
    #expect(try [outer(nil), outer(nil), outer(nil), outer(nil)] == [10, 20, 30, -1])
  }

  @Test func `a coroutine that resumes itself gets an error`() {
    let own = OwnGenerator { own, _ in own.play(.next) == "is running" ? 1 : 0 }
    #expect(own.play(.next) == "returns 1")
  }

  @Test func `a coroutine that resumes its resumer gets an error`() {
    let first = OwnGenerator { own, _ in
      let second = Numbers { _ in own.play(.next) == "is running" ? 1 : 0 }
      return play(second, .next) == ["returns 1"] ? 2 : 0
    }
    #expect(first.play(.next) == "returns 2")
  }

  @Test func `a yield outside of its coroutine is an error`() throws {
    var stolen: Generator<Int>.Yield?
    let generator = Generator<Int> { yield in
      stolen = yield
      try yield(1)
    }
    #expect(generator.next() == 1)
    #expect(throws: GeneratorError.yieldedElsewhere) { try stolen?(2) }
    #expect(generator.next() == nil)
    #expect(throws: GeneratorError.finished) { try stolen?(3) }
    stolen = nil
  }

  @Test func `a yield of the outer coroutine inside an inner one suspends both`() {
    let coroutine = Numbers { yield in
      let inner = Numbers { _ in try yield(5) ?? 0 }
      guard case .returned(let value?) = try inner.next() else { return -1 }
      return value + 1
    }
    #expect(play(coroutine, .next, .send(7)) == ["yields 5", "returns 8"])
  }

  @Test func `close releases a suspended coroutine's open scopes in order`() {
    let notes = notes
    let coroutine = Numbers { yield in
      defer { notes.add("x") }
      defer { notes.add("y") }
      return try yield(1) ?? 0
    }
    #expect(play(coroutine, .next) == ["yields 1"])
    coroutine.cancel()
    #expect(notes.entries == ["y", "x"])
    #expect(coroutine.isFinished)
  }

  @Test func `the status is ready, running, suspended and finished in turn`() throws {
    try runBlocking {
      let states = Notebook<Coroutine.State>()
      let gate = Channel<Void>()
      let coroutine = launch {
        if let current = Coroutine.current { states.add(current.state) }
        try gate.receive()
      }
      states.add(coroutine.state)
      try Coroutine.yield()
      states.add(coroutine.state)
      try gate.send(())
      try coroutine.join()
      states.add(coroutine.state)
      #expect(states.entries == [.ready, .running, .suspended, .finished])
    }
  }

  @Test func `an error of a coroutine comes out of each look at its value`() throws {
    try runBlocking {
      let coroutine = launch { () throws -> Int in throw Boom(5) }
      for _ in 0..<2 { #expect(throws: Boom(5)) { try coroutine.value() } }
    }
  }

  @Test func `coroutines that yield take turns`() throws {
    let notes = notes
    try runBlocking {
      let all = ["a", "b", "c"].map { name in
        launch {
          for turn in 1...2 {
            notes.add("\(name)\(turn)")
            try Coroutine.yield()
          }
        }
      }
      for coroutine in all { try coroutine.join() }
    }
    #expect(notes.entries == ["a1", "b1", "c1", "a2", "b2", "c2"])
  }

  @Test func `a scheduler of generators gives each a turn until all have ended`() throws {
    let notes = notes
    var tasks = (1...3).map { length in
      Generator<String> { yield in for turn in 1...length { try yield("\(length).\(turn)") } }
    }
    while !tasks.isEmpty {
      let task = tasks.removeFirst()
      guard let note = task.next() else { continue }
      notes.add(note)
      tasks.append(task)
    }
    #expect(notes.entries == ["1.1", "2.1", "3.1", "2.2", "3.2", "3.3"])
  }
}
