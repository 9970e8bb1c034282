// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A tree of two branches.
indirect enum ClassicTree {
  case leaf
  case node(ClassicTree, Int, ClassicTree)

  /// A search tree of some values.
  init(_ values: [Int]) {
    self = .leaf
    for value in values { self = inserting(value) }
  }

  private func inserting(_ new: Int) -> ClassicTree {
    switch self {
    case .leaf: .node(.leaf, new, .leaf)
    case .node(let left, let value, let right):
      new < value
        ? .node(left.inserting(new), value, right) : .node(left, value, right.inserting(new))
    }
  }

  /// In order; each branch is walked by a generator of its own.
  var inOrder: Generator<Int> {
    Generator { yield in
      guard case .node(let left, let value, let right) = self else { return }
      try yield.all(of: left.inOrder)
      try yield(value)
      try yield.all(of: right.inOrder)
    }
  }

  /// In order; one generator, a recursive function.
  var walked: Generator<Int> {
    func walk(_ tree: ClassicTree, _ yield: Generator<Int>.Yield) throws {
      guard case .node(let left, let value, let right) = tree else { return }
      try walk(left, yield)
      try yield(value)
      try walk(right, yield)
    }
    return Generator { yield in try walk(self, yield) }
  }
}

/// 2, 3, 4 and so on.
func classicNumbers(from first: Int) -> Generator<Int> {
  Generator { yield in for number in first... { try yield(number) } }
}

/// Two ascending sequences as one, equal values once.
func classicMerge(_ a: Generator<Int>, _ b: Generator<Int>) -> Generator<Int> {
  Generator { yield in
    var (left, right) = (a.next(), b.next())
    while true {
      switch (left, right) {
      case (nil, nil): return
      case (let value?, nil):
        try yield(value)
        left = a.next()
      case (nil, let value?):
        try yield(value)
        right = b.next()
      case (let one?, let other?):
        try yield(min(one, other))
        if one <= other { left = a.next() }
        if other <= one { right = b.next() }
      }
    }
  }
}
