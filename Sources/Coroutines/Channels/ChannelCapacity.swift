// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// How many values a channel keeps for receivers to come, and what a send does when it is full.
///
/// An integer literal stands for `bounded`, and 0 for `rendezvous`.
public struct ChannelCapacity: Sendable, Hashable, ExpressibleByIntegerLiteral {
  @usableFromInline
  enum Overflow: UInt8, Sendable {
    case wait
    case dropOldest
    case dropNewest
  }

  @usableFromInline let limit: Int
  @usableFromInline let overflow: Overflow

  private init(limit: Int, overflow: Overflow) {
    self.limit = limit
    self.overflow = overflow
  }

  /// `bounded` with this many values.
  ///
  /// - Parameter value: Zero or more.
  public init(integerLiteral value: Int) {
    self = .bounded(value)
  }

  /// Keeps nothing: a send waits until a receiver takes its value.
  public static let rendezvous = ChannelCapacity(limit: 0, overflow: .wait)

  /// Keeps so many values; a send to a full channel waits.
  ///
  /// - Parameter count: Zero (then it is `rendezvous`) or more; a negative number stops the program.
  /// - Returns: The capacity.
  public static func bounded(_ count: Int) -> ChannelCapacity {
    demand(count >= 0, "A channel of capacity \(count) was asked for; it must be 0 or more.")
    return ChannelCapacity(limit: count, overflow: .wait)
  }

  /// Keeps all values: a send never waits.
  ///
  /// Memory grows with what is not received.
  public static let unbounded = ChannelCapacity(limit: .max, overflow: .wait)

  /// Keeps the last so many values: a send to a full channel drops the oldest.
  ///
  /// - Parameter count: One or more; anything else stops the program.
  /// - Returns: The capacity.
  public static func droppingOldest(_ count: Int) -> ChannelCapacity {
    demand(
      count > 0,
      "A channel that drops its oldest value was to keep \(count); it must keep 1 or more."
    )
    return ChannelCapacity(limit: count, overflow: .dropOldest)
  }

  /// Keeps the first so many values: a send to a full channel drops the value being sent.
  ///
  /// - Parameter count: One or more; anything else stops the program.
  /// - Returns: The capacity.
  public static func droppingNewest(_ count: Int) -> ChannelCapacity {
    demand(
      count > 0,
      "A channel that drops what does not fit was to keep \(count) values; it must keep 1 or more."
    )
    return ChannelCapacity(limit: count, overflow: .dropNewest)
  }

  /// Keeps the last value only: `droppingOldest(1)`.
  public static let conflated = ChannelCapacity(limit: 1, overflow: .dropOldest)
}
