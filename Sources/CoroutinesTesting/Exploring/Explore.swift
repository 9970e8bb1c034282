// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// How `explore` goes through the orders in which coroutines can run.
public enum ExplorationStrategy: Sendable {
  /// All of them, one after the other, first come, first served to begin with.
  ///
  /// `delays` bounds how often, in one run, a coroutine is passed over that was first in line: few are
  /// enough for most bugs, and many orders are left out (Emmi, Qadeer, Rakamarić, *Delay-Bounded
  /// Scheduling*, POPL 2011). Without a bound, it ends when all have been seen, or after `runs`.
  case exhaustive(delays: Int? = nil)

  /// Any, by a seed.
  case random(seed: UInt64 = 1)

  /// By random priorities that change at `depth` - 1 random steps: finds a bug that needs so many
  /// orderings with a known probability (Burckhardt et al., ASPLOS 2010).
  case priorities(depth: Int = 3, seed: UInt64 = 1)
}

/// What `explore` did.
public struct Exploration: Sendable, CustomStringConvertible {
  /// Runs of the body.
  public let runs: Int
  /// Every order within the bounds was tried.
  public let isComplete: Bool
  /// Decisions with a choice in the longest run.
  public let longestRun: Int

  /// `312 runs, all orders, at most 9 decisions`.
  public var description: String {
    "\(runs) runs, \(isComplete ? "all orders" : "some orders"), at most \(longestRun) decisions"
  }
}

/// A run that `explore` found, and how to see it again.
public struct ExplorationFailure: Error, CustomStringConvertible {
  /// What the body threw; a `Deadlock`; what nobody looked at.
  public let error: any Error
  /// Runs until it was found.
  public let runs: Int
  /// Makes `explore(replay:)` and `TestScheduler(order: .replay(…))` do the same again.
  public let replay: String
  /// What ran when.
  public let table: String

  /// All of this.
  public var description: String {
    """
    Run \(runs) failed: \(error)
    To see it again: explore(replay: "\(replay)")
    \(table)
    """
  }
}

/// Runs `body` again and again, each time in another order of its coroutines, until one fails.
///
/// ```swift
/// try explore {
///   let account = Account()
///   try withCoroutineScope { scope in
///     scope.launch { try account.deposit(1) }
///     scope.launch { try account.deposit(1) }
///   }
///   try #require(account.balance == 2)
/// }
/// ```
///
/// The body runs as `TestScheduler.run` runs it, with virtual time, and must make what it uses itself, and do
/// the same whenever the order is the same: no real time, no random numbers of its own, no iteration of sets and
/// dictionaries, whose order differs from process to process. A run fails when the body throws, when a
/// coroutine throws and nobody looks, or when there is a deadlock; so let expectations throw.
///
/// The real library runs, as it is; orders differ at the points where coroutines park or end.
///
/// - Parameters:
///   - strategy: How to go through the orders.
///   - runs: At most so many.
///   - replay: The order of an earlier report: only that one is run.
///   - body: What to explore.
/// - Returns: What was done.
/// - Throws: `ExplorationFailure`, with the fewest detours that still fail; `ExplorationError` if the body is
///   not the same each time.
@discardableResult
public func explore(
  _ strategy: ExplorationStrategy = .exhaustive(),
  runs: Int = 10_000,
  replay: String? = nil,
  _ body: @escaping () throws -> Void
) throws -> Exploration {
  let explorer = Explorer(body)
  if let replay {
    try explorer.run(Schedule(replay).choices, then: FirstComeChooser())
  } else {
    switch strategy {
    case .exhaustive(let delays): try explorer.exhaust(delays, runs)
    case .random(let seed):
      for run in 0..<runs {
        try explorer.run([], then: RandomChooser(seed: seed &+ UInt64(run)))
      }
    case .priorities(let depth, let seed):
      for run in 0..<runs {
        let chooser = PriorityChooser(
          seed: seed &+ UInt64(run),
          depth: depth,
          length: explorer.longestRun
        )
        try explorer.run([], then: chooser)
      }
    }
  }
  return explorer.report
}

/// The body did not do the same under the same order, so it cannot be explored.
public struct ExplorationError: Error, CustomStringConvertible {
  let decision: Int

  /// What happened, and what to do.
  public var description: String {
    "The body did something else under the same order: at decision \(decision) other coroutines were ready. It "
      + "must not depend on real time, random numbers, other threads, or the order of sets."
  }
}

/// The runs of one exploration.
final class Explorer {
  private let body: () throws -> Void
  private var runs = 0
  private var isComplete = false
  private(set) var longestRun = 0

  init(_ body: @escaping () throws -> Void) { self.body = body }

  var report: Exploration {
    Exploration(runs: runs, isComplete: isComplete, longestRun: longestRun)
  }

  private typealias Decisions = [(choice: Int, count: Int)]

  /// What one run came to.
  private struct Outcome {
    let decisions: Decisions
    let error: (any Error)?
    let table: String
  }

  private func perform(
    _ choices: [Int],
    among counts: [Int] = [],
    _ rest: any ReadyChooser,
    traced: Bool
  ) -> Outcome {
    let chooser = FollowingChooser(choices, among: counts, then: rest)
    let scheduler = TestScheduler(chooser, "exploration")
    var interleaving = Interleaving()
    if traced {
      let loop = scheduler.steppedLoop
      loop.afterStep = { [unowned loop] in interleaving.add($0, at: loop.clock) }
    }
    var failure: (any Error)?
    do {
      try scheduler.run(body)
    } catch {
      failure = error
    }
    scheduler.steppedLoop.afterStep = nil
    // A run that failed early has fewer decisions than the one before, and says why by its error.
    if let decision = chooser.firstOther ?? (failure == nil ? chooser.missing : nil) {
      failure = ExplorationError(decision: decision)
    }
    return Outcome(
      decisions: chooser.made,
      error: failure,
      table: traced ? interleaving.table : ""
    )
  }

  /// One run; a failure is made as simple as it can be, and thrown.
  ///
  /// - Returns: The decisions.
  @discardableResult
  func run(
    _ choices: [Int],
    among counts: [Int] = [],
    then rest: any ReadyChooser
  ) throws -> [(choice: Int, count: Int)] {
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
