// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Yields across functions that know nothing of coroutines.
@Suite(.timeLimit(.minutes(30))) struct ClassicCallbackTests {
  @Test func `a yield crosses the comparator of a sort`() {
    var sorted: [Int] = []
    let generator = Generator<Set<Int>> { yield in
      sorted = try [3, 1, 2].sorted { a, b in
        try yield([a, b])
        return a < b
      }
    }
    let pairs = Array(generator)
    #expect(sorted == [1, 2, 3])
    #expect(pairs.count >= 2)
    #expect(pairs.allSatisfy { $0.count == 2 })
  }

  @Test func `the comparator's answers may be sent in`() throws {
    var sorted: [Int] = []
    let generator = TwoWayGenerator<(Int, Int), Bool, Void> { yield in
      sorted = try [4, 2, 5, 1, 3].sorted { try yield(($0, $1)) ?? false }
    }
    var step = try generator.next()
    while case .yielded(let (a, b)) = step { step = try generator.next(a > b) }
    #expect(sorted == [5, 4, 3, 2, 1])
  }

  @Test func `a sort that is dropped in its comparator leaves nothing behind`() {
    let notes = Notebook<String>()
    do {
      let generator = Generator<Int> { yield in
        defer { notes.add("finally") }
        _ = try [3, 1, 2].sorted { a, b in
          try yield(a)
          return a < b
        }
        notes.add("sorted")
      }
      #expect(generator.next() != nil)
    }
    #expect(notes.entries == ["finally"])
  }

  @Test func `a yield crosses forEach, map, filter and reduce`() {
    let generator = Generator<Int> { yield in
      try [1, 2].forEach { try yield($0) }
      let doubled = try [3, 4].map { value in
        try yield(value)
        return value * 2
      }
      let some = try doubled.filter { value in
        try yield(value)
        return value > 6
      }
      try yield(
        try some.reduce(0) { sum, value in
          try yield(value)
          return sum + value
        }
      )
    }
    #expect(Array(generator) == [1, 2, 3, 4, 6, 8, 8, 8])
  }

  @Test func `an error thrown in crosses the callback's caller`() {
    let generator = Numbers { yield in
      do { try [1, 2, 3].forEach { try yield($0) } } catch let error as Boom { return error.code }
      return 0
    }
    #expect(play(generator, .next, .next, .fail(8)) == ["yields 1", "yields 2", "returns 8"])
  }

  @Test func `a yield crosses the makers of a string and an array`() {
    let generator = Numbers { yield in
      let array = try [Int](unsafeUninitializedCapacity: 2) { buffer, count in
        for value in 1...2 {
          buffer.initializeElement(at: value - 1, to: try yield(value) ?? 0)
          count = value
        }
      }
      return array.reduce(0, +)
    }
    #expect(play(generator, .next, .send(10), .send(20)) == ["yields 1", "yields 2", "returns 30"])
  }

  @Test func `a yield crosses the iterator of a sequence of the user's own`() {
    final class Asking: Sequence, IteratorProtocol {
      let ask: () -> Int?
      init(_ ask: @escaping () -> Int?) { self.ask = ask }
      func next() -> Int? { ask() }
    }
    let generator = Numbers { yield in Asking { try? yield(0) }.reduce(0, +) }
    #expect(
      play(generator, .next, .send(5), .send(6), .next)
        == ["yields 0", "yields 0", "yields 0", "returns 11"]
    )
  }

  @Test func `a yield crosses a comparison operator and a hash`() {
    struct Asking: Hashable {
      let value: Int
      let ask: (Int) -> Void
      static func == (a: Asking, b: Asking) -> Bool {
        a.ask(a.value)
        return a.value == b.value
      }
      func hash(into hasher: inout Hasher) {
        ask(-value)
        hasher.combine(value)
      }
    }
    let generator = Generator<Int> { yield in
      let ask: (Int) -> Void = { try? yield($0) }
      let isEqual = Asking(value: 1, ask: ask) == Asking(value: 2, ask: ask)
      try yield(isEqual ? 10 : 20)
      var hasher = Hasher()
      Asking(value: 3, ask: ask).hash(into: &hasher)
    }
    #expect(Array(generator) == [1, 20, -3])
  }

  @Test func `a visitor with a callback becomes an iterator`() {
    func visit(_ tree: ClassicTree, _ callback: (Int) throws -> Void) rethrows {
      guard case .node(let left, let value, let right) = tree else { return }
      try visit(left, callback)
      try callback(value)
      try visit(right, callback)
    }
    let tree = ClassicTree([2, 1, 3])
    #expect(Array(Generator { yield in try visit(tree) { try yield($0) } }) == [1, 2, 3])
  }

  @Test func `a generator in a coroutine waits for a channel between values`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let doubled = Generator<Int> { yield in for value in channel { try yield(value * 2) } }
      launch {
        for value in 1...3 { try channel.send(value) }
        channel.close()
      }
      #expect(Array(doubled) == [2, 4, 6])
    }
  }

  @Test func `a generator asked while its body waits says that it runs`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let generator = Numbers { _ in try channel.receive() }
      let first = launch { play(generator, .next) }
      try Coroutine.yield()
      #expect(play(generator, .next) == ["is running"])
      try channel.send(5)
      #expect(try first.value() == ["returns 5"])
    }
  }
}
