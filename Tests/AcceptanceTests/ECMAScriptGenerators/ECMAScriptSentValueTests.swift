// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// What `next` sends, and what a yield is worth.
@Suite(.timeLimit(.minutes(30))) struct ECMAScriptSentValueTests {
  @Test func `a yield is worth what the next call sends`() {
    let echo = Numbers { yield in
      var value = 0
      while true { value = try yield(value) ?? -1 }
    }
    #expect(play(echo, .next, .send(5), .send(6)) == ["yields 0", "yields 5", "yields 6"])
  }

  @Test func `a next without a value sends none`() {
    let echo = Numbers { yield in
      var value = 0
      while true { value = try yield(value) ?? -1 }
    }
    #expect(play(echo, .next, .send(5), .next) == ["yields 0", "yields 5", "yields -1"])
  }

  @Test func `the first value has no yield to go to and is dropped`() {
    let generator = Numbers { yield in try yield(1) ?? -1 }
    #expect(play(generator, .send(99), .next) == ["yields 1", "returns -1"])
  }

  @Test func `a yield may be an operand of another expression`() {
    let generator = Numbers { yield in
      let left = try yield(1) ?? 0
      return try left * 10 + (yield(2) ?? 0)
    }
    #expect(play(generator, .next, .send(3), .send(4)) == ["yields 1", "yields 2", "returns 34"])
  }

  @Test func `a yield may be the operand of a yield`() {
    let generator = Numbers { yield in try yield(yield(1) ?? 0) ?? 0 }
    #expect(play(generator, .next, .send(2), .send(3)) == ["yields 1", "yields 2", "returns 3"])
  }

  @Test func `yields in arguments are evaluated from left to right`() {
    func list(_ values: Int?...) -> [Int?] { values }
    var seen: [Int?] = []
    let generator = Numbers { yield in
      seen = try list(yield(1), yield(2), yield(3))
      return 0
    }
    #expect(
      play(generator, .next, .send(10), .send(20), .send(30))
        == ["yields 1", "yields 2", "yields 3", "returns 0"]
    )
    #expect(seen == [10, 20, 30])
  }

  @Test func `a yield may stand in a condition`() {
    let generator = Numbers { yield in
      while try yield(1) != 0 {}
      return 2
    }
    #expect(
      play(generator, .next, .send(1), .next, .send(0))
        == ["yields 1", "yields 1", "yields 1", "returns 2"]
    )
  }

  @Test func `a yield in an operand that is not evaluated does not happen`() {
    let generator = Numbers { yield in
      let isTaken = try false && yield(1) != nil
      return isTaken ? 1 : 0
    }
    #expect(play(generator, .next) == ["returns 0"])
  }

  @Test func `a yield inside array and dictionary literals waits there`() {
    let generator = Numbers { yield in
      let array = [try yield(1) ?? 0, 5, try yield(2) ?? 0]
      return array.reduce(0, +)
    }
    #expect(play(generator, .next, .send(10), .send(20)) == ["yields 1", "yields 2", "returns 35"])
  }

  @Test func `a throw and a return bring no sent value`() {
    var seen: [Int?] = []
    let generator = Numbers { yield in
      do { seen.append(try yield(1)) } catch is Boom { seen.append(try yield(2)) }
      return 0
    }
    #expect(play(generator, .next, .fail(1), .next) == ["yields 1", "yields 2", "returns 0"])
    #expect(seen == [nil])
  }
}
