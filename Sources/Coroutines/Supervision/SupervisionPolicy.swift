// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Who is restarted when a child is.
public enum SupervisionStrategy: Sendable, Hashable {
  /// The child alone.
  case oneForOne
  /// All children: the others are stopped, last first, and then all are started in their order.
  case allForOne
  /// The child and those that were added after it, which may depend on it.
  case restForOne
}

/// When a child is restarted, as in OTP.
public enum ChildRestart: Sendable, Hashable {
  /// Always: also when its body returns.
  case permanent
  /// When its body throws.
  ///
  /// A return is its end, and so is a `CancellationError`.
  case transient
  /// Never; and it goes when its siblings are restarted.
  case temporary
}

/// What a supervisor does about a child's error.
public enum SupervisionDirective: Sendable, Hashable {
  /// Restart, by the strategy, within the intensity.
  case restart
  /// Let this child go, for good.
  case stop
  /// Give up: stop all children and end with an error, about which the supervisor's own supervisor decides.
  case escalate
}

/// How many restarts a supervisor makes before it gives up.
public struct RestartIntensity: Sendable, Hashable {
  /// Most restarts within the window; of a group, all together count as one.
  public let restarts: Int
  /// The time that is looked at, by the clock of the supervisor's scheduler.
  public let window: Duration

  /// An intensity.
  ///
  /// - Parameters:
  ///   - restarts: Most restarts within the window; 0 or more.
  ///   - window: How far to look back.
  public init(_ restarts: Int, within window: Duration) {
    demand(restarts >= 0, "An intensity of \(restarts) restarts; it must be 0 or more.")
    self.restarts = restarts
    self.window = window
  }

  /// Three restarts within five seconds.
  public static let `default` = RestartIntensity(3, within: .seconds(5))
}

/// How long a supervisor waits before it restarts a child.
public struct RestartBackoff: Sendable, Hashable {
  let first: Duration
  let cap: Duration
  let factor: Double
  let jitter: Double
  let seed: UInt64?
  let resetAfter: Duration

  /// Not at all.
  public static let none = exponential(from: .zero, to: .zero)

  /// Longer with each failure in a row, up to a limit.
  ///
  /// - Parameters:
  ///   - first: Before the first restart.
  ///   - cap: At most.
  ///   - factor: How much longer with each failure; 1 or more.
  ///   - jitter: Which part of it is left to chance, from 0 to 1: so that many children do not come back at the same
  ///     moment. It makes waits shorter, never longer.
  ///   - seed: Makes the chances the same in every run; nil for the system's random numbers.
  ///   - resetAfter: A child that has run for so long begins with `first` again; `cap` if left out.
  /// - Returns: The back-off.
  public static func exponential(
    from first: Duration,
    to cap: Duration,
    factor: Double = 2,
    jitter: Double = 0,
    seed: UInt64? = nil,
    resetAfter: Duration? = nil
  ) -> RestartBackoff {
    demand(
      first >= .zero && cap >= first,
      "A back-off from \(first) to \(cap); it must begin at 0 or more and end no earlier than it begins."
    )
    demand(factor >= 1, "A back-off with a factor of \(factor); it must be 1 or more.")
    demand((0...1).contains(jitter), "A jitter of \(jitter); it must be from 0 to 1.")
    return RestartBackoff(
      first: first,
      cap: cap,
      factor: factor,
      jitter: jitter,
      seed: seed,
      resetAfter: resetAfter ?? cap
    )
  }

  /// The wait after so many failures in a row.
  ///
  /// - Parameters:
  ///   - failures: 1 or more.
  ///   - chance: From 0 up to, not including, 1.
  /// - Returns: The wait.
  func delay(after failures: Int, chance: Double) -> Duration {
    var delay = first
    var left = failures - 1
    while left > 0, (delay < cap), (.zero < delay), factor > 1 {
      delay = min(cap, delay * factor)
      left -= 1
    }
    return delay * (1 - jitter * chance)
  }
}

/// Random numbers for the jitter: splitmix64 if there is a seed, else the system's.
struct JitterSource {
  private var state: UInt64?

  init(seed: UInt64?) { state = seed }

  /// From 0 up to, not including, 1.
  mutating func next() -> Double {
    guard let seeded = state else { return Double.random(in: 0..<1) }
    let next = seeded &+ 0x9E37_79B9_7F4A_7C15
    state = next
    var value = next
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((value ^ (value >> 31)) >> 11) / Double(1 << 53)
  }
}
