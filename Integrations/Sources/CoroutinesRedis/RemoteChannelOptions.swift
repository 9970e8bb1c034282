// SPDX-License-Identifier: Apache-2.0

/// How a `RemoteChannel` keeps, hands out and trims its values.
///
/// All processes that use a channel should give the same.
public struct RemoteChannelOptions: Sendable {
  /// When a value leaves the stream.
  public enum Trimming: Sendable, Hashable {
    /// When it is acknowledged: the stream holds what is still to be done, and nothing else. For one group.
    case acknowledged
    /// When about so many newer ones are there, acknowledged or *not*: who falls behind further than that misses
    /// values. For several groups, each of which gets every value. Senders never wait.
    case newest(Int)
  }

  /// Most values that are in the channel: waiting, or received and not acknowledged; nil for no limit.
  ///
  /// One at least: there is no rendezvous between processes.
  public var capacity: Int? = 10_000

  /// The group that a handle receives for.
  ///
  /// Each value goes to one receiver of each group. A group gets all that is in the stream when it first receives, and
  /// what comes after. More than one needs `Trimming.newest(_:)`.
  public var group = "workers"

  /// When a value leaves the stream.
  public var trimming = Trimming.acknowledged

  /// After this time a delivery that has not been acknowledged is given to another receiver.
  ///
  /// Longer than handling a value takes, or the value is handled twice; see `RemoteChannel.Delivery.extend()`. And as
  /// long as one is willing to wait for what a process had in hand when it died.
  public var redeliverAfter = Duration.seconds(30)

  /// A value is delivered so many times at most, then it goes to the dead letters; nil for no limit.
  public var maximumDeliveries: Int? = 10

  /// A receiver that waits looks so often whether the channel was closed, and whether something is to be delivered
  /// again.
  public var lookAgainAfter = Duration.milliseconds(500)

  /// What fits most uses.
  public init() {}

  /// The longest that a read waits in the server.
  var block: Duration {
    max(.milliseconds(5), min(lookAgainAfter, redeliverAfter / 4))
  }

  var deletes: String { trimming == .acknowledged ? "1" : "0" }
}

extension Duration {
  /// In whole milliseconds; at least one.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
