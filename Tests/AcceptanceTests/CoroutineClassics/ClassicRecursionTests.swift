// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Recursive generators, trees, depth, and numbers of generators.
@Suite(.timeLimit(.minutes(30))) struct ClassicRecursionTests {
  @Test func `a tree is walked in order by generators of its branches`() {
    #expect(Array(ClassicTree([4, 2, 6, 1, 3, 5, 7]).inOrder) == Array(1...7))
  }

  @Test func `a tree is walked in order by one generator and a recursive function`() {
    #expect(Array(ClassicTree([4, 2, 6, 1, 3, 5, 7]).walked) == Array(1...7))
  }

  @Test func `an empty tree has no values`() {
    #expect(Array(ClassicTree([]).inOrder) == [])
  }

  @Test func `trees of other shape and equal leaves have the same fringe`() {
    func sameFringe(_ a: ClassicTree, _ b: ClassicTree) -> Bool {
      let (a, b) = (a.walked, b.walked)
      while true {
        let (one, other) = (a.next(), b.next())
        guard one == other else { return false }
        if one == nil { return true }
      }
    }
    #expect(sameFringe(ClassicTree([1, 2, 3, 4]), ClassicTree([4, 3, 2, 1])))
    #expect(!sameFringe(ClassicTree([1, 2, 3, 4]), ClassicTree([1, 2, 3])))
    #expect(!sameFringe(ClassicTree([1, 2, 3]), ClassicTree([1, 9, 3])))
  }

  @Test func `the comparison of fringes stops at the first difference`() {
    let a = ClassicTree([1, 2, 3, 4]).walked
    let notes = Notebook<Int>()
    let b = Generator<Int> { yield in
      for value in [1, 9, 3, 4] {
        notes.add(value)
        try yield(value)
      }
    }
    while let one = a.next(), let other = b.next(), one == other {}
    #expect(notes.entries == [1, 9])
  }

  @Test func `the towers of Hanoi are moved by a recursive generator`() {
    func hanoi(_ height: Int, _ from: String, _ to: String, _ by: String) -> Generator<String> {
      Generator { yield in
        guard height > 0 else { return }
        try yield.all(of: hanoi(height - 1, from, by, to))
        try yield(from + to)
        try yield.all(of: hanoi(height - 1, by, to, from))
      }
    }
    #expect(Array(hanoi(3, "a", "c", "b")) == ["ac", "ab", "cb", "ac", "ba", "bc", "ac"])
  }

  @Test func `a yield two thousand calls deep hands its value over at once`() {
    func dive(_ depth: Int, _ yield: Generator<Int>.Yield) throws {
      if depth == 0 { return try yield(42) }
      try dive(depth - 1, yield)
    }
    let generator = Generator<Int>(stackSize: .kibibytes(4096)) { yield in try dive(2000, yield) }
    #expect(Array(generator) == [42])
  }

  @Test func `generators delegate a hundred levels deep`() {
    func nest(_ depth: Int) -> Generator<Int> {
      Generator { yield in
        try yield(depth)
        if depth > 0 { try yield.all(of: nest(depth - 1)) }
      }
    }
    #expect(Array(nest(100)) == Array((0...100).reversed()))
  }

  @Test func `a thousand generators stand side by side`() {
    let generators = (0..<1000).map { classicNumbers(from: $0) }
    for round in 0..<3 {
      #expect(generators.map { $0.next() ?? -1 } == (0..<1000).map { $0 + round })
    }
  }

  @Test func `ten thousand generators, one after the other, reuse what they need`() {
    var sum = 0
    for number in 0..<10_000 { sum += classicNumbers(from: number).next() ?? 0 }
    #expect(sum == 49_995_000)
  }

  @Test func `a hundred thousand values come from one generator`() {
    #expect(classicNumbers(from: 1).prefix(100_000).reduce(0, +) == 5_000_050_000)
  }

  @Test func `a coroutine resumes one that resumes one, a hundred deep`() {
    func chain(_ depth: Int) -> Numbers {
      Numbers { yield in
        guard depth > 0 else { return try yield(0) ?? 0 }
        let next = chain(depth - 1)
        guard case .yielded(let value) = try next.next() else { return -1 }
        let sent = try yield(value + 1) ?? 0
        guard case .returned(let result?) = try next.next(sent + 1) else { return -1 }
        return result
      }
    }
    #expect(play(chain(100), .next, .send(0)) == ["yields 100", "returns 100"])
  }
}
