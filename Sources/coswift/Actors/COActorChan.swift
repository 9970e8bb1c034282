// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// An actor's mailbox: messages in the order of sending, any number of them.
public class COActorChan: Sequence, @unchecked Sendable {
  // SAFETY: the channel guards its own state, and `lock` the rest.
  private let channel = Channel<COActorMessage>(capacity: .unbounded)
  private let lock = AllocatedLock()
  /// The message that was taken last.
  private var current: COActorMessage?
  /// Why later messages are rejected, once the actor has ended.
  private var ending: (any Error)?

  init() {}

  /// Waits for the next message.
  ///
  /// Stops the program with a message outside a coroutine.
  ///
  /// - Returns: The message; nil once the actor is cancelled, or when nobody can send any more.
  public func next() -> COActorMessage? {
    demand(
      Coroutines.Coroutine.current != nil,
      "An actor's mailbox was read where no coroutine runs. Read it in the actor's block."
    )
    // The errors of the last handler are not this one's.
    Life.current?.awaitError = nil
    // What was current is released after the lock: its end may reject a promise.
    take(nil)
    guard let message = try? channel.receive() else { return nil }
    take(message)
    return message
  }

  private func take(_ message: COActorMessage?) {
    let old = lock.withLock {
      defer { current = message }
      return current
    }
    withExtendedLifetime(old) {}
  }

  /// The messages, for a loop, which ends when `next` returns nil.
  ///
  /// - Returns: The iterator.
  public func makeIterator() -> AnyIterator<COActorMessage> {
    AnyIterator { self.next() }
  }

  // MARK: - The other side

  func send(_ content: Any?) -> COActorCompletable {
    let completable = COActorCompletable()
    let message = COActorMessage(content, completable)
    if case .closed = channel.sendIfReady(message) {
      message.fail(lock.withLock { ending } ?? PromiseError.abandoned)
    }
    return completable
  }

  /// Nobody can send any more.
  func close() {
    channel.close()
  }

  /// The body has ended: rejects what it has not answered.
  func end(_ reason: any Error, includingCurrent: Bool) {
    lock.withLock { ending = reason }
    channel.close()
    let last = lock.withLock {
      defer { current = nil }
      return current
    }
    if includingCurrent { last?.fail(reason) }
    while case .received(let message) = channel.receiveIfReady() { message.fail(reason) }
  }
}
