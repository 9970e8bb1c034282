// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `yield*`: `yield.all(of:)`.
@Suite(.timeLimit(.minutes(30))) struct ECMAScriptDelegationTests {
  private let notes = Notebook<String>()
  /// A generator that is dropped unwinds, and notes that.
  private let kept = Notebook<Numbers>()

  /// Yields 1 and 2, notes what is sent and how it ends, returns 3.
  private func inner() -> Numbers {
    let notes = notes
    return Numbers { yield in
      try attempt {
        for value in 1...2 { notes.add("got \(try yield(value) ?? 0)") }
      } finally: {
        notes.add("inner finally")
      }
      return 3
    }
  }

  /// Delegates, then yields ten times the result.
  private func outer(_ inner: Numbers) -> Numbers {
    let notes = notes
    let generator = Numbers { yield in
      try attempt {
        do {
          let result = try yield.all(of: inner) ?? -1
          try yield(result * 10)
        } catch let error as Boom {
          notes.add("outer catch \(error.code)")
          try yield(error.code)
        }
      } finally: {
        notes.add("outer finally")
      }
      return 100
    }
    kept.add(generator)
    return generator
  }

  @Test func `the delegation is worth what the inner one returns`() {
    #expect(
      play(outer(inner()), .next, .next, .next, .next)
        == ["yields 1", "yields 2", "yields 30", "returns 100"]
    )
  }

  @Test func `the inner one starts when the delegation is reached`() {
    let started = Notebook<Int>()
    let generator = Numbers { yield in
      try yield(0)
      return try yield.all(
        of: Numbers { yield in
          started.add(1)
          return 5
        }
      ) ?? -1
    }
    #expect(play(generator, .next) == ["yields 0"])
    #expect(started.entries == [])
    #expect(play(generator, .next) == ["returns 5"])
    #expect(started.entries == [1])
  }

  @Test func `values are sent to the inner one, from its first yield on`() {
    #expect(
      play(outer(inner()), .send(7), .send(8), .send(9)) == ["yields 1", "yields 2", "yields 30"]
    )
    #expect(notes.entries == ["got 8", "got 9", "inner finally"])
  }

  @Test func `the value that starts the outer one does not reach the inner one's yield`() {
    var seen: [Int?] = []
    let inner = Numbers { yield in
      seen.append(try yield(1))
      return 2
    }
    #expect(play(outer(inner), .send(7), .next) == ["yields 1", "yields 20"])
    #expect(seen == [nil])
  }

  @Test func `throw goes to the inner one`() {
    let inner = Numbers { yield in
      do { try yield(1) } catch let error as Boom { try yield(error.code + 1) }
      return 3
    }
    #expect(play(outer(inner), .next, .fail(50), .next) == ["yields 1", "yields 51", "yields 30"])
    #expect(notes.entries == [])
  }

  @Test func `a throw that the inner one does not catch comes out of the delegation`() {
    #expect(
      play(outer(inner()), .next, .fail(50), .next) == ["yields 1", "yields 50", "returns 100"]
    )
    #expect(notes.entries == ["inner finally", "outer catch 50", "outer finally"])
  }

  @Test func `an inner one that ends upon a throw goes on outside with its value`() {
    let inner = Numbers { yield in
      do { try yield(1) } catch is Boom { return 4 }
      return 3
    }
    #expect(
      play(outer(inner), .next, .fail(50), .next) == ["yields 1", "yields 40", "returns 100"]
    )
  }

  @Test func `an inner one that throws something else upon a throw is heard outside`() {
    let inner = Numbers { yield in
      do { try yield(1) } catch is Boom { throw Boom(60) }
      return 3
    }
    #expect(play(outer(inner), .next, .fail(50)) == ["yields 1", "yields 60"])
    #expect(notes.entries == ["outer catch 60"])
  }

  @Test func `an error of the inner one comes out of the delegation`() {
    let inner = Numbers { yield in
      try yield(1)
      throw Boom(70)
    }
    #expect(play(outer(inner), .next, .next) == ["yields 1", "yields 70"])
    #expect(inner.isFinished)
  }

  @Test func `an error of the inner one at its start comes out of the delegation`() {
    #expect(play(outer(Numbers { _ in throw Boom(71) }), .next) == ["yields 71"])
  }

  @Test func `return ends the inner one, then the outer one, with its value`() {
    let inner = inner()
    let outer = outer(inner)
    #expect(play(outer, .next, .finish(50), .next) == ["yields 1", "returns 50", "is done"])
    #expect(notes.entries == ["inner finally", "outer finally"])
    #expect(inner.isFinished)
    #expect(outer.isFinished)
  }

  @Test func `what the inner one returns upon a return is what the outer one returns`() {
    let inner = Numbers { yield in
      do { try yield(1) } catch { return 8 }
      return 3
    }
    #expect(play(outer(inner), .next, .finish(50), .next) == ["yields 1", "returns 8", "is done"])
    #expect(notes.entries == ["outer finally"])
  }

  @Test func `an inner one that throws upon a return is heard outside`() {
    let inner = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        throw Boom(80)
      }
      return 3
    }
    #expect(play(outer(inner), .next, .finish(50)) == ["yields 1", "yields 80"])
    #expect(notes.entries == ["outer catch 80"])
  }

  @Test func `an inner one that yields upon a return is yielded, and returns to the outer one`() {
    let inner = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        try yield(2)
      }
      return 3
    }
    #expect(
      play(outer(inner), .next, .finish(50), .next, .next)
        == ["yields 1", "yields 2", "yields 500", "returns 100"]
    )
  }

  @Test func `an inner one that yields upon a return can be returned again`() {
    let inner = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        try yield(2)
      }
      return 3
    }
    #expect(
      play(outer(inner), .next, .finish(50), .finish(51)) == ["yields 1", "yields 2", "returns 51"]
    )
  }

  @Test func `an inner one of another result type is returned all the same`() throws {
    let notes = notes
    let inner = TwoWayGenerator<Int, Int, String> { yield in
      try attempt {
        try yield(1)
      } finally: {
        notes.add("inner finally")
      }
      return "text"
    }
    let outer = Numbers { yield in try yield.all(of: inner)?.count ?? -1 }
    #expect(play(outer, .next, .finish(50)) == ["yields 1", "returns 50"])
    #expect(notes.entries == ["inner finally"])
  }

  @Test func `delegating to one that has ended is worth nothing and yields nothing`() {
    let inner = Numbers { _ in 3 }
    #expect(play(inner, .next) == ["returns 3"])
    #expect(play(outer(inner), .next) == ["yields -10"])
  }

  @Test func `delegating to one that was begun goes on where it stands`() {
    let inner = inner()
    #expect(play(inner, .next) == ["yields 1"])
    #expect(play(outer(inner), .next, .next) == ["yields 2", "yields 30"])
  }

  @Test func `delegations nest, and everything passes all levels`() {
    let notes = notes
    func nest(_ depth: Int) -> Numbers {
      Numbers { yield in
        try attempt {
          if depth > 0 { return try (yield.all(of: nest(depth - 1)) ?? 0) + 1 }
          do { notes.add("got \(try yield(1) ?? 0)") } catch let error as Boom {
            try yield(error.code)
          }
          return 0
        } finally: {
          notes.add("finally \(depth)")
        }
      }
    }
    #expect(play(nest(3), .next, .send(5)) == ["yields 1", "returns 3"])
    #expect(notes.entries == ["got 5", "finally 0", "finally 1", "finally 2", "finally 3"])
    notes.removeAll()
    #expect(play(nest(3), .next, .fail(6), .finish(7)) == ["yields 1", "yields 6", "returns 7"])
    #expect(notes.entries == ["finally 0", "finally 1", "finally 2", "finally 3"])
  }

  @Test func `one generator may delegate several times`() {
    let notes = notes
    let generator = Numbers { yield in
      for factor in 1...3 {
        notes.add(
          "\(try yield.all(of: Numbers { yield in (try yield(factor) ?? 0) * factor }) ?? -1)"
        )
      }
      return 0
    }
    #expect(
      play(generator, .next, .send(5), .send(6), .send(7))
        == ["yields 1", "yields 2", "yields 3", "returns 0"]
    )
    #expect(notes.entries == ["5", "12", "21"])
  }

  @Test func `a return between two delegations ends before the second`() {
    let second = inner()
    let generator = Numbers { yield in
      try yield.all(of: Numbers { _ in 1 })
      try yield(5)
      return try yield.all(of: second) ?? -1
    }
    #expect(play(generator, .next, .finish(6)) == ["yields 5", "returns 6"])
    #expect(!second.isFinished)
  }
}
