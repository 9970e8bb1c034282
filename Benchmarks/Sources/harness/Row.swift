// SPDX-License-Identifier: Apache-2.0

/// One benchmark.
public struct Row: Sendable {
  /// As all programs call it.
  public let name: String
  /// How many operations it does when it is not told; nil finds out how many take 0.3 s.
  public let operations: Int?
  /// Whether a short run goes before the one that counts.
  public let warmsUp: Bool
  /// Does so many operations.
  public let body: @Sendable (Int) throws -> Outcome

  /// A benchmark that finds out how many operations take 0.3 s.
  public init(_ name: String, _ body: @escaping @Sendable (Int) throws -> Int) {
    self.name = name
    operations = nil
    warmsUp = true
    self.body = { Outcome(try body($0)) }
  }

  /// A benchmark with a number of operations of its own.
  public init(
    _ name: String,
    operations: Int,
    warmsUp: Bool = false,
    _ body: @escaping @Sendable (Int) throws -> Outcome
  ) {
    self.name = name
    self.operations = operations
    self.warmsUp = warmsUp
    self.body = body
  }
}

/// What a run came to.
public struct Outcome: Sendable {
  /// The same for every program that does as many operations.
  public let result: Int
  /// The time that counts, if it is not that of the whole body.
  public var elapsed: Elapsed?
  /// Further figures.
  public var extras: [(name: String, value: Double)] = []
  /// What a reader of the table has to know.
  public var note: String?

  /// An outcome without further figures.
  public init(_ result: Int) { self.result = result }

  /// Adds the middle, the 99th of a hundred and the greatest of some times in nanoseconds, and how many
  /// of a whole are at most 1, 2, 4, … µs.
  public mutating func addOvershoot(_ nanoseconds: [Int]) {
    let sorted = nanoseconds.sorted()
    guard let last = sorted.last else { return }
    extras.append(("p50_us", Double(sorted[sorted.count / 2]) / 1000))
    extras.append(("p99_us", Double(sorted[sorted.count * 99 / 100]) / 1000))
    extras.append(("max_us", Double(last) / 1000))
    var index = 0
    for power in 0...20 {
      while index < sorted.count, sorted[index] <= 1000 << power { index += 1 }
      extras.append(("le_\(1 << power)_us", Double(index) / Double(sorted.count)))
    }
  }
}
