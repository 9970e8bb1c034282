// SPDX-License-Identifier: Apache-2.0

// Shows: generators that yield from inside a recursion. Do two trees have the same leaves in the same order?
//
// The shapes differ, so the trees cannot be walked in step by one recursion. Two generators can: each walks its tree
// only as far as it is asked to, so the comparison stops at the first difference, and what lies behind it is never
// visited.
//
// Output:
//
//   left-leaning and right-leaning: same leaves
//     visited 1000 and 1000 leaves
//   left-leaning and one with another third leaf: different leaves
//     visited 3 and 3 leaves
//   left-leaning and one that ends earlier: different leaves
//     visited 4 and 3 leaves

import Coroutines

indirect enum Tree {
  case leaf(Int)
  case node(Tree, Tree)

  /// The leaves from left to right; `visit` is told of each leaf that is reached.
  func fringe(_ visit: @escaping () -> Void) -> Generator<Int> {
    Generator { yield in try walk(yield, visit) }
  }

  private func walk(_ yield: Generator<Int>.Yield, _ visit: () -> Void) throws {
    switch self {
    case .leaf(let value):
      visit()
      try yield(value)  // from any depth: the whole recursion waits
    case .node(let left, let right):
      try left.walk(yield, visit)
      try right.walk(yield, visit)
    }
  }

  /// A tree that is all left: a node's right side is a leaf.
  static func leaningLeft(_ values: [Int]) -> Tree {
    values.dropFirst().reduce(.leaf(values[0])) { .node($0, .leaf($1)) }
  }

  /// A tree that is all right.
  static func leaningRight(_ values: [Int]) -> Tree {
    values.dropLast().reversed().reduce(.leaf(values[values.count - 1])) { .node(.leaf($1), $0) }
  }
}

func compare(_ one: Tree, _ other: Tree, _ names: String) {
  var (inOne, inOther) = (0, 0)
  let isSame = one.fringe { inOne += 1 }.elementsEqual(other.fringe { inOther += 1 })
  print("\(names): \(isSame ? "same" : "different") leaves")
  print("  visited \(inOne) and \(inOther) leaves")
}

let values = Array(1...1000)
let left = Tree.leaningLeft(values)
var changed = values
changed[2] = 0

compare(left, .leaningRight(values), "left-leaning and right-leaning")
compare(left, .leaningRight(changed), "left-leaning and one with another third leaf")
compare(left, .leaningRight([1, 2, 3]), "left-leaning and one that ends earlier")
