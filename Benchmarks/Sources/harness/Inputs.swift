// SPDX-License-Identifier: Apache-2.0

/// Numbers that look random and are the same in all programs.
public struct Xorshift: Sendable {
  private var state: UInt64 = 88_172_645_463_325_252

  /// From the beginning.
  public init() {}

  /// From a place of its own.
  public init(seed: Int) { state &+= UInt64(seed) &* 2_654_435_761 }

  /// The next number.
  public mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }

  /// What a worker makes of a number: some microseconds of arithmetic.
  public static func job(_ number: Int) -> Int {
    var random = Xorshift(seed: number)
    for _ in 1..<Shape.jobSteps { _ = random.next() }
    return Int(random.next() % 1024)
  }

  /// So many lengths of sleep, from 1 to 1000 ms.
  public static func sleeps(_ count: Int) -> [Int] {
    var random = Xorshift()
    return (0..<count).map { _ in Int(1 + random.next() % 1000) }
  }
}

/// A binary tree with a value in each node.
public final class Tree: Sendable {
  /// What is less.
  public let left: Tree?
  /// What is greater.
  public let right: Tree?
  /// The node's own.
  public let value: Int

  init(_ left: Tree?, _ value: Int, _ right: Tree?) {
    self.left = left
    self.right = right
    self.value = value
  }

  /// The numbers of a range in a tree that is as flat as can be.
  public static func balanced(_ low: Int, _ high: Int) -> Tree? {
    guard low < high else { return nil }
    let middle = (low + high) / 2
    return Tree(balanced(low, middle), middle, balanced(middle + 1, high))
  }

  /// The numbers of a range in the leaves of a tree that puts one in so many to the left.
  public static func leaves(_ low: Int, _ high: Int, oneIn share: Int) -> Tree? {
    guard high - low > 1 else { return Tree(nil, low, nil) }
    let middle = low + max(1, (high - low) / share)
    return Tree(leaves(low, middle, oneIn: share), -1, leaves(middle, high, oneIn: share))
  }
}

/// What the rows have in common, in all languages.
public enum Shape {
  /// Values in the tree that is walked.
  public static let treeValues = 4095
  /// Leaves of the trees that are compared.
  public static let fringe = 1024
  /// Numbers that are permuted.
  public static let permuted = 8
  /// Coroutines in the ring.
  public static let ring = 503
  /// Creatures that meet.
  public static let creatures = 10
  /// Actors that send to one another.
  public static let bigActors = 100
  /// Coroutines that are launched from outside before the first of them is asked for its value.
  public static let batch = 100
  /// Coroutines at the wide end of a fan.
  public static let fan = 64
  /// Links of a chain of promises.
  public static let chain = 1000
  /// Coroutines that hand over a mutex.
  public static let contenders = 8
  /// Coroutines that wait for jobs.
  public static let workers = 8
  /// Numbers that a job computes.
  public static let jobSteps = 4000
  /// Children of a scope.
  public static let children = 10
  /// Questions that are asked at once.
  public static let askers = 100
  /// How many coroutines take turns.
  public static let crowds = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
  /// How many wait, sleep or are ready at once.
  public static let growth = [1000, 10_000, 100_000, 1_000_000]
  /// How many produce and how many consume.
  public static let grid = [1, 4, 16, 64]
}
