// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// How long a loop without work looks around before it puts its thread to sleep.
///
/// To sleep and be woken costs tens of microseconds, most of them on the waker's way; to look around costs
/// a processor. So a loop looks for about as long as sleeping would cost, for less if that has been in
/// vain, and for longer if it was woken so soon that it need not have slept: a loop that is talked to all the
/// time does not sleep in between, one that waits for the world does at once. (Karlin, Manasse, McGeoch,
/// Owicki: Competitive randomized algorithms for nonuniform problems.)
struct IdleSpin {
  private static let most: Int64 = 50_000
  private static let least: Int64 = 1_000
  /// Looks between two looks at the clock, which costs as much as some of them.
  private static let looksPerClock = 16

  /// Nanoseconds.
  private var patience: Int64 = 10_000
  /// When the last wait began to look at the clock.
  private var began: Int64 = 0
  /// With one processor, whoever is waited for could not run meanwhile.
  private let mayHelp: Bool

  /// For the calling thread.
  init() {
    mayHelp = cck_processor_count() > 1 && currentPreemptionObserver() == nil
  }

  /// Looks until there is something, or it has been in vain for long enough.
  ///
  /// - Parameters:
  ///   - deadline: When there is something to do in any case.
  ///   - isOver: There is something.
  /// - Returns: What `isOver` said last.
  @inline(__always)
  mutating func wait(until deadline: Int64?, _ isOver: () -> Bool) -> Bool {
    guard mayHelp else { return isOver() }
    var end: Int64?
    while true {
      for _ in 0..<Self.looksPerClock {
        if isOver() {
          // Something that was there at once says nothing about waiting.
          if end != nil { patience = min(patience * 2, Self.most) }
          return true
        }
        cck_processor_pause()
      }
      let now = clockNow()
      guard let end else {
        began = now
        end = min(now + patience, deadline ?? .max)
        continue
      }
      if now >= end {
        if now < deadline ?? .max { patience = max(patience / 2, Self.least) }
        return false
      }
    }
  }

  /// The loop has slept since the last wait, and somebody has woken it.
  mutating func noteWoken() {
    if mayHelp { patience = Self.patience(patience, wokenAfter: clockNow() - began) }
  }

  /// How long to look, in nanoseconds, after a wait that a longer look could have ended.
  ///
  /// Else two loops that talk to each other could not leave off sleeping once they had begun: each would look for
  /// less time than the other takes to be woken.
  ///
  /// - Parameters:
  ///   - patience: What it was.
  ///   - waited: How long it took until somebody woke the loop.
  /// - Returns: What it is from now on.
  static func patience(_ patience: Int64, wokenAfter waited: Int64) -> Int64 {
    waited < most ? max(patience, min(waited * 2, most)) : patience
  }
}
