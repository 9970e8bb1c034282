// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// The clock of the scheduler that the calling code runs on.
///
/// `sleep`, `withTimeout` and `withDeadline` go by this clock. On real schedulers it is the system's
/// monotonic clock; a scheduler with virtual time shows its own. Instants of different schedulers
/// compare only if both are real.
public struct CoroutineClock: Clock {
  /// A point in a scheduler's time.
  public struct Instant: InstantProtocol {
    /// Nanoseconds since the clock's beginning.
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
      self.nanoseconds = nanoseconds
    }

    /// The instant that lies `duration` later.
    ///
    /// - Parameter duration: How much later; may be negative.
    /// - Returns: The instant; saturates some 292 years away.
    public func advanced(by duration: Duration) -> Instant {
      let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.saturatedNanoseconds)
      guard overflow else { return Instant(nanoseconds: sum) }
      return Instant(nanoseconds: duration < .zero ? .min : .max)
    }

    /// How much later `other` is.
    ///
    /// - Parameter other: The other instant.
    /// - Returns: The time in between; negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration {
      .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// True if `one` is earlier.
    public static func < (one: Instant, other: Instant) -> Bool {
      one.nanoseconds < other.nanoseconds
    }
  }

  /// The clock of the calling code's scheduler.
  public init() {}

  /// This moment, in the time of the calling code's scheduler.
  public var now: Instant { Instant(nanoseconds: Self.nanoseconds) }

  /// The clock's resolution.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends a task until the deadline.
  ///
  /// In a coroutine, call `Coroutine.sleep(until:)`.
  ///
  /// - Parameters:
  ///   - deadline: When to go on.
  ///   - tolerance: How much later is still fine.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await Task.sleep(for: now.duration(to: deadline), tolerance: tolerance)
  }

  package static var nanoseconds: Int64 {
    guard let home = currentThread().currentHome else {
      return clockNow()
    }
    let now = home.withCore { $0.now }
    // A wait that begins now is told of with its true length, however long the turn was before.
    home.pointee.lookedAt = now
    return now
  }
}

extension Duration {
  /// Nanoseconds, clamped to what 64 bits hold (292 years).
  package var saturatedNanoseconds: Int64 {
    let attoseconds = attoseconds
    // Up to 18 seconds: no division of 128 bits.
    if let few = UInt64(exactly: attoseconds) { return Int64(few / 1_000_000_000) }
    return Int64(clamping: attoseconds / 1_000_000_000)
  }
}
