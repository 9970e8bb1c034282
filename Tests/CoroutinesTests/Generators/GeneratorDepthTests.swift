// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation
import Testing

/// Yielding from anywhere below the body (behaviour 73).
@Suite struct GeneratorDepthTests {
  @Test func `from functions that the body calls`() {
    func countdown(_ number: Int, _ yield: Generator<Int>.Yield) throws {
      if number == 0 { return }
      try yield(number)
      try countdown(number - 1, yield)
    }
    #expect(Array(Generator { try countdown(200, $0) }) == (1...200).reversed())
  }

  @Test func `from inside forEach and map`() {
    let generator = Generator<Int> { yield in
      try [1, 2, 3].forEach { try yield($0) }
      _ = try [4, 5].map { try yield($0) }
      _ = try (6...7).reduce(0) { sum, value in
        try yield(value)
        return sum + value
      }
    }
    #expect(Array(generator) == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test func `from the comparator of a sort`() {
    var result: [Int] = []
    let generator = Generator<(Int, Int)> { yield in
      result = try [3, 1, 2, 5, 4].sorted {
        try yield(($0, $1))
        return $0 < $1
      }
    }
    var comparisons = 0
    for _ in generator { comparisons += 1 }
    #expect(comparisons >= 4)
    #expect(result == [1, 2, 3, 4, 5])
  }

  @Test func `a sort that is left half way unwinds`() {
    var isSorted = false
    let generator = Generator<Int> { yield in
      _ = try [3, 1, 2].sorted {
        try yield($0)
        return $0 < $1
      }
      isSorted = true
    }
    for _ in generator { break }
    #expect(!isSorted)
  }

  private struct Entry: Decodable {
    static nonisolated(unsafe) var found: ((String) throws -> Void)?
    // SAFETY: only the one test below uses it.

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      try Entry.found?(container.decode(String.self))
    }
  }

  @Test func `from a Codable initialiser`() {
    let generator = Generator<String> { yield in
      Entry.found = { try yield($0) }
      defer { Entry.found = nil }
      _ = try JSONDecoder().decode([Entry].self, from: Data(#"["a", "b", "c"]"#.utf8))
    }
    #expect(Array(generator) == ["a", "b", "c"])
    #expect(generator.error == nil)
  }

  private static nonisolated(unsafe) var compare: ((Int32, Int32) -> Void)?
  // SAFETY: only the one test below uses it.

  @Test func `from a callback of a C function`() {
    let generator = Generator<[Int32]> { yield in
      var numbers: [Int32] = [4, 2, 3, 1]
      Self.compare = { try? yield([$0, $1]) }
      defer { Self.compare = nil }
      qsort(&numbers, numbers.count, MemoryLayout<Int32>.stride) { one, other in
        guard let one = one?.load(as: Int32.self), let other = other?.load(as: Int32.self) else {
          return 0
        }
        GeneratorDepthTests.compare?(one, other)
        return one < other ? -1 : one > other ? 1 : 0
      }
      try yield(numbers)
    }
    let values = Array(generator)
    #expect(values.count >= 4)
    #expect(values.last == [1, 2, 3, 4])
  }

  @Test func `two generators inside each other keep apart`() {
    let outer = Generator<Int> { yield in
      let inner = Generator<Int> { yield in for value in 0..<3 { try yield(value) } }
      for value in inner {
        try yield(value * 10)
        try yield(value * 10 + 1)
      }
    }
    #expect(Array(outer) == [0, 1, 10, 11, 20, 21])
  }

  @Test func `the body of an inner generator may yield for the outer one`() {
    let outer = Generator<String> { outer in
      let inner = Generator<Int> { inner in
        try outer("from below")
        try inner(1)
        try outer("again")
        try inner(2)
      }
      for value in inner { try outer("\(value)") }
    }
    #expect(Array(outer) == ["from below", "1", "again", "2"])
  }
}
