// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Searches that yield their solutions from inside the recursion.
@Suite(.timeLimit(.minutes(30))) struct ClassicPuzzleTests {
  private func permutations(_ values: [Int]) -> Generator<[Int]> {
    func permute(
      _ values: inout [Int],
      _ count: Int,
      _ yield: Generator<[Int]>.Yield
    ) throws {
      if count <= 1 { return try yield(values) }
      for index in 0..<count {
        values.swapAt(index, count - 1)
        try permute(&values, count - 1, yield)
        values.swapAt(index, count - 1)
      }
    }
    return Generator { yield in
      var values = values
      try permute(&values, values.count, yield)
    }
  }

  private func combinations(_ values: ArraySlice<Int>, _ count: Int) -> Generator<[Int]> {
    Generator { yield in
      guard count > 0 else { return try yield([]) }
      guard let first = values.first else { return }
      for rest in self.combinations(values.dropFirst(), count - 1) { try yield([first] + rest) }
      try yield.all(of: self.combinations(values.dropFirst(), count))
    }
  }

  private func queens(_ size: Int) -> Generator<[Int]> {
    func place(_ columns: [Int], _ yield: Generator<[Int]>.Yield) throws {
      if columns.count == size { return try yield(columns) }
      for column in 0..<size {
        let isFree = columns.enumerated().allSatisfy { row, other in
          other != column && abs(other - column) != columns.count - row
        }
        if isFree { try place(columns + [column], yield) }
      }
    }
    return Generator { yield in try place([], yield) }
  }

  @Test func `the permutations of three are six, all different`() {
    let all = Array(permutations([1, 2, 3]))
    #expect(Set(all).count == 6)
    #expect(all.count == 6)
    #expect(all.allSatisfy { $0.sorted() == [1, 2, 3] })
  }

  @Test func `permutations come one at a time, with the search waiting in its inout`() {
    let generator = permutations(Array(1...20))
    #expect(generator.next() != nil)
    #expect(generator.next() != nil)
  }

  @Test func `the combinations of two of four come in order`() {
    #expect(
      Array(combinations([1, 2, 3, 4], 2)) == [
        [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4],
      ]
    )
  }

  @Test func `combinations of none are one, of too many are none`() {
    #expect(Array(combinations([1, 2], 0)) == [[]])
    #expect(Array(combinations([1, 2], 3)) == [])
  }

  @Test func `six queens stand in four ways, the first of them known`() {
    let all = Array(queens(6))
    #expect(all.count == 4)
    #expect(all.first == [1, 3, 5, 0, 2, 4])
  }

  @Test func `the first placement of eight queens is found without the others`() {
    #expect(queens(8).next() == [0, 4, 7, 5, 2, 6, 1, 3])
  }

  @Test func `eight queens stand in ninety-two ways`() {
    var count = 0
    for _ in queens(8) { count += 1 }
    #expect(count == 92)
  }

  @Test func `a knight tours a board of five by five`() throws {
    let size = 5
    let jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
    func moves(_ from: Int, _ visited: [Bool]) -> [Int] {
      jumps.compactMap { right, up in
        let (column, row) = (from % size + right, from / size + up)
        guard (0..<size).contains(column), (0..<size).contains(row) else { return nil }
        return visited[row * size + column] ? nil : row * size + column
      }
    }
    let tours = Generator<[Int]> { yield in
      var visited = Array(repeating: false, count: size * size)
      var path: [Int] = []
      func tour(_ square: Int) throws {
        visited[square] = true
        path.append(square)
        if path.count == size * size { try yield(path) }
        // The square with the fewest ways on comes first.
        for next in moves(square, visited).sorted(by: {
          moves($0, visited).count < moves($1, visited).count
        }) {
          try tour(next)
        }
        path.removeLast()
        visited[square] = false
      }
      try tour(0)
    }
    let path = try #require(tours.next())
    #expect(Set(path).count == 25)
    for (from, to) in zip(path, path.dropFirst()) {
      let (right, up) = (abs(from % size - to % size), abs(from / size - to / size))
      #expect(right * up == 2)
    }
  }

  @Test func `generators conjoined count like the digits of a number`() {
    func conjoin(_ digits: [Generator<Int>.Source]) -> Generator<[Int]> {
      Generator { yield in
        var values = Array(repeating: 0, count: digits.count)
        func turn(_ place: Int) throws {
          if place == digits.count { return try yield(values) }
          for digit in digits[place]() {
            values[place] = digit
            try turn(place + 1)
          }
        }
        try turn(0)
      }
    }
    let bit: Generator<Int>.Source = { Generator { yield in try yield.all(of: [0, 1]) } }
    #expect(
      Array(conjoin([bit, bit, bit])).map { $0[0] * 4 + $0[1] * 2 + $0[2] } == Array(0..<8)
    )
    #expect(Array(conjoin([])) == [[]])
  }

  @Test func `a later choice may depend on an earlier one`() {
    let triples = Generator<[Int]> { yield in
      for c in classicNumbers(from: 1) {
        for b in 1...c { for a in 1...b where a * a + b * b == c * c { try yield([a, b, c]) } }
      }
    }
    #expect(Array(triples.prefix(3)) == [[3, 4, 5], [6, 8, 10], [5, 12, 13]])
  }

  @Test func `a generator of changes counts the ways to pay`() {
    func ways(_ amount: Int, _ coins: ArraySlice<Int>) -> Generator<[Int]> {
      Generator { yield in
        if amount == 0 { return try yield([]) }
        guard let coin = coins.first else { return }
        if coin <= amount {
          for rest in ways(amount - coin, coins) { try yield([coin] + rest) }
        }
        try yield.all(of: ways(amount, coins.dropFirst()))
      }
    }
    #expect(Array(ways(10, [5, 2, 1])).count == 10)
  }
}

extension Generator {
  /// Makes a generator.
  fileprivate typealias Source = () -> Generator
}
