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
///   - sharing: What the body promises about what its coroutines share. Other than `anything` only in a
///     checked build, and only with `exhaustive()` without a bound on delays.
///   - body: What to explore.
/// - Returns: What was done.
/// - Throws: `ExplorationFailure`, with the fewest detours that still fail; `ExplorationError` if the body is
///   not the same each time; `NoPreemptionPoints` if `sharing` asks for what this build cannot see.
@discardableResult
public func explore(
  _ strategy: ExplorationStrategy = .exhaustive(),
  runs: Int = 10_000,
  replay: String? = nil,
  sharing: ExplorationSharing = .anything,
  _ body: @escaping () throws -> Void
) throws -> Exploration {
  if sharing != .anything { try checkThatReductionIsPossible(strategy) }
  var steps: [ExploredStep] = []
  let explorer = Explorer { chooser, isTraced in
    let scheduler = TestScheduler(chooser, "exploration")
    var interleaving = Interleaving()
    let loop = scheduler.steppedLoop
    if isTraced { loop.afterStep = { [unowned loop] in interleaving.add($0, at: loop.clock) } }
    defer { loop.afterStep = nil }
    do {
      if sharing == .anything {
        try scheduler.run(body)
      } else {
        steps = try StepRecorder.record(loop) { try scheduler.run(body) }
      }
      return (nil, interleaving.table)
    } catch {
      return (error, interleaving.table)
    }
  }
  if let replay {
    try explorer.run(Schedule(replay).choices, then: FirstComeChooser())
  } else if case .exhaustive(let delays) = strategy {
    if sharing == .anything {
      try explorer.exhaust(delays, runs)
    } else {
      try explorer.exhaust(runs) { steps }
    }
  } else {
    try explorer.sample(strategy, runs)
  }
  return explorer.report
}

/// The body did not do the same under the same order, so it cannot be explored.
public struct ExplorationError: Error, CustomStringConvertible {
  /// What was different, as the end of a sentence.
  let difference: String

  /// At a decision other coroutines were ready.
  init(decision: Int) { difference = "at decision \(decision) other coroutines were ready." }

  /// - Parameter difference: What was different, as the end of a sentence.
  init(difference: String) { self.difference = difference }

  /// What happened, and what to do.
  public var description: String {
    "The body did something else under the same order: \(difference) It must not depend on real time, random numbers, "
      + "other threads, or the order of sets."
  }
}
