// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// First come, first served: what event loops do.
final class FirstComeChooser: Chooser {
  func choose(among candidates: [UInt64]) -> Int { 0 }
}

/// Any of them, by a seed.
final class RandomChooser: Chooser {
  private var numbers: SplitMix64

  init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  func choose(among candidates: [UInt64]) -> Int {
    Int.random(in: 0..<candidates.count, using: &numbers)
  }
}

/// The one with the highest priority; priorities are drawn by a seed, and change at a few random steps.
///
/// Finds a bug of depth d in a program of n coroutines and k steps with a probability of at least
/// 1/(n·k^(d−1)) a run: Burckhardt, Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with
/// Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010.
final class PriorityChooser: Chooser {
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

  func choose(among candidates: [UInt64]) -> Int {
    for candidate in candidates where priorities[candidate] == nil {
      // Above all that a change can give.
      priorities[candidate] = Int.random(in: 1_000...1_000_000_000, using: &numbers)
    }
    func highest() -> Int {
      candidates.indices.max {
        priorities[candidates[$0], default: 0] < priorities[candidates[$1], default: 0]
      } ?? 0
    }
    if let low = changes[decisions] { priorities[candidates[highest()]] = low }
    decisions += 1
    return highest()
  }
}

/// Follows a list of choices, and then another chooser.
final class FollowingChooser: Chooser {
  private let choices: [Int]
  /// Among how many each choice was made, where that is known.
  private let counts: [Int]
  private let rest: any Chooser
  /// Choices made so far, and among how many.
  private(set) var made: [(choice: Int, count: Int)] = []
  /// The first decision at which other coroutines were ready than the list says.
  private(set) var firstOther: Int?

  init(_ choices: [Int], among counts: [Int] = [], then rest: any Chooser) {
    self.choices = choices
    self.counts = counts
    self.rest = rest
  }

  /// After the run: the first decision of the list that did not come up.
  var missing: Int? { made.count < counts.count ? made.count : nil }

  func choose(among candidates: [UInt64]) -> Int {
    var choice: Int
    if made.count < choices.count {
      choice = choices[made.count]
      let isOther = made.count < counts.count && counts[made.count] != candidates.count
      if isOther || choice >= candidates.count {
        if firstOther == nil { firstOther = made.count }
        choice = min(choice, candidates.count - 1)
      }
    } else {
      choice = rest.choose(among: candidates)
    }
    made.append((choice, candidates.count))
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
