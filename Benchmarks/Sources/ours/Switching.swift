// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let switching = [
  Row("switch", switches), Row("yield", yields), Row("generator", generatorValues),
  Row("tree-walk", treeWalk), Row("same-fringe", sameFringe), Row("permutations", permutations),
]

/// There and back is two switches: a generator has no scheduler between it and its caller.
private func switches(_ count: Int) throws -> Int {
  var rounds = 0
  let other = Generator<Void> { yield in
    while true {
      rounds += 1
      try yield(())
    }
  }
  for _ in 0..<count / 2 { _ = other.next() }
  return rounds
}

private func yields(_ count: Int) throws -> Int {
  try runBlocking {
    var rounds = 0
    let other = launch {
      while true {
        rounds += 1
        try Coroutine.yield()
      }
    }
    for _ in 0..<count / 2 { try Coroutine.yield() }
    other.cancel()
    return rounds
  }
}

private func generatorValues(_ count: Int) throws -> Int {
  let numbers = Generator<Int> { yield in
    for number in 0..<count { try yield(number) }
  }
  var sum = 0
  for number in numbers { sum += number }
  return sum
}

extension Tree {
  fileprivate var values: Generator<Int> { Generator { yield in try self.visit(yield) } }

  private func visit(_ yield: Generator<Int>.Yield) throws {
    try left?.visit(yield)
    try yield(value)
    try right?.visit(yield)
  }

  fileprivate var fringe: Generator<Int> { Generator { yield in try self.visitLeaves(yield) } }

  private func visitLeaves(_ yield: Generator<Int>.Yield) throws {
    // Not `guard let`, which would count a reference to each child while it is visited.
    if left == nil { return try yield(value) }
    try left?.visitLeaves(yield)
    try right?.visitLeaves(yield)
  }
}

private func treeWalk(_ count: Int) throws -> Int {
  guard let tree = Tree.balanced(0, Shape.treeValues) else { return 0 }
  var (sum, left) = (0, count)
  while left > 0 {
    for value in tree.values {
      sum += value
      left -= 1
      if left == 0 { break }
    }
  }
  return sum
}

private func sameFringe(_ count: Int) throws -> Int {
  guard let one = Tree.leaves(0, Shape.fringe, oneIn: 2),
    let other = Tree.leaves(0, Shape.fringe, oneIn: 8)
  else { return 0 }
  var (sum, left) = (0, count)
  while left > 0 {
    for (a, b) in zip(one.fringe, other.fringe) {
      if a == b { sum += a }
      left -= 1
      if left == 0 { break }
    }
  }
  return sum
}

/// The numbers from a place on, put into all orders in place.
private func permute(
  _ numbers: inout [Int],
  from place: Int,
  _ yield: Generator<Int>.Yield
) throws {
  if place == numbers.count { return try yield(numbers[0] * 8 + numbers[numbers.count - 1]) }
  for other in place..<numbers.count {
    numbers.swapAt(place, other)
    try permute(&numbers, from: place + 1, yield)
    numbers.swapAt(place, other)
  }
}

private func permutations(_ count: Int) throws -> Int {
  var (sum, left) = (0, count)
  while left > 0 {
    let all = Generator<Int> { yield in
      var numbers = Array(0..<Shape.permuted)
      try permute(&numbers, from: 0, yield)
    }
    for permutation in all {
      sum += permutation
      left -= 1
      if left == 0 { break }
    }
  }
  return sum
}
