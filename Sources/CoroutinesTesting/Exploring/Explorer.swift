// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The runs of one exploration.
final class Explorer {
  /// One run under a chooser: its error, and its table if it is to be traced.
  typealias Perform = (_ chooser: any Chooser, _ isTraced: Bool) -> (
    error: (any Error)?, table: String
  )

  private let performOnce: Perform
  private(set) var runs = 0
  private var isComplete = false
  private var longestRun = 0

  init(_ perform: @escaping Perform) { performOnce = perform }

  /// Every order within the bounds has been tried.
  func complete() { isComplete = true }

  var report: Exploration {
    Exploration(runs: runs, isComplete: isComplete, longestRun: longestRun)
  }

  typealias Decisions = [(choice: Int, count: Int)]

  /// What one run came to.
  private struct Outcome {
    let decisions: Decisions
    let error: (any Error)?
    let table: String
  }

  private func perform(
    _ choices: [Int],
    among counts: [Int] = [],
    _ rest: any Chooser,
    traced: Bool
  ) -> Outcome {
    let chooser = FollowingChooser(choices, among: counts, then: rest)
    var (failure, table) = performOnce(chooser, traced)
    // A run that failed early has fewer decisions than the one before, and says why by its error.
    if !(failure is ExplorationError),
      let decision = chooser.firstOther ?? (failure == nil ? chooser.missing : nil)
    {
      failure = ExplorationError(decision: decision)
    }
    return Outcome(decisions: chooser.made, error: failure, table: table)
  }

  /// One run; a failure is made as simple as it can be, and thrown.
  ///
  /// - Returns: The decisions.
  @discardableResult
  func run(
    _ choices: [Int],
    among counts: [Int] = [],
    then rest: any Chooser
  ) throws -> Decisions {
    runs += 1
    let outcome = perform(choices, among: counts, rest, traced: false)
    longestRun = max(longestRun, outcome.decisions.count)
    if let error = outcome.error as? ExplorationError { throw error }
    if outcome.error != nil {
      let simplest = simplify(outcome.decisions.map(\.choice))
      let again = perform(simplest, FirstComeChooser(), traced: true)
      throw ExplorationFailure(
        error: again.error ?? ExplorationError(decision: 0),
        runs: runs,
        replay: Schedule(simplest).text,
        table: again.table
      )
    }
    return outcome.decisions
  }

  /// Takes detours out of a failing schedule as long as it still fails.
  private func simplify(_ choices: [Int]) -> [Int] {
    var best = Schedule(choices).choices
    func fails(_ choices: [Int]) -> Bool {
      let error = perform(choices, FirstComeChooser(), traced: false).error
      return error != nil && !(error is ExplorationError)
    }
    guard fails(best) else { return best }
    // Cut the end off, in halves; then take single detours out, from the end.
    var length = best.count / 2
    while length > 0 {
      let shorter = Schedule(Array(best.dropLast(length))).choices
      if shorter.count < best.count, fails(shorter) { best = shorter }
      length /= 2
    }
    for index in best.indices.reversed() where index < best.count && best[index] != 0 {
      var simpler = best
      simpler[index] = 0
      simpler = Schedule(simpler).choices
      if fails(simpler) { best = simpler }
    }
    return best
  }

  /// So many runs by a seed.
  func sample(_ strategy: ExplorationStrategy, _ limit: Int) throws {
    for run in 0..<UInt64(limit) {
      switch strategy {
      case .exhaustive: fatalError("an exhaustive search is no sample")
      case .random(let seed): try self.run([], then: RandomChooser(seed: seed &+ run))
      case .priorities(let depth, let seed):
        let chooser = PriorityChooser(seed: seed &+ run, depth: depth, length: longestRun)
        try self.run([], then: chooser)
      }
    }
  }

  /// All schedules, depth first, within so many delays and runs.
  func exhaust(_ delays: Int?, _ limit: Int) throws {
    var next: Decisions? = []
    while let prefix = next, runs < limit {
      let decisions = try run(
        prefix.map(\.choice),
        among: prefix.map(\.count),
        then: FirstComeChooser()
      )
      next = Self.successor(of: decisions, delays)
    }
    isComplete = next == nil
  }

  /// All schedules but those that differ only in the order of steps that have nothing in common.
  ///
  /// - Parameters:
  ///   - limit: At most so many runs.
  ///   - steps: What the last run did.
  /// - Throws: As `run`.
  func exhaust(_ limit: Int, _ steps: () -> [ExploredStep]) throws {
    var search = StepSearch()
    while let prefix = search.next, runs < limit {
      try run(prefix.map(\.choice), among: prefix.map(\.count), then: FirstComeChooser())
      search.add(steps())
    }
    isComplete = search.next == nil
  }

  /// The next schedule in the order of a depth-first search.
  private static func successor(of decisions: Decisions, _ delays: Int?) -> Decisions? {
    var spent = decisions.reduce(0) { $0 + $1.choice }
    for index in decisions.indices.reversed() {
      let (choice, count) = decisions[index]
      if choice + 1 < count, spent + 1 <= delays ?? .max {
        return decisions[..<index] + [(choice + 1, count)]
      }
      spent -= choice
    }
    return nil
  }
}
