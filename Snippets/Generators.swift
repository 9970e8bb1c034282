// SPDX-License-Identifier: Apache-2.0

import Coroutines

indirect enum Tree {
  case leaf
  case node(Tree, Int, Tree)

  var values: Generator<Int> { Generator { yield in try visit(yield) } }

  private func visit(_ yield: Generator<Int>.Yield) throws {
    guard case .node(let left, let value, let right) = self else { return }
    try left.visit(yield)
    try yield(value)
    try right.visit(yield)
  }
}

let tree = Tree.node(.node(.leaf, 1, .leaf), 2, .node(.leaf, 3, .leaf))
print(Array(tree.values))  // prints [1, 2, 3]

let numbers = Generator<Int> { yield in
  defer { print("unwound") }
  for n in 0... { try yield(n) }
}
for n in numbers where n == 3 { break }  // prints unwound
