// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `throw`, `return` and delegation of ECMAScript's generator objects.
@Suite struct TwoWayThrowReturnTests {
  private typealias Numbers = TwoWayGenerator<Int, Int, Int>

  @Test func `throw before the start ends it without running it`() throws {
    let steps = Steps<Int>()
    let generator = Numbers { _ in
      steps.add(1)
      return 1
    }
    #expect(throws: Failure(1)) { try generator.throw(Failure(1)) }
    #expect(generator.isFinished)
    try #expect(generator.next() == .returned(nil))
    #expect(steps.entries == [])
  }

  @Test func `return before the start ends it without running it`() throws {
    let steps = Steps<Int>()
    let generator = Numbers { _ in
      steps.add(1)
      return 1
    }
    try #expect(generator.return(7) == .returned(7))
    try #expect(generator.next() == .returned(nil))
    #expect(steps.entries == [])
  }

  @Test func `throw and return after the end give back what they were given`() throws {
    let generator = Numbers { _ in 1 }
    try #expect(generator.next() == .returned(1))
    #expect(throws: Failure(2)) { try generator.throw(Failure(2)) }
    try #expect(generator.return(3) == .returned(3))
    try #expect(generator.next() == .returned(nil))
  }

  @Test func `an error thrown in that nobody catches comes out`() throws {
    let steps = Steps<String>()
    let generator = Numbers { yield in
      defer { steps.add("deferred") }
      try yield(1)
      return 2
    }
    _ = try generator.next()
    #expect(throws: Failure(3)) { try generator.throw(Failure(3)) }
    #expect(generator.isFinished)
    #expect(steps.entries == ["deferred"])
  }

  @Test func `a body may catch what is thrown in, and yield again`() throws {
    let generator = Numbers { yield in
      do {
        try yield(1)
      } catch let error as Failure {
        try yield(error.code)
      }
      return 9
    }
    _ = try generator.next()
    try #expect(generator.throw(Failure(5)) == .yielded(5))
    try #expect(generator.next() == .returned(9))
  }

  @Test func `a body may answer an error with another`() throws {
    let generator = Numbers { yield in
      do {
        try yield(1)
      } catch {
        throw Failure(8)
      }
      return 9
    }
    _ = try generator.next()
    #expect(throws: Failure(8)) { try generator.throw(Failure(5)) }
  }

  @Test func `return runs the defer blocks and gives its value`() throws {
    let steps = Steps<String>()
    let generator = Numbers { yield in
      defer { steps.add("outer") }
      do {
        defer { steps.add("inner") }
        try yield(1)
      }
      return 2
    }
    _ = try generator.next()
    try #expect(generator.return(4) == .returned(4))
    #expect(generator.isFinished)
    #expect(steps.entries == ["inner", "outer"])
  }

  @Test func `a body that catches a return may yield again, or return something else`() throws {
    let generator = Numbers { yield in
      do {
        try yield(1)
      } catch is GeneratorReturn {
        try yield(2)
      }
      return 3
    }
    _ = try generator.next()
    try #expect(generator.return(9) == .yielded(2))
    try #expect(generator.next() == .returned(3))
  }

  @Test func `an error while a return unwinds comes out`() throws {
    let generator = Numbers { yield in
      do {
        try yield(1)
      } catch {
        throw Failure(6)
      }
      return 3
    }
    _ = try generator.next()
    #expect(throws: Failure(6)) { try generator.return(9) }
  }

  @Test func `a value sent along does not outlive a throw`() throws {
    let census = Census()
    var seen: [Int?] = []
    let generator = TwoWayGenerator<Int, Counted, Void> { yield in
      for value in 0..<3 {
        do {
          seen.append(try yield(value)?.number)
        } catch is Failure {
          seen.append(-1)
        }
      }
    }
    _ = try generator.next()
    _ = try generator.next(Counted(1, census))
    _ = try generator.throw(Failure())
    _ = try generator.next()
    #expect(seen == [1, -1, nil])
    #expect(census.alive == 0)
  }

  @Test func `delegation passes on what is sent, and returns what the inner one returns (3.5-r12)`()
    throws
  {
    var seen: [Int?] = []
    let inner = Numbers { yield in
      seen.append(try yield(1))
      seen.append(try yield(2))
      return 30
    }
    let outer = Numbers { yield in
      let result = try yield.all(of: inner)
      seen.append(try yield(3))
      return (result ?? 0) + 1
    }
    try #expect(outer.next() == .yielded(1))
    try #expect(outer.next(10) == .yielded(2))
    try #expect(outer.next(20) == .yielded(3))
    try #expect(outer.next(40) == .returned(31))
    #expect(seen == [10, 20, 40])
  }

  @Test func `delegation passes errors in, and out again`() throws {
    let inner = Numbers { yield in
      do {
        try yield(1)
      } catch let error as Failure {
        try yield(error.code)
      }
      throw Failure(7)
    }
    let outer = Numbers { yield in
      do {
        return try yield.all(of: inner) ?? 0
      } catch let error as Failure {
        return error.code
      }
    }
    _ = try outer.next()
    try #expect(outer.throw(Failure(5)) == .yielded(5))
    try #expect(outer.next() == .returned(7))
  }

  @Test func `a return unwinds the inner generator, then the outer`() throws {
    let steps = Steps<String>()
    let inner = Numbers { yield in
      defer { steps.add("inner") }
      try yield(1)
      return 0
    }
    let outer = Numbers { yield in
      defer { steps.add("outer") }
      return try yield.all(of: inner) ?? 0
    }
    _ = try outer.next()
    try #expect(outer.return(5) == .returned(5))
    #expect(inner.isFinished && outer.isFinished)
    #expect(steps.entries == ["inner", "outer"])
  }

  @Test func `dropping the outer generator unwinds both (rule 10)`() throws {
    let steps = Steps<String>()
    do {
      let outer = Numbers { yield in
        defer { steps.add("outer") }
        return try yield.all(
          of: Numbers { yield in
            defer { steps.add("inner") }
            try yield(1)
            return 0
          }
        ) ?? 0
      }
      _ = try outer.next()
    }
    #expect(steps.entries == ["inner", "outer"])
  }

  @Test func `delegating to a finished generator returns nil at once`() throws {
    let inner = Numbers { _ in 4 }
    _ = try inner.next()
    let outer = Numbers { yield in try yield.all(of: inner) ?? -1 }
    try #expect(outer.next() == .returned(-1))
  }
}
