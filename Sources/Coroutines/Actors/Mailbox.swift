// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Where an actor's body gets its messages, one at a time, in the order in which they were sent.
///
/// ```swift
/// for message in mailbox { print(message) }
/// ```
///
/// Only the actor's own body may take messages: another coroutine that tries stops the program with a message
/// (rule 11).
public struct Mailbox<Message>: Sequence, IteratorProtocol, Sendable {
  @usableFromInline let channel: Channel<Envelope<Message>>
  @usableFromInline let core: ActorCore

  init(_ channel: Channel<Envelope<Message>>, _ core: ActorCore) {
    self.channel = channel
    self.core = core
  }

  /// Takes the next message; parks while there is none.
  ///
  /// *Cancellation:* ends the sequence, since a sequence cannot throw.
  ///
  /// - Returns: The oldest message; nil once the actor is cancelled, or stopped and the mailbox empty.
  @inlinable @inline(__always)
  public func next() -> Message? {
    core.beginTaking("Mailbox.next()")
    do {
      let (message, ticket) = try channel.receiveForIteration().open()
      core.note(taken: ticket)
      return message
    } catch {
      return nil
    }
  }

  /// Takes the next message; parks while there is none.
  ///
  /// *Cancellation:* takes none. With `withTimeout` around it, an actor does something when nothing comes.
  ///
  /// - Returns: The oldest message.
  /// - Throws: `ChannelError.closed` once the actor is stopped and the mailbox empty; `CancellationError`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive() throws -> Message {
    core.beginTaking("Mailbox.receive()")
    let (message, ticket) = try channel.receive().open()
    core.note(taken: ticket)
    return message
  }

  /// Takes the next message if there is one now.
  ///
  /// Never parks.
  ///
  /// - Returns: The oldest message; nil if there is none.
  @inlinable
  public func receiveIfReady() -> Message? {
    core.beginTaking("Mailbox.receiveIfReady()")
    guard let envelope = channel.receiveIfReady().value else { return nil }
    core.note(taken: envelope.ticket)
    return envelope.message
  }

  /// Puts a message at the end of the actor's own mailbox, if there is room.
  ///
  /// For what the actor's children and timers have to tell it: they need no handle, which would keep the actor from
  /// ending when everybody else has dropped it. Never parks; may be called from any thread.
  ///
  /// - Parameter message: The message.
  /// - Returns: `sent`, or the message back with the reason.
  @inlinable
  @discardableResult
  public func tellIfReady(_ message: sending Message) -> SendOutcome<Message> {
    channel.sendIfReady(Envelope(message, nil)).unwrapped()
  }

  /// Number of messages kept now.
  public var count: Int { channel.count }
}

extension SendOutcome {
  /// The same for the message that an envelope holds.
  @inlinable
  func unwrapped<Message>() -> SendOutcome<Message> where Element == Envelope<Message> {
    switch self {
    case .sent: .sent
    case .full(let envelope): .full(envelope.message)
    case .closed(let envelope): .closed(envelope.message)
    }
  }
}
