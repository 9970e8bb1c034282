// SPDX-License-Identifier: Apache-2.0

/// Why an actor did not take, or did not answer, a message.
public struct MessageActorError: Error, Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable, Sendable {
    case stopped
    case restarted
    case mailboxFull
  }

  private let kind: Kind

  /// What happened, to which actor, and what to do.
  public let description: String

  /// What ended the actor, if it was an error.
  public let cause: (any Error)?

  private init(_ kind: Kind, _ description: String, cause: (any Error)? = nil) {
    self.kind = kind
    self.description = description
    self.cause = cause
  }

  /// Two errors are equal when they are of the same kind, whatever actor they are about.
  public static func == (one: MessageActorError, other: MessageActorError) -> Bool {
    one.kind == other.kind
  }

  /// Feeds the kind to the hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
  }

  /// The actor has stopped, or is stopping, and takes no more messages.
  public static let stopped = stopped("The actor", cause: nil)

  /// The actor was restarted while it handled the message, because of another one's failure.
  public static let restarted = restarted("The actor")

  /// The mailbox was full, and its capacity says that this is an error.
  public static let mailboxFull = mailboxFull("The actor", capacity: nil)

  static func stopped(_ actor: String, cause: (any Error)?) -> MessageActorError {
    MessageActorError(
      .stopped,
      "\(actor) has stopped\(cause.map { " because of this error: \($0)." } ?? ".") The message was not "
        + "answered. Ask before it is stopped, or let a supervisor restart it.",
      cause: cause
    )
  }

  static func restarted(_ actor: String) -> MessageActorError {
    MessageActorError(
      .restarted,
      "\(actor) was restarted by its supervisor while it handled the message, which was not answered. "
        + "Ask again if that does no harm."
    )
  }

  static func mailboxFull(_ actor: String, capacity: Int?) -> MessageActorError {
    MessageActorError(
      .mailboxFull,
      "\(actor) has a full mailbox\(capacity.map { " of \($0) messages" } ?? ""), and takes no more now. Send "
        + "less, give it a bigger one, or one that lets senders wait (`bounded`)."
    )
  }
}

/// Lets `catch MessageActorError.stopped` be written.
extension MessageActorError {
  /// Whether an error is this one.
  ///
  /// - Parameters:
  ///   - pattern: The error to look for.
  ///   - error: Any error.
  /// - Returns: True if `error` is of this type and equal to `pattern`.
  public static func ~= (pattern: MessageActorError, error: any Error) -> Bool {
    (error as? MessageActorError) == pattern
  }
}
