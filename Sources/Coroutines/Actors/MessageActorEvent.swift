// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A step in the life of an actor.
///
/// `started`, then any number of `failed` and `restarted` (supervised actors only), perhaps a last `failed`, and
/// `stopped`, which is always the last. One that is stopped before it starts has only that.
public enum MessageActorEvent: Sendable {
  /// Its body begins for the first time.
  case started
  /// Its body threw this.
  case failed(any Error)
  /// Its body begins again, with the same mailbox.
  case restarted
  /// It has ended for good; asks that were waiting have been rejected.
  case stopped
}

/// Tells observers what happens, and those who come late what happened last.
final class EventHub<Event: Sendable>: @unchecked Sendable {
  // SAFETY: the properties are guarded by `lock`.
  private let lock = AllocatedLock()
  private var observers: [(Event) -> Void] = []
  private var latest: Event?
  private var isOver = false

  /// Calls the observers, in the order of their coming; after the last event, lets go of them.
  ///
  /// For one caller at a time.
  func send(_ event: Event, isLast: Bool = false) {
    let told = lock.withLock {
      latest = event
      isOver = isLast
      defer { if isLast { observers = [] } }
      return observers
    }
    for observer in told { observer(event) }
  }

  /// Adds an observer, and tells it the latest event, if there was one.
  func observe(_ observer: @escaping (Event) -> Void) {
    let known = lock.withLock {
      if !isOver { observers.append(observer) }
      return latest
    }
    if let known { observer(known) }
  }

  /// A channel of the latest event and those that follow; closed after the last.
  func channel(isLast: @escaping (Event) -> Bool) -> Channel<Event> {
    let channel = Channel<Event>(capacity: .unbounded)
    observe { event in
      channel.sendIfReady(event)
      if isLast(event) { channel.close() }
    }
    return channel
  }
}
