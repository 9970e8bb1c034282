// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Before the start, suspended, after the end; and results.
@Suite(.timeLimit(.minutes(30))) struct ECMAScriptStateTests {
  private func counted(_ notes: Notebook<String>) -> Numbers {
    Numbers { yield in
      notes.add("start")
      try yield(1)
      notes.add("middle")
      try yield(2)
      notes.add("end")
      return 3
    }
  }

  @Test func `making a generator runs nothing of its body`() {
    let notes = Notebook<String>()
    let generator = counted(notes)
    #expect(notes.entries == [])
    #expect(!generator.isFinished)
  }

  @Test func `each next runs to the next yield and no further`() {
    let notes = Notebook<String>()
    let generator = counted(notes)
    #expect(play(generator, .next) == ["yields 1"])
    #expect(notes.entries == ["start"])
    #expect(play(generator, .next) == ["yields 2"])
    #expect(notes.entries == ["start", "middle"])
  }

  @Test func `the last next gives the returned value and is done`() throws {
    let generator = counted(Notebook())
    #expect(play(generator, .next, .next) == ["yields 1", "yields 2"])
    let step = try generator.next()
    #expect(step == .returned(3))
    #expect(step.isDone)
  }

  @Test func `a yielded step is not done`() throws {
    #expect(try !counted(Notebook()).next().isDone)
  }

  @Test func `the returned value is given once`() {
    #expect(
      play(counted(Notebook()), .next, .next, .next, .next, .next)
        == ["yields 1", "yields 2", "returns 3", "is done", "is done"]
    )
  }

  @Test func `a body without a yield returns at the first next`() {
    #expect(play(Numbers { _ in 7 }, .next, .next) == ["returns 7", "is done"])
  }

  @Test func `throw before the start throws, runs nothing and finishes it`() {
    let notes = Notebook<String>()
    let generator = counted(notes)
    #expect(play(generator, .fail(5), .next) == ["throws 5", "is done"])
    #expect(notes.entries == [])
    #expect(generator.isFinished)
  }

  @Test func `return before the start returns, runs nothing and finishes it`() {
    let notes = Notebook<String>()
    let generator = counted(notes)
    #expect(play(generator, .finish(5), .next) == ["returns 5", "is done"])
    #expect(notes.entries == [])
    #expect(generator.isFinished)
  }

  @Test func `throw after the end throws what it is given, each time`() {
    #expect(
      play(Numbers { _ in 1 }, .next, .fail(5), .fail(6), .next)
        == ["returns 1", "throws 5", "throws 6", "is done"]
    )
  }

  @Test func `return after the end returns what it is given, each time`() {
    #expect(
      play(Numbers { _ in 1 }, .next, .finish(5), .finish(6), .next)
        == ["returns 1", "returns 5", "returns 6", "is done"]
    )
  }

  @Test func `a value sent after the end is dropped`() {
    #expect(play(Numbers { _ in 1 }, .next, .send(4)) == ["returns 1", "is done"])
  }

  @Test func `an error of the body comes out of next and finishes it`() {
    let generator = Numbers { yield in
      try yield(1)
      throw Boom(9)
    }
    #expect(play(generator, .next, .next, .next) == ["yields 1", "throws 9", "is done"])
    #expect(generator.isFinished)
  }

  @Test func `an error before the first yield comes out of the first next`() {
    #expect(play(Numbers { _ in throw Boom(9) }, .next, .next) == ["throws 9", "is done"])
  }

  @Test func `throw and return after an error of the body are as after any end`() {
    #expect(
      play(Numbers { _ in throw Boom(9) }, .next, .fail(1), .finish(2))
        == ["throws 9", "throws 1", "returns 2"]
    )
  }

  @Test func `two generators of one function do not share their place`() {
    let (a, b) = (counted(Notebook()), counted(Notebook()))
    #expect(play(a, .next, .next) == ["yields 1", "yields 2"])
    #expect(play(b, .next) == ["yields 1"])
    #expect(play(a, .next) == ["returns 3"])
    #expect(play(b, .next) == ["yields 2"])
  }

  @Test func `local variables live from yield to yield`() {
    let generator = Numbers { yield in
      var sum = 0
      for value in 1...3 {
        sum += value
        try yield(sum)
      }
      return sum * 10
    }
    #expect(
      play(generator, .next, .next, .next, .next) == [
        "yields 1", "yields 3", "yields 6", "returns 60",
      ]
    )
  }

  @Test func `a yielded optional that is nil is not an end`() throws {
    let generator = TwoWayGenerator<Int?, Int, Int> { yield in
      try yield(nil)
      return 1
    }
    #expect(try generator.next() == .yielded(nil))
    #expect(try generator.next() == .returned(1))
  }
}
