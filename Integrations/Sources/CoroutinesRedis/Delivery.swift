// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Synchronization

extension RemoteChannel {
  /// A value that was received, and is to be acknowledged.
  ///
  /// One that is not acknowledged is delivered again after `redeliverAfter`, to any receiver.
  public struct Delivery: Sendable {
    /// The value.
    public let value: Element
    /// Names the value in Redis: the same in all of its deliveries, and in order of sending.
    ///
    /// For receivers that remember what they have done, so as not to do it twice.
    public let id: String
    /// Which delivery of the value this is; 1 the first time, as far as is known.
    ///
    /// More than 1 means that somebody may have handled it before.
    public let number: Int
    let channel: RemoteChannel

    /// Says that the value is done: it is not delivered again, and leaves the channel.
    ///
    /// Parks for a round trip.
    ///
    /// *Cancellation:* before the command is sent: the value is delivered again. In cancelled code that has done the
    /// work, put it in a shield; `receive(_:)` does so.
    ///
    /// - Returns: False if it had been acknowledged before: by another receiver, because this one took longer than
    ///   `redeliverAfter`; or by an attempt of this call whose answer was lost.
    /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
    @available(*, noasync)
    @discardableResult
    public func acknowledge() throws -> Bool {
      try channel.acknowledge([self]) == 1
    }

    /// Begins `redeliverAfter` anew, for work that takes longer.
    ///
    /// Parks for a round trip.
    ///
    /// - Returns: False if it is too late: another receiver has it, or has acknowledged it.
    /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
    @available(*, noasync)
    @discardableResult
    public func extend() throws -> Bool {
      try channel.setIdle(id, milliseconds: 0, deliveries: -1)
    }

    /// Gives the value back unhandled.
    ///
    /// It is delivered again when a receiver next looks, at the latest after a quarter of `redeliverAfter`, and this
    /// delivery does not count. Parks for a round trip.
    ///
    /// - Returns: False if it is too late: another receiver has it, or has acknowledged it.
    /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
    @available(*, noasync)
    @discardableResult
    public func giveBack() throws -> Bool {
      try channel.giveBack(id, deliveries: number - 1)
    }
  }

  /// Acknowledges several deliveries in one round trip; see `Delivery.acknowledge()`.
  ///
  /// - Parameter deliveries: Deliveries of this channel.
  /// - Returns: How many of them had not been acknowledged before.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  @discardableResult
  public func acknowledge(_ deliveries: [Delivery]) throws -> Int {
    guard !deliveries.isEmpty else { return 0 }
    return try server.perform("acknowledging to \(self)") { connection, _ in
      let reply = try connection.run(.acknowledge, keys: [keys.stream]) { command in
        command.append(options.group)
        command.append(options.deletes)
        for delivery in deliveries { command.append(delivery.id) }
      }
      guard let count = reply.integer else { throw connection.unexpected("acknowledging") }
      return count
    }
  }

  /// Gives an entry back that has been delivered so often.
  func giveBack(_ id: String, deliveries: Int) throws -> Bool {
    // Out for a year: longer than anybody allows.
    let isOurs = try setIdle(id, milliseconds: 365 * 24 * 3_600_000, deliveries: deliveries)
    memory.withLock { $0.nextClaim = nil }
    return isOurs
  }

  fileprivate func setIdle(_ id: String, milliseconds: Int, deliveries: Int) throws -> Bool {
    try server.perform("keeping a delivery of \(self)") { connection, _ in
      try connection.run(.setIdle, keys: [keys.stream]) { command in
        command.append(options.group)
        command.append(consumer)
        command.append(id)
        command.append(milliseconds)
        command.append(deliveries)
      }.integer == 1
    }
  }
}
