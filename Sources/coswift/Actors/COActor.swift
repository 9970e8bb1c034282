// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Coroutines
public import Dispatch

/// The answer to a message: a promise, to be awaited.
public typealias COActorCompletable = Promise<Any?>

/// A coroutine that takes messages one at a time, and keeps its state in the variables of its body.
///
/// ```swift
/// let counter = co_actor { messages in
///   var count = 0
///   for message in messages {
///     if message.stringType == "inc" { count += 1 }
///     message.complete(count)
///   }
/// }
/// ```
///
/// A handler that waits delays the messages behind its own; `co_launch` in the handler lets them overlap.
/// When the body ends, or the actor is cancelled, messages that have no answer are rejected. When the actor is
/// dropped it answers what it has, and its loop ends.
public class COActor: Coroutine, @unchecked Sendable {
  // SAFETY: as for Coroutine; the mailbox guards its own state.
  private let mailbox: COActorChan

  init(_ block: @escaping (COActorChan) throws -> Void, on queue: DispatchQueue?) {
    let mailbox = COActorChan()
    self.mailbox = mailbox
    super.init(block: { try block(mailbox) }, on: queue, stackSize: nil)
    life.onEnd = { [unowned life] error in
      let isCancelled = life.isCancelled
      mailbox.end(
        isCancelled ? COError.coroutineCancelled : error ?? PromiseError.abandoned,
        // One that was taken, and not answered before a normal end, may be answered later.
        includingCurrent: isCancelled || error != nil
      )
    }
  }

  deinit {
    mailbox.close()
  }

  override var isHeldByBody: Bool { false }

  /// Sends a message; from anywhere, also before the body has begun.
  ///
  /// Messages are taken in the order of sending.
  ///
  /// - Parameter message: Anything.
  /// - Returns: A promise for the answer; rejected if the actor has ended or ends without answering.
  @discardableResult
  public func sendMessage(_ message: Any?) -> COActorCompletable {
    mailbox.send(message)
  }

  /// Sends a message: `sendMessage` under its other name.
  ///
  /// - Parameter message: Anything.
  /// - Returns: A promise for the answer.
  @discardableResult
  public func send(_ message: Any?) -> COActorCompletable {
    sendMessage(message)
  }
}

/// Starts an actor on the current queue.
///
/// - Parameter block: The body; it takes messages from its mailbox.
/// - Returns: The actor.
public func co_actor(_ block: @escaping (COActorChan) throws -> Void) -> COActor {
  let actor = COActor(block, on: nil)
  actor.resume()
  return actor
}

/// Starts an actor on a queue.
///
/// - Parameters:
///   - queue: Where its body runs.
///   - block: The body; it takes messages from its mailbox.
/// - Returns: The actor.
public func co_actor_onqueue(
  _ queue: DispatchQueue,
  _ block: @escaping (COActorChan) throws -> Void
) -> COActor {
  let actor = COActor(block, on: queue)
  actor.resume()
  return actor
}
