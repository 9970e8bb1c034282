// SPDX-License-Identifier: Apache-2.0

// Shows: a search that is a plain `Sequence`. N queens on a board, none of which attacks another.
//
// The search is an ordinary recursion that yields each solution where it finds it. Whoever uses it takes the first
// few, filters, or counts, with the methods of `Sequence`; the search runs no further than it is asked to.
//
// Output:
//
//   8 queens, the first 3 of them, after 1340 queens were tried:
//     1 5 8 6 3 7 2 4
//     1 6 8 3 7 4 2 5
//     1 7 4 6 8 2 5 3
//   8 queens, the first with a queen in the middle of the first row: 4 1 5 8 2 7 3 6
//   6 queens have 4 solutions
//   12 queens, the first: 1 3 5 8 10 12 6 11 2 7 9 4

import Coroutines

/// Places queens row by row; a solution is the column of each row's queen.
struct Queens {
  let count: Int
  var onTry: () -> Void = {}

  var solutions: Generator<[Int]> {
    Generator { yield in
      var columns: [Int] = []
      try place(&columns, yield)
    }
  }

  private func place(_ columns: inout [Int], _ yield: Generator<[Int]>.Yield) throws {
    if columns.count == count { return try yield(columns) }
    for column in 1...count {
      onTry()
      guard isFree(column, columns) else { continue }
      columns.append(column)
      try place(&columns, yield)
      columns.removeLast()
    }
  }

  private func isFree(_ column: Int, _ columns: [Int]) -> Bool {
    columns.enumerated().allSatisfy { row, other in
      other != column && abs(other - column) != columns.count - row
    }
  }
}

func show(_ solution: [Int]?) -> String {
  solution?.map(String.init).joined(separator: " ") ?? "none"
}

var tries = 0
let firstThree = Array(Queens(count: 8, onTry: { tries += 1 }).solutions.prefix(3))
print("8 queens, the first 3 of them, after \(tries) queens were tried:")
for solution in firstThree { print("  " + show(solution)) }

let inTheMiddle = Queens(count: 8).solutions.first { $0[0] == 4 }
print("8 queens, the first with a queen in the middle of the first row:", show(inTheMiddle))

print("6 queens have", Queens(count: 6).solutions.reduce(0) { count, _ in count + 1 }, "solutions")
print("12 queens, the first:", show(Queens(count: 12).solutions.first { _ in true }))
