// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A mailbox that is served in other processes: messages to tell, and questions to ask.
///
/// ```swift
/// let prices = RemoteMailbox<String, Int>("prices", on: server)
///
/// // In one process, or in several
/// try prices.serve { article in try lookUp(article) }
///
/// // In others
/// let price = try prices.ask("coffee", timeout: .seconds(2))
/// ```
///
/// Messages travel through a `RemoteChannel`, *at least once*: one whose handler was killed is handled again. So a
/// handler must bear that. Each call of `serve` finishes a message before it takes the next; two that serve the
/// same mailbox, in one process or in two, work side by side.
public final class RemoteMailbox<Message: Codable & Sendable, Answer: Codable & Sendable>: Sendable
{
  let channel: RemoteChannel<Parcel>

  /// For how long an answer is kept for one who does not fetch it, having gone away.
  public let answersAreKept: Duration

  /// A message on its way.
  struct Parcel: Codable, Sendable {
    let message: Message
    /// Names the question; nil if nobody waits for an answer.
    let question: String?
  }

  /// A handle to the mailbox of that name, which begins with its first use by anybody.
  ///
  /// Does not park. May be used from coroutines of any schedulers.
  ///
  /// - Parameters:
  ///   - name: Its name, the same in all processes.
  ///   - server: Where it is.
  ///   - options: As for a `RemoteChannel`; the same in all processes. Values leave when they are acknowledged: other
  ///     ways of trimming stop the program.
  ///   - answersAreKept: For how long an answer is kept for one who does not fetch it.
  public init(
    _ name: String,
    on server: RedisServer,
    options: RemoteChannelOptions = RemoteChannelOptions(),
    answersAreKept: Duration = .seconds(60)
  ) {
    precondition(options.trimming == .acknowledged, "A mailbox has one group, that of its servers.")
    channel = RemoteChannel("mailbox " + name, on: server, options: options)
    self.answersAreKept = answersAreKept
  }

  /// Its name, the same in all processes.
  public var name: String { String(channel.name.dropFirst("mailbox ".count)) }

  /// Sends a message, and goes on when it is in Redis; parks as `RemoteChannel.send(_:)` does.
  ///
  /// *Cancellation:* as there.
  ///
  /// - Parameter message: The message.
  /// - Throws: As `RemoteChannel.send(_:)`; `ChannelError.closed` if the mailbox is closed.
  @available(*, noasync)
  public func tell(_ message: Message) throws {
    try channel.send(Parcel(message: message, question: nil))
  }

  /// Sends a message, and parks until it is answered.
  ///
  /// The answer survives a server that is restarted, and a connection that is lost. If the message is handled twice, the
  /// first answer counts.
  ///
  /// *Cancellation:* ends the wait; a message that was sent is handled all the same. So does the timeout.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - timeout: The longest to wait, from sending to answer.
  /// - Returns: What the handler returned.
  /// - Throws: `RemoteMailboxError` with what the handler threw; `TimeoutError`; as `tell(_:)`; what decoding the
  ///   answer throws.
  @available(*, noasync)
  public func ask(_ message: Message, timeout: Duration) throws -> Answer {
    let question = uniqueID()
    let key = channel.keys.answers(to: question)
    return try withTimeout(timeout) {
      try channel.send(Parcel(message: message, question: question))
      while true {
        let reply = try channel.server.performWaiting("asking \(self)", longest: Self.slice) {
          var command = RedisCommand("XREAD", "COUNT", "1", "BLOCK")
          command.append(Self.slice.wholeMilliseconds)
          for word in ["STREAMS", key, "0"] { command.append(word) }
          // Read, not taken: if this reply is lost on its way, the next attempt finds it.
          return try $0.send(command, mayBeCutShort: true)
        }
        guard let fields = reply.list?.first?.list?.last?.list?.first?.list?.last else { continue }
        _ = try? channel.server.perform("asking \(self)") { connection, _ in
          try connection.send(RedisCommand("DEL", key))
        }
        if let answer = Entry.field("answer", of: fields) {
          return try JSON.decode(Answer.self, answer)
        }
        let words = Entry.field("failure", of: fields) ?? []
        throw RemoteMailboxError(
          mailbox: name,
          message: String(decoding: words, as: UTF8.self)
        )
      }
    }
  }

  /// A read waits so long in the server, and then again.
  private static var slice: Duration { .seconds(5) }

  /// Closes the mailbox, for all processes and for ever.
  ///
  /// Messages that are in it are still handled. Parks for a round trip.
  ///
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func close() throws { try channel.close() }

  /// Removes the mailbox from the server, with all that is in it; see `RemoteChannel.remove()`.
  ///
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func remove() throws { try channel.remove() }

  /// Asks how many messages wait or are being handled.
  ///
  /// Parks for a round trip.
  ///
  /// - Returns: The number, which may be another by now.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func count() throws -> Int { try channel.count() }

  /// The messages that were handled too often in vain, or that nobody understands; see
  /// `RemoteChannel.deadLetters(limit:)`.
  ///
  /// - Parameter limit: The most to return.
  /// - Returns: The oldest of them.
  /// - Throws: `RedisError`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func deadLetters(limit: Int = 100) throws -> [DeadLetter] {
    try channel.deadLetters(limit: limit)
  }
}

extension RemoteMailbox: CustomStringConvertible {
  /// Its name.
  public var description: String { "the mailbox \"\(name)\"" }
}

/// What the handler of a question threw, in another process.
public struct RemoteMailboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mailbox.
  public let mailbox: String
  /// The error, as the handler's process described it.
  public let message: String

  /// What failed, and why.
  public var description: String {
    "The handler of the mailbox \"\(mailbox)\" answered with an error: \(message)"
  }
}
