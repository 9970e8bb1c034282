// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// First come, first served: what event loops do.
final class FirstComeChooser: ReadyChooser {
  func choose(among ready: [Coroutine], at time: Int64) -> Int { 0 }
}

/// Any of them, by a seed.
final class RandomChooser: ReadyChooser {
  private var numbers: SplitMix64

  init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  func choose(among ready: [Coroutine], at time: Int64) -> Int {
    Int.random(in: 0..<ready.count, using: &numbers)
  }
}

/// The one with the highest priority; priorities are drawn by a seed, and change at a few random steps.
///
/// Finds a bug of depth d in a program of n coroutines and k steps with a probability of at least
/// 1/(n·k^(d−1)) a run: Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with
/// Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010.
final class PriorityChooser: ReadyChooser {
  private var numbers: SplitMix64
  private var priorities: [UInt64: Int] = [:]
  private var changes: [Int: Int] = [:]
  private var decisions = 0

  /// - Parameters:
  ///   - seed: For the priorities and the steps of change.
  ///   - depth: Number of orderings that the bug needs; 1 or more.
  ///   - length: Decisions that a run takes, as far as is known.
  init(seed: UInt64, depth: Int, length: Int) {
    numbers = SplitMix64(seed: seed)
    for change in 0..<max(0, depth - 1) {
      changes[Int.random(in: 0..<max(1, length), using: &numbers)] = change
    }
  }

  func choose(among ready: [Coroutine], at time: Int64) -> Int {
    for coroutine in ready where priorities[coroutine.id] == nil {
      // Above all that a change can give.
      priorities[coroutine.id] = Int.random(in: 1_000...1_000_000_000, using: &numbers)
    }
    func highest() -> Int {
      ready.indices.max {
        priorities[ready[$0].id, default: 0] < priorities[ready[$1].id, default: 0]
      } ?? 0
    }
    if let low = changes[decisions] { priorities[ready[highest()].id] = low }
    decisions += 1
    return highest()
  }
}

/// Follows a list of choices, and then another chooser.
final class FollowingChooser: ReadyChooser {
  private let choices: [Int]
  /// Among how many each choice was made, where that is known.
  private let counts: [Int]
  private let rest: any ReadyChooser
  /// Choices made so far, and among how many.
  private(set) var made: [(choice: Int, count: Int)] = []
  /// The first decision at which other coroutines were ready than the list says.
  private(set) var firstOther: Int?

  init(_ choices: [Int], among counts: [Int] = [], then rest: any ReadyChooser) {
    self.choices = choices
    self.counts = counts
    self.rest = rest
  }

  /// After the run: the first decision of the list that did not come up.
  var missing: Int? { made.count < counts.count ? made.count : nil }

  func choose(among ready: [Coroutine], at time: Int64) -> Int {
    var choice: Int
    if made.count < choices.count {
      choice = choices[made.count]
      let isOther = made.count < counts.count && counts[made.count] != ready.count
      if isOther || choice >= ready.count {
        if firstOther == nil { firstOther = made.count }
        choice = min(choice, ready.count - 1)
      }
    } else {
      choice = rest.choose(among: ready, at: time)
    }
    made.append((choice, ready.count))
    return choice
  }
}

/// Random numbers from a seed: splitmix64 (Steele, Lea, Flood 2014).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
