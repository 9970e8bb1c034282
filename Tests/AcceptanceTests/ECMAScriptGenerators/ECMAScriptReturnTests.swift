// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// What a body can make of a `return` that is under way.
@Suite(.timeLimit(.minutes(30))) struct ECMAScriptReturnTests {
  @Test func `a value sent in a finally goes to its yield, and the return goes on`() {
    var seen: [Int?] = []
    let generator = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        seen.append(try yield(2))
      }
      return 3
    }
    #expect(
      play(generator, .next, .finish(9), .send(7)) == ["yields 1", "yields 2", "returns 9"]
    )
    #expect(seen == [7])
  }

  @Test func `a finally that returns replaces the value`() {
    let generator = Numbers { yield in
      do { try yield(1) } catch { return 2 }
      return 3
    }
    #expect(play(generator, .next, .finish(9), .next) == ["yields 1", "returns 2", "is done"])
  }

  @Test func `a finally that throws replaces the return`() {
    let generator = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        throw Boom(4)
      }
      return 3
    }
    #expect(play(generator, .next, .finish(9), .next) == ["yields 1", "throws 4", "is done"])
  }

  @Test func `a finally that leaves its loop calls the return off`() {
    let generator = Numbers { yield in
      while true { do { try yield(1) } catch { break } }
      try yield(2)
      return 3
    }
    #expect(
      play(generator, .next, .finish(9), .next) == ["yields 1", "yields 2", "returns 3"]
    )
  }

  @Test func `a finally that goes on in its loop calls each return off`() {
    let generator = Numbers { yield in
      for value in 1...3 { do { try yield(value) } catch { continue } }
      return 10
    }
    #expect(
      play(generator, .next, .finish(7), .finish(8), .finish(9))
        == ["yields 1", "yields 2", "yields 3", "returns 10"]
    )
  }

  @Test func `a return called off inside another's finally leaves the other's value`() {
    let generator = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        do { try yield(2) } catch {}
      }
      return 3
    }
    #expect(
      play(generator, .next, .finish(8), .finish(9)) == ["yields 1", "yields 2", "returns 8"]
    )
  }

  @Test func `an ordinary return inside a try passes the finally, which may yield`() {
    let generator = Numbers { yield in
      try attempt {
        5
      } finally: {
        try yield(1)
      }
    }
    #expect(play(generator, .next, .next) == ["yields 1", "returns 5"])
  }

  @Test func `an ordinary return is replaced by a return in its finally`() {
    let generator = Numbers { yield in
      try attempt {
        5
      } finally: {
        try yield(1)
      }
    }
    #expect(play(generator, .next, .finish(6)) == ["yields 1", "returns 6"])
  }

  @Test func `a finally runs once, whatever follows`() {
    let notes = Notebook<String>()
    let generator = Numbers { yield in
      try attempt {
        try yield(1)
      } finally: {
        notes.add("finally")
      }
      return 2
    }
    #expect(
      play(generator, .next, .finish(3), .finish(4), .fail(5), .next)
        == ["yields 1", "returns 3", "returns 4", "throws 5", "is done"]
    )
    #expect(notes.entries == ["finally"])
  }

  @Test func `leaving a loop over a generator early, by return, runs its finally`() throws {
    let notes = Notebook<String>()
    let generator = Numbers { yield in
      try attempt {
        for value in 1... { try yield(value) }
      } finally: {
        notes.add("finally")
      }
      return 0
    }
    var sum = 0
    while case .yielded(let value) = try generator.next() {
      sum += value
      if value == 3 { break }
    }
    _ = try generator.return(0)
    #expect(sum == 6)
    #expect(notes.entries == ["finally"])
  }
}
