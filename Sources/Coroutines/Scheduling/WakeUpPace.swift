// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// How often a loop lets its sleep end for one kind of reason: timers, or offloaded work that has ended.
///
/// To sleep and be woken costs several microseconds, so a loop with a hundred thousand sleepers would do
/// little else than wake up for one after the other. A few wake-ups in a row come at the exact time; if
/// timers keep coming, there is one for each period, and it fires all that became due meanwhile. So only in
/// a crowd do sleepers wake up later than they could, and not later than by a period. The same goes for those who wait for
/// offloaded work (`Idling`).
///
/// (The rate is kept by the generic cell rate algorithm, ITU-T I.371: `paid` is the time up to which
/// wake-ups have been paid for, and may be ahead of the clock by so many periods.)
struct WakeUpPace {
  /// Nanoseconds: less than sleepers are late by anyway where many threads run, and 4,000 wake-ups a second at most.
  private static let period: Int64 = 250_000
  /// Wake-ups in a row that need not wait.
  private static let burst: Int64 = 8

  private var paid = Int64.min
  /// The explorer's clock does not go on by itself.
  private let isKept: Bool

  /// For the calling thread.
  init() { isKept = currentPreemptionObserver() == nil }

  /// When to wake up for a timer.
  ///
  /// - Parameter deadline: The nearest.
  /// - Returns: The deadline, or when the next wake-up is due if that is later.
  func next(for deadline: Int64) -> Int64 {
    let (earliest, isLongAgo) = paid.subtractingReportingOverflow(Self.burst * Self.period)
    return isLongAgo || !isKept ? deadline : max(deadline, earliest)
  }

  /// For how long to sleep on, for the next wake-up to be due.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - timeout: At most so many nanoseconds; negative: as many as it takes.
  /// - Returns: Nanoseconds; nil: it is due.
  func pause(at now: Int64, atMost timeout: Int64) -> Int64? {
    let pause = next(for: now) - now
    guard pause > 0 else { return nil }
    return timeout < 0 ? pause : min(pause, timeout)
  }

  /// The loop has woken up for the reason that this is about.
  mutating func noteWakeUp(at now: Int64) { paid = max(paid, now) + Self.period }
}
