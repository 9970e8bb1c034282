// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 10: a generator runs only when asked, never ahead.
@Suite struct GeneratorLazinessTests {
  @Test func `after n calls of next the body stands at its n-th yield (rule 10)`() {
    let steps = Steps<Int>()
    let generator = Generator<Int> { yield in
      for value in 1...5 {
        steps.add(value)
        try yield(value)
      }
      steps.add(6)
    }
    #expect(steps.entries == [])
    for value in 1...5 {
      #expect(generator.next() == value)
      #expect(steps.entries == Array(1...value))
    }
    #expect(generator.next() == nil)
    #expect(steps.entries == [1, 2, 3, 4, 5, 6])
  }

  @Test func `after the end, next stays nil and nothing runs`() {
    let steps = Steps<Int>()
    let generator = Generator<Int> { yield in
      steps.add(1)
      try yield(1)
    }
    #expect(generator.next() == 1)
    for _ in 0..<3 { #expect(generator.next() == nil) }
    #expect(steps.entries == [1])
  }

  @Test func `a body that yields nothing makes an empty sequence`() {
    let generator = Generator<Int> { _ in }
    #expect(generator.next() == nil)
    #expect(Array(Generator<Int> { _ in }) == [])
  }

  @Test(arguments: [0, 1, 3])
  func `prefix asks for no value too many (rule 10)`(count: Int) {
    let steps = Steps<Int>()
    let generator = Generator<Int> { yield in
      for value in 0... {
        steps.add(value)
        try yield(value)
      }
    }
    #expect(Array(generator.prefix(count)) == Array(0..<count))
    #expect(steps.entries == Array(0..<count))
  }

  @Test func `a lazy chain pulls one value at a time (rule 10)`() {
    let steps = Steps<Int>()
    let generator = Generator<Int> { yield in
      for value in 0... {
        steps.add(value)
        try yield(value)
      }
    }
    let first = generator.lazy.filter { $0 % 3 == 2 }.map { $0 * 10 }.first { _ in true }
    #expect(first == 20)
    #expect(steps.entries == [0, 1, 2])
  }

  @Test func `54, an infinite counter gives its first ten values`() {
    let counter = Generator<Int> { yield in
      var number = 0
      while true {
        try yield(number)
        number += 1
      }
    }
    #expect((0..<10).map { _ in counter.next() } == Array(0..<10))
  }

  @Test func `56, ten values and a cancel consume exactly ten`() {
    var made = 0
    let random = Generator<UInt64> { yield in
      var source = SeededRandom(seed: 1)
      while true {
        made += 1
        try yield(source.next())
      }
    }
    for _ in 0..<10 { #expect(random.next() != nil) }
    random.cancel()
    #expect(made == 10)
    #expect(random.next() == nil)
    #expect(made == 10)
  }

  @Test func `57, locals are as they were at the yield`() {
    let generator = Generator<String> { yield in
      var text = "a"
      var numbers = [1.5]
      for index in 0..<4 {
        try yield("\(text) \(numbers.reduce(0, +))")
        text += "\(index)"
        numbers.append(Double(index))
      }
    }
    #expect(Array(generator) == ["a 1.5", "a0 1.5", "a01 2.5", "a012 4.5"])
  }
}
