// SPDX-License-Identifier: Apache-2.0

import Coroutines

extension RemoteMailbox {
  /// Handles messages, one after the other, until the mailbox is closed and empty; parks meanwhile.
  ///
  /// Each message is acknowledged, and each question answered, when the handler has returned (rule 11: it finishes one
  /// message before it takes the next). What it throws for a question goes to the one who asked, and the next message
  /// is handled. What it throws for a message that nobody waits for ends the serving; that message comes again after
  /// `redeliverAfter`, here or elsewhere, and after `maximumDeliveries` goes to the dead letters.
  ///
  /// *Cancellation:* ends the serving. A message whose handler has been cut short is handled again.
  ///
  /// - Parameter handler: What to do with a message; may park.
  /// - Throws: What the handler throws for a message that nobody waits for; `RedisError`; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func serve(_ handler: (Message) throws -> Answer) throws {
    while true {
      let delivery: RemoteChannel<Parcel>.Delivery
      do {
        delivery = try channel.receive()
      } catch ChannelError.closed {
        return
      }
      let message = delivery.value.message
      guard let question = delivery.value.question else {
        _ = try handler(message)
        // The work is done. Not knowing so would have it done twice.
        try withCancellationShield { _ = try delivery.acknowledge() }
        continue
      }
      let (kind, answer) = try result(of: message, handler)
      try withCancellationShield { try reply(to: question, delivery.id, kind, answer) }
    }
  }

  /// What to answer.
  private func result(
    of message: Message,
    _ handler: (Message) throws -> Answer
  ) throws -> (kind: String, [UInt8]) {
    do {
      return try ("answer", JSON.encode(handler(message)))
    } catch {
      // One that is cancelled has no answer: another will have.
      try Coroutine.checkCancellation()
      return ("failure", [UInt8](String(describing: error).utf8))
    }
  }

  private func reply(to question: String, _ id: String, _ kind: String, _ answer: [UInt8]) throws {
    let keys = [channel.keys.stream, channel.keys.answers(to: question)]
    _ = try channel.server.perform("answering in \(self)") { connection, _ in
      try connection.run(.answer, keys: keys) { command in
        command.append(channel.options.group)
        command.append(id)
        command.append(answersAreKept.wholeMilliseconds)
        command.append(kind)
        command.append(answer)
      }
    }
  }
}
