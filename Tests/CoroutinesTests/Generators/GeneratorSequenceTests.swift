// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// A generator is an ordinary sequence.
@Suite struct GeneratorSequenceTests {
  private func count(to limit: Int) -> Generator<Int> {
    Generator { yield in for value in 0..<limit { try yield(value) } }
  }

  @Test func `for in, map, reduce, contains and sorted work`() {
    var sum = 0
    for value in count(to: 10) { sum += value }
    #expect(sum == 45)
    #expect(count(to: 4).map { $0 * 2 } == [0, 2, 4, 6])
    #expect(count(to: 5).reduce(0, +) == 10)
    #expect(count(to: 5).contains(3))
    #expect(count(to: 3).sorted(by: >) == [2, 1, 0])
    #expect(Set(count(to: 3)) == [0, 1, 2])
    #expect(Array(count(to: 5).dropFirst(3)) == [3, 4])
  }

  @Test func `zip runs two generators side by side`() {
    let pairs = zip(count(to: 3), count(to: 100)).map { $0 + $1 }
    #expect(pairs == [0, 2, 4])
    var lengths: [Int] = []
    for (word, number) in zip(["a", "b"], count(to: 10)) { lengths.append(word.count + number) }
    #expect(lengths == [1, 2])
  }

  @Test func `a generator is used up by its first loop`() {
    let generator = count(to: 10)
    for value in generator where value == 3 { break }
    #expect(Array(generator) == [])
  }

  @Test func `next and a loop share one body`() {
    let generator = count(to: 5)
    #expect(generator.next() == 0)
    #expect(generator.next() == 1)
    #expect(Array(generator) == [2, 3, 4])
  }

  @Test func `values of every shape pass`() {
    typealias Wide = (Int, SIMD8<Double>, String, [Int]?)
    let wide = Generator<Wide> { yield in
      try yield((1, SIMD8(repeating: 2), "three", [4]))
      try yield((5, SIMD8(repeating: 6), "seven", nil))
    }
    #expect(wide.next().map { $0.1[7] + Double($0.2.count + ($0.3?[0] ?? 0)) } == 11)
    #expect(wide.next()?.3 == nil)
    #expect(wide.next() == nil)
    let optionals = Generator<Int?> { yield in
      try yield(nil)
      try yield(2)
    }
    #expect(Array(optionals) == [nil, 2])
    let nothings = Generator<Void> { yield in for _ in 0..<3 { try yield(()) } }
    #expect(Array(nothings).count == 3)
  }

  @Test func `every value is released once`() {
    let census = Census()
    let generator = Generator<Counted> { yield in
      for number in 0..<100 { try yield(Counted(number, census)) }
    }
    var numbers: [Int] = []
    for value in generator.prefix(50) {
      numbers.append(value.number)
      #expect(census.alive <= 2)
    }
    #expect(numbers == Array(0..<50))
    #expect(census.alive == 0)
  }

  @Test(arguments: [StackSize.small, .default, .kibibytes(16), .kibibytes(1_024)])
  func `a generator runs on a stack of any size`(size: StackSize) {
    let generator = Generator<Int>(stackSize: size) { yield in
      for value in 0..<10 { try yield(value) }
    }
    #expect(Array(generator) == Array(0..<10))
  }
}
