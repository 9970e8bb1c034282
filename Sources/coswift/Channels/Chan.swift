// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Coroutines

/// Carries values from coroutines to coroutines, in order, each to one receiver.
///
/// nil is a value like any other in a `Chan<T?>`. All methods may be called from any thread; those that wait,
/// in coroutines only.
public class Chan<T>: @unchecked Sendable {
  // SAFETY: a constant; the core's channel guards its own state.

  /// Called when a wait on the channel was cancelled.
  public typealias ChanOnCancelBlock = (Chan) -> Void

  let core: Channel<T>

  /// A channel that keeps some values.
  ///
  /// - Parameter buffCount: How many: 0 for none, so that a sender waits for a receiver; a negative number
  ///   for any number.
  public init(buffCount: Int32) {
    core = Channel(capacity: buffCount < 0 ? .unbounded : .bounded(Int(buffCount)))
  }

  /// A channel that keeps no values.
  public convenience init() {
    self.init(buffCount: 0)
  }

  /// A channel that keeps any number of values: a send never waits.
  ///
  /// - Returns: The channel.
  public class func expandable() -> Chan<T> { Chan(buffCount: -1) }

  // MARK: - Sending

  /// Sends a value; waits while the channel is full and nobody receives.
  ///
  /// - Parameters:
  ///   - val: The value.
  ///   - onCancel: Called once if the coroutine is cancelled while it waits here, before this throws. The
  ///     value is not delivered then.
  /// - Throws: `COError.coroutineCancelled`; `COError.invalidCoroutine` outside a coroutine.
  public func send(val: T, onCancel: ChanOnCancelBlock? = nil) throws {
    // SAFETY: the user gives the value away, as in every language without the check.
    nonisolated(unsafe) let val = val
    try waiting(onCancel) { try core.send(val) }
  }

  /// Sends a value without waiting: if nobody receives and there is no room, it is dropped.
  ///
  /// May be called outside coroutines.
  ///
  /// - Parameter val: The value.
  public func send_nonblock(val: T) {
    // SAFETY: as above.
    nonisolated(unsafe) let val = val
    core.sendIfReady(val)
  }

  // MARK: - Receiving

  /// Receives the oldest value; waits while there is none.
  ///
  /// - Parameter onCancel: Called once if the coroutine is cancelled while it waits here, before this throws.
  /// - Returns: The value.
  /// - Throws: `COError.coroutineCancelled`; `COError.invalidCoroutine` outside a coroutine.
  public func receive(onCancel: ChanOnCancelBlock? = nil) throws -> T {
    try waiting(onCancel) { try core.receive() }
  }

  /// Receives the oldest value if there is one: kept, or a waiting sender's.
  ///
  /// May be called outside coroutines.
  ///
  /// - Returns: The value, or nil if there is none.
  public func receive_nonblock() -> T? { core.receiveIfReady().value }

  /// Waits for a value, then takes all others that are there.
  ///
  /// - Returns: One value or more, in order.
  /// - Throws: As `receive`.
  public func receiveAll() throws -> [T] {
    try waiting(nil) { try core.receiveAll() }
  }

  /// Receives so many values, waiting for each.
  ///
  /// - Parameter count: How many; for 0 it does not wait.
  /// - Returns: Exactly `count` values, in order.
  /// - Throws: As `receive`; the values that had come before a cancellation are gone then.
  public func receiveWithCount(count: UInt) throws -> [T] {
    try waiting(nil) {
      do {
        return try core.receive(count: Int(clamping: count))
      } catch let error as PartialReceiveError<T> {
        throw error.reason
      }
    }
  }

  // MARK: - Cancelling

  /// Ends a coroutine's wait on this channel as if it were cancelled: it throws
  /// `COError.coroutineCancelled`.
  ///
  /// The coroutine itself is not cancelled, and others that wait here are not disturbed. Nothing happens if it
  /// does not wait here.
  ///
  /// - Parameter co: The coroutine.
  public func cancelForCoroutine(co: Coroutine) {
    co.life.withdrawWait(on: core)
  }

  /// Waits in the core, in this module's terms.
  private func waiting<Result>(
    _ onCancel: ChanOnCancelBlock?,
    _ wait: () throws -> Result
  ) throws -> Result {
    do {
      // A coroutine that is cancelled already does not begin to wait.
      try Coroutines.Coroutine.checkCancellation()
    } catch {
      throw COError.coroutineCancelled
    }
    do {
      return try wait()
    } catch {
      if error is CancellationError { onCancel?(self) }
      throw COError.translating(error)
    }
  }
}
