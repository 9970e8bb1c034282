// SPDX-License-Identifier: Apache-2.0

public import Coroutines
import Foundation

/// Events of a source that does not wait, as a channel: notifications, ticks.
///
/// ```swift
/// let changes = NotificationCenter.default.co.notifications(named: .configurationChanged)
/// for change in changes { reload(change) }
/// ```
///
/// The source never waits for a receiver, so what happens to events that do not fit is a matter of the
/// capacity: `droppingOldest`, `droppingNewest`, `unbounded`. (`bounded` drops the newest too, since the
/// sender cannot wait.) Several coroutines may receive: each event goes to one of them.
///
/// The source is let go of when this is closed or dropped.
public final class EventStream<Event>: Sequence, @unchecked Sendable {
  // SAFETY: constants, and `release` under the lock.

  private let channel: Channel<Event>
  private let lock = NSLock()
  private var release: (() -> Void)?

  init(capacity: ChannelCapacity) { channel = Channel(capacity: capacity) }

  /// Says how the source is let go of; not under any lock.
  func onRelease(_ release: @escaping () -> Void) { self.release = release }

  /// Where the source sends to; holds the channel only, so that the stream can be dropped.
  var sender: SendEnd<Event> { channel.sendEnd }

  deinit { close() }

  /// Lets go of the source.
  ///
  /// Events that are kept can still be received. Closing twice has no effect. From any thread; does not
  /// park.
  public func close() {
    channel.close()
    let release = lock.withLock {
      defer { self.release = nil }
      return self.release
    }
    release?()
  }

  /// Receives an event; parks until there is one.
  ///
  /// *Cancellation:* receives nothing.
  ///
  /// - Returns: The oldest event.
  /// - Throws: `ChannelError.closed` once closed and empty; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, loop over `values`.")
  public func receive() throws -> Event { try channel.receive() }

  /// Receives an event if there is one now.
  ///
  /// - Returns: The oldest event, or why there is none.
  public func receiveIfReady() -> ReceiveOutcome<Event> { channel.receiveIfReady() }

  /// The end to receive from, for `select`.
  ///
  /// It is closed when this stream is closed or dropped: keep the stream.
  public var receiveEnd: ReceiveEnd<Event> { channel.receiveEnd }

  /// Receives until the stream is closed and empty.
  public struct Iterator: IteratorProtocol {
    private let stream: EventStream
    private var iterator: Channel<Event>.Iterator

    fileprivate init(_ stream: EventStream) {
      self.stream = stream
      iterator = stream.channel.makeIterator()
    }

    /// Receives an event; parks until there is one.
    ///
    /// - Returns: The oldest event; nil once closed and empty, or in cancelled code.
    public mutating func next() -> Event? { iterator.next() }
  }

  /// An iterator that receives, and keeps the stream.
  public func makeIterator() -> Iterator { Iterator(self) }
}
