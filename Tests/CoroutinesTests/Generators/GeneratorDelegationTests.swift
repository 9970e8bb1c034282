// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Yielding all of another sequence, and recursion.
@Suite struct GeneratorDelegationTests {
  private indirect enum Tree {
    case leaf
    case node(Tree, Int, Tree)

    init(_ range: Range<Int>) {
      if range.isEmpty {
        self = .leaf
      } else {
        let middle = (range.lowerBound + range.upperBound) / 2
        self = .node(
          Tree(range.lowerBound..<middle),
          middle,
          Tree((middle + 1)..<range.upperBound)
        )
      }
    }

    /// In order, by recursion of calls: one stack.
    func walk(_ yield: Generator<Int>.Yield) throws {
      guard case .node(let left, let value, let right) = self else { return }
      try left.walk(yield)
      try yield(value)
      try right.walk(yield)
    }

    /// In order, by recursion of generators: a stack for each level.
    var values: Generator<Int> {
      Generator { yield in
        guard case .node(let left, let value, let right) = self else { return }
        try yield.all(of: left.values)
        try yield(value)
        try yield.all(of: right.values)
      }
    }
  }

  @Test func `yield all hands on the values of any sequence`() {
    let generator = Generator<Int> { yield in
      try yield.all(of: [1, 2])
      try yield.all(of: 3...4)
      try yield.all(of: Set([5]))
      try yield.all(of: Generator { try $0(6) })
      try yield.all(of: EmptyCollection())
    }
    #expect(Array(generator) == [1, 2, 3, 4, 5, 6])
  }

  @Test func `yield all is as lazy as a single yield (rule 10)`() {
    let steps = Steps<Int>()
    let inner = Generator<Int> { yield in
      for value in 0... {
        steps.add(value)
        try yield(value)
      }
    }
    let outer = Generator<Int> { try $0.all(of: inner) }
    #expect(outer.next() == 0)
    #expect(outer.next() == 1)
    #expect(steps.entries == [0, 1])
  }

  @Test func `dropping the outer generator unwinds the inner one first (rule 10)`() {
    let steps = Steps<String>()
    let outer = Generator<Int> { yield in
      defer { steps.add("outer") }
      try yield.all(
        of: Generator { yield in
          defer { steps.add("inner") }
          for value in 0... { try yield(value) }
        }
      )
    }
    #expect(outer.next() == 0)
    outer.cancel()
    #expect(steps.entries == ["inner", "outer"])
  }

  @Test func `an inner error comes out of yield all`() {
    let outer = Generator<Int> { yield in
      do {
        try yield.all(
          of: Generator { yield in
            try yield(1)
            throw Failure(4)
          }
        )
      } catch let error as Failure {
        try yield(error.code)
      }
    }
    #expect(Array(outer) == [1, 4])
    #expect(outer.error == nil)
  }

  @Test func `a tree is walked by recursion of calls`() {
    let tree = Tree(0..<1_000)
    #expect(Array(Generator { try tree.walk($0) }) == Array(0..<1_000))
  }

  @Test func `a tree is walked by recursion of generators`() {
    #expect(Array(Tree(0..<500).values) == Array(0..<500))
  }

  @Test func `two trees are compared without walking either to its end`() {
    let (one, other) = (Tree(0..<100), Tree(0..<90))
    let different = zip(one.values, other.values).first { $0 != $1 }
    #expect(different == nil)
    #expect(Array(one.values.prefix(3)) == Array(other.values.prefix(3)))
  }

  @Test func `primes by a chain of filters`() {
    func sieve(_ numbers: Generator<Int>) -> Generator<Int> {
      Generator { yield in
        guard let prime = numbers.next() else { return }
        try yield(prime)
        let rest = Generator<Int> { yield in
          while let number = numbers.next() {
            if number % prime != 0 { try yield(number) }
          }
        }
        try yield.all(of: sieve(rest))
      }
    }
    let numbers = Generator<Int> { yield in for number in 2... { try yield(number) } }
    #expect(Array(sieve(numbers).prefix(10)) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29])
  }
}
