// SPDX-License-Identifier: Apache-2.0

import harness

/// Numbers from a closure, behind a type that hides it.
func generatorValues(_ count: Int) -> Int {
  var next = 0
  let numbers = AnyIterator<Int> {
    guard next < count else { return nil }
    defer { next += 1 }
    return next
  }
  var sum = 0
  for number in numbers { sum += number }
  return sum
}

/// The nodes of a tree in order: what recursion would remember is kept by hand.
struct TreeIterator: IteratorProtocol {
  private var path: [Tree] = []

  init(_ tree: Tree) { descend(tree) }

  private mutating func descend(_ tree: Tree?) {
    var node = tree
    while let here = node {
      path.append(here)
      node = here.left
    }
  }

  mutating func next() -> Int? {
    guard let here = path.popLast() else { return nil }
    descend(here.right)
    return here.value
  }
}

/// The leaves of a tree in order.
struct FringeIterator: IteratorProtocol {
  private var pending: [Tree]

  init(_ tree: Tree) { pending = [tree] }

  mutating func next() -> Int? {
    while let here = pending.popLast() {
      guard let left = here.left, let right = here.right else { return here.value }
      pending.append(right)
      pending.append(left)
    }
    return nil
  }
}

/// All orders of the numbers; for each place, which number is swapped there.
struct PermutationIterator: IteratorProtocol {
  private var numbers = Array(0..<Shape.permuted)
  private var choices = Array(0..<Shape.permuted)
  private var hasBegun = false

  mutating func next() -> Int? {
    if hasBegun, !advance() { return nil }
    hasBegun = true
    return numbers[0] * 8 + numbers[numbers.count - 1]
  }

  private mutating func advance() -> Bool {
    for place in numbers.indices.reversed() {
      numbers.swapAt(place, choices[place])
      if choices[place] + 1 < numbers.count {
        choices[place] += 1
        numbers.swapAt(place, choices[place])
        return true
      }
      choices[place] = place
    }
    return false
  }
}

func treeWalk(_ count: Int) -> Int {
  guard let tree = Tree.balanced(0, Shape.treeValues) else { return 0 }
  var (sum, left) = (0, count)
  while left > 0 {
    var values = TreeIterator(tree)
    while left > 0, let value = values.next() {
      sum += value
      left -= 1
    }
  }
  return sum
}

func sameFringe(_ count: Int) -> Int {
  guard let one = Tree.leaves(0, Shape.fringe, oneIn: 2),
    let other = Tree.leaves(0, Shape.fringe, oneIn: 8)
  else { return 0 }
  var (sum, left) = (0, count)
  while left > 0 {
    var (a, b) = (FringeIterator(one), FringeIterator(other))
    while left > 0, let x = a.next(), let y = b.next() {
      if x == y { sum += x }
      left -= 1
    }
  }
  return sum
}

func permutations(_ count: Int) -> Int {
  var (sum, left) = (0, count)
  while left > 0 {
    var all = PermutationIterator()
    while left > 0, let permutation = all.next() {
      sum += permutation
      left -= 1
    }
  }
  return sum
}

Program(
  peer: "iterators",
  rows: [
    Row("generator", generatorValues), Row("tree-walk", treeWalk), Row("same-fringe", sameFringe),
    Row("permutations", permutations),
  ]
).run()
