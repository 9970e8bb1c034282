// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Wall-clock and processor time since it was started.
public struct Stopwatch: Sendable {
  private let wall = Self.nanoseconds(CLOCK_MONOTONIC)
  private let processor = Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID)

  /// Starts it.
  public init() {}

  /// What has passed.
  public var elapsed: Elapsed {
    Elapsed(
      wall: Self.nanoseconds(CLOCK_MONOTONIC) - wall,
      processor: Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor
    )
  }

  /// The monotonic clock, in nanoseconds.
  public static var now: Int { nanoseconds(CLOCK_MONOTONIC) }

  private static func nanoseconds(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

/// A time, in nanoseconds: on the clock at the wall, and of this process's threads together.
public struct Elapsed: Sendable {
  /// On the clock at the wall.
  public let wall: Int
  /// Of all processors.
  public let processor: Int

  /// No time.
  public static let zero = Elapsed(wall: 0, processor: 0)

  /// One after the other.
  public static func + (one: Elapsed, other: Elapsed) -> Elapsed {
    Elapsed(wall: one.wall + other.wall, processor: one.processor + other.processor)
  }
}
