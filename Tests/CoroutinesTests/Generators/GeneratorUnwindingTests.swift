// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 10: dropping a generator unwinds its body.
@Suite struct GeneratorUnwindingTests {
  private func tracked(_ steps: Steps<String>) -> Generator<Int> {
    Generator { yield in
      steps.add("begin")
      defer { steps.add("end") }
      for value in 0... { try yield(value) }
    }
  }

  @Test func `leaving a loop early runs the body's defer (rule 10)`() {
    let steps = Steps<String>()
    for value in tracked(steps) where value == 2 { break }
    #expect(steps.entries == ["begin", "end"])
  }

  @Test func `returning and throwing out of a loop do so too (rule 10)`() {
    let steps = Steps<String>()
    func leave() -> Int {
      for value in tracked(steps) where value == 1 { return value }
      return -1
    }
    func fail() throws { for _ in tracked(steps) { throw Failure(1) } }
    #expect(leave() == 1)
    #expect(throws: Failure(1)) { try fail() }
    #expect(steps.entries == ["begin", "end", "begin", "end"])
  }

  @Test func `dropping the last reference unwinds (rule 10)`() {
    let steps = Steps<String>()
    var generator: Generator<Int>? = tracked(steps)
    _ = generator?.next()
    #expect(steps.entries == ["begin"])
    generator = nil
    #expect(steps.entries == ["begin", "end"])
  }

  @Test func `dropping before the first value runs nothing (rule 10)`() {
    let steps = Steps<String>()
    let census = Census()
    do {
      let held = Counted(1, census)
      let generator = Generator<Int> { yield in
        steps.add("\(held.number)")
        try yield(1)
      }
      _ = generator
    }
    #expect(steps.entries == [])
    #expect(census.alive == 0)
  }

  @Test func `cancelling before the first value runs nothing, then nor does next`() {
    let steps = Steps<String>()
    let generator = tracked(steps)
    generator.cancel()
    #expect(generator.next() == nil)
    #expect(generator.error == nil)
    #expect(steps.entries == [])
  }

  @Test func `the yield of a dropped generator throws CancellationError, and so do later ones`() {
    let steps = Steps<String>()
    let generator = Generator<Int> { yield in
      for attempt in 1...3 {
        do {
          try yield(attempt)
          steps.add("value \(attempt)")
        } catch {
          steps.add("\(attempt): \(error is CancellationError)")
        }
      }
    }
    #expect(generator.next() == 1)
    #expect(generator.next() == 2)
    generator.cancel()
    #expect(steps.entries == ["value 1", "2: true", "3: true"])
    #expect(generator.next() == nil)
  }

  @Test func `what a body holds is released when it ends, however it ends`() {
    let census = Census()
    func make(_ count: Int) -> Generator<Int> {
      let captured = Counted(0, census)
      return Generator { yield in
        let local = Counted(1, census)
        for value in 0..<count { try yield(value + local.number + captured.number) }
      }
    }
    let finished = make(1)
    _ = (finished.next(), finished.next())
    #expect(census.alive == 0)
    let cancelled = make(9)
    _ = cancelled.next()
    #expect(census.alive == 2)
    cancelled.cancel()
    #expect(census.alive == 0)
    _ = make(9)
    #expect(census.alive == 0)
  }

  @Test func `defer blocks of all frames run, innermost first`() {
    let steps = Steps<Int>()
    func descend(_ depth: Int, _ yield: Generator<Int>.Yield) throws {
      defer { steps.add(depth) }
      if depth == 4 { try yield(depth) } else { try descend(depth + 1, yield) }
    }
    let generator = Generator { try descend(0, $0) }
    #expect(generator.next() == 4)
    generator.cancel()
    #expect(steps.entries == [4, 3, 2, 1, 0])
  }

  @Test func `a generator whose body drops the last reference to it is unwound after next`() {
    let steps = Steps<String>()
    final class Holder { var generator: Generator<Int>? }
    let holder = Holder()
    holder.generator = Generator { yield in
      defer { steps.add("end") }
      holder.generator = nil
      try yield(1)
    }
    #expect(holder.generator?.next() == 1)
    #expect(steps.entries == ["end"])
  }

  @Test func `a body that is cut off inside an exclusive access ends it properly`() {
    final class Store { var numbers: [Int] = [] }
    let store = Store()
    func fill(_ numbers: inout [Int], _ yield: Generator<Int>.Yield) throws {
      for value in 0... {
        numbers.append(value)
        try yield(value)
      }
    }
    for _ in 0..<100 {
      let generator = Generator<Int> { try fill(&store.numbers, $0) }
      _ = (generator.next(), generator.next())
    }
    // A record left behind would make this a "simultaneous access", or point into a reused stack.
    store.numbers.append(-1)
    #expect(store.numbers.count == 201)
  }

  @Test func `a generator dropped in a coroutine unwinds there, across a park`() throws {
    try runBlocking {
      let steps = Steps<String>()
      do {
        let generator = Generator<Int> { yield in
          defer { steps.add("end") }
          try yield(1)
        }
        _ = generator.next()
        try Coroutine.yield()
      }
      #expect(steps.entries == ["end"])
    }
  }
}
