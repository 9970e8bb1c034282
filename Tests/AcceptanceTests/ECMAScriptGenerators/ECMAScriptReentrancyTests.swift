// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// A generator whose body asks itself: an error, and no harm.
@Suite(.timeLimit(.minutes(30))) struct ECMAScriptReentrancyTests {
  @Test func `next from the own body is refused, and the body goes on`() {
    let own = OwnGenerator { own, yield in
      #expect(own.play(.next) == "is running")
      try yield(1)
      return 2
    }
    #expect(own.play(.next) == "yields 1")
    #expect(own.play(.next) == "returns 2")
  }

  @Test func `a value sent by the own body is not kept`() {
    var seen: [Int?] = []
    let own = OwnGenerator { own, yield in
      #expect(own.play(.send(9)) == "is running")
      seen.append(try yield(1))
      return 2
    }
    #expect(own.play(.next) == "yields 1")
    #expect(own.play(.next) == "returns 2")
    #expect(seen == [nil])
  }

  @Test func `throw from the own body is refused, and its error is not kept`() {
    let own = OwnGenerator { own, yield in
      #expect(own.play(.fail(9)) == "is running")
      try yield(1)
      return 2
    }
    #expect(own.play(.next) == "yields 1")
    #expect(own.play(.next) == "returns 2")
  }

  @Test func `return from the own body is refused, and its value is not kept`() {
    let own = OwnGenerator { own, yield in
      #expect(own.play(.finish(9)) == "is running")
      try yield(1)
      return 2
    }
    #expect(own.play(.next) == "yields 1")
    #expect(own.play(.next) == "returns 2")
  }

  @Test func `a refusal that the body lets through ends it`() {
    let own = OwnGenerator { own, _ in
      _ = try own.generator?.next()
      return 1
    }
    #expect(own.play(.next) == "is running")
    #expect(own.play(.next) == "is done")
  }

  @Test func `it is refused after a yield, in a catch and in a finally as well`() {
    let own = OwnGenerator { own, yield in
      try attempt {
        do {
          try yield(1)
          #expect(own.play(.next) == "is running")
          throw Boom(1)
        } catch is Boom {
          #expect(own.play(.next) == "is running")
        }
      } finally: {
        #expect(own.play(.finish(1)) == "is running")
      }
      return 2
    }
    #expect(own.play(.next) == "yields 1")
    #expect(own.play(.next) == "returns 2")
  }

  @Test func `a generator asked by another one that it waits for is running`() {
    let own = OwnGenerator { own, yield in
      let inner = Numbers { yield in
        #expect(own.play(.next) == "is running")
        try yield(1)
        return 2
      }
      return try yield.all(of: inner) ?? 0
    }
    #expect(own.play(.next) == "yields 1")
    #expect(own.play(.next) == "returns 2")
  }

  @Test func `a generator that delegates to itself is refused`() {
    let own = OwnGenerator { own, yield in
      guard let generator = own.generator else { return 0 }
      return try yield.all(of: generator) ?? 0
    }
    #expect(own.play(.next) == "is running")
    #expect(own.play(.next) == "is done")
  }
}
