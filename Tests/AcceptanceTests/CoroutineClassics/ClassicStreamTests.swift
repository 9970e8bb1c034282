// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Endless sequences, by generators that feed generators.
@Suite(.timeLimit(.minutes(30))) struct ClassicStreamTests {
  @Test func `the lazy sieve finds the primes with a filter for each`() {
    func sieve(_ numbers: Generator<Int>) -> Generator<Int> {
      Generator { yield in
        guard let prime = numbers.next() else { return }
        try yield(prime)
        let rest = Generator<Int> { yield in
          while let number = numbers.next() { if number % prime != 0 { try yield(number) } }
        }
        try yield.all(of: sieve(rest))
      }
    }
    #expect(
      Array(sieve(classicNumbers(from: 2)).prefix(12))
        == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
    )
  }

  @Test func `the sieve in a loop replaces its own source`() {
    let primes = Generator<Int> { yield in
      var source = classicNumbers(from: 2)
      while let prime = source.next() {
        try yield(prime)
        let last = source
        source = Generator { yield in
          while let number = last.next() { if number % prime != 0 { try yield(number) } }
        }
      }
    }
    #expect(Array(primes.prefix(8)) == [2, 3, 5, 7, 11, 13, 17, 19])
  }

  private let hamming = [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30]

  @Test func `Hamming's numbers are merged from their own multiples`() {
    func times(_ factor: Int, _ numbers: Generator<Int>) -> Generator<Int> {
      Generator { yield in while let number = numbers.next() { try yield(number * factor) } }
    }
    func numbers(_ depth: Int) -> Generator<Int> {
      Generator { yield in
        try yield(1)
        guard depth > 0 else { return }
        try yield.all(
          of: classicMerge(
            times(2, numbers(depth - 1)),
            classicMerge(times(3, numbers(depth - 1)), times(5, numbers(depth - 1)))
          )
        )
      }
    }
    // Up to 2⁴ each number has at most four factors.
    #expect(Array(numbers(4).prefix(12)) == Array(hamming.prefix(12)))
  }

  @Test func `Hamming's numbers come from one shared list with three readers`() {
    let shared = Notebook<Int>()
    func times(_ factor: Int) -> Generator<Int> {
      Generator { yield in
        for index in 0... { try yield(shared.entries[index] * factor) }
      }
    }
    let numbers = Generator<Int> { yield in
      shared.add(1)
      try yield(1)
      let multiples = classicMerge(times(2), classicMerge(times(3), times(5)))
      while let number = multiples.next() {
        shared.add(number)
        try yield(number)
      }
    }
    #expect(Array(numbers.prefix(18)) == hamming)
  }

  @Test func `Fibonacci's numbers are the sum of two readers of themselves`() {
    let shared = Notebook<Int>()
    func tail(from first: Int) -> Generator<Int> {
      Generator { yield in for index in first... { try yield(shared.entries[index]) } }
    }
    let numbers = Generator<Int> { yield in
      for seed in [0, 1] {
        shared.add(seed)
        try yield(seed)
      }
      let (a, b) = (tail(from: 0), tail(from: 1))
      while let one = a.next(), let other = b.next() {
        shared.add(one + other)
        try yield(one + other)
      }
    }
    #expect(Array(numbers.prefix(10)) == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
  }

  @Test func `two ascending sequences merge, equal values once`() {
    func list(_ values: Int...) -> Generator<Int> {
      Generator { yield in try yield.all(of: values) }
    }
    #expect(Array(classicMerge(list(1, 3, 5), list(2, 3, 6, 7))) == [1, 2, 3, 5, 6, 7])
    #expect(Array(classicMerge(list(), list(2))) == [2])
    #expect(Array(classicMerge(list(), list())) == [])
  }

  @Test func `two readers of one generator share its values`() {
    let source = classicNumbers(from: 1)
    let a = Generator<Int> { yield in while let value = source.next() { try yield(value) } }
    let b = Generator<Int> { yield in while let value = source.next() { try yield(value * 10) } }
    #expect([a.next(), b.next(), a.next(), b.next()] == [1, 20, 3, 40])
  }

  @Test func `producer, filter and consumer are driven by the consumer`() {
    let notes = Notebook<String>()
    let producer = Generator<String> { yield in
      for line in ["a", "b"] {
        notes.add("make \(line)")
        try yield(line)
      }
    }
    let filter = Generator<String> { yield in
      for (number, line) in producer.enumerated() { try yield("\(number + 1) \(line)") }
    }
    for line in filter { notes.add("use \(line)") }
    #expect(notes.entries == ["make a", "use 1 a", "make b", "use 2 b"])
  }

  @Test func `zip stops with the shorter one and map and filter stay lazy`() {
    let pairs = zip(classicNumbers(from: 1), classicNumbers(from: 10).prefix(3))
    #expect(pairs.map { $0 * $1 } == [10, 22, 36])
    let odd = classicNumbers(from: 1).lazy.filter { $0 % 2 == 1 }.map { $0 * $0 }
    #expect(Array(odd.prefix(4)) == [1, 9, 25, 49])
  }
}
