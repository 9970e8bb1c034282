// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// How many messages a mailbox keeps, and what `tell` and `ask` do when it is full.
///
/// An integer literal stands for `bounded`.
///
/// | | full: `tell` | full: `ask` | may park |
/// |---|---|---|---|
/// | `unbounded` | – | – | no |
/// | `bounded` | waits for room | waits for room | yes |
/// | `failing` | throws `MessageActorError.mailboxFull` | its promise is rejected with it | no |
/// | `droppingOldest` | drops the oldest message | the same | no |
/// | `droppingNewest` | drops this message | its promise is rejected with `mailboxFull` | no |
///
/// An ask whose message is dropped later is rejected with `PromiseError.abandoned`.
public struct MailboxCapacity: Sendable, Hashable, ExpressibleByIntegerLiteral {
  @usableFromInline let channel: ChannelCapacity
  /// What does not fit is an error.
  @usableFromInline let fails: Bool

  private init(_ channel: ChannelCapacity, fails: Bool = false) {
    self.channel = channel
    self.fails = fails
  }

  /// `bounded` with this many messages.
  ///
  /// - Parameter value: Zero or more.
  public init(integerLiteral value: Int) {
    self = .bounded(value)
  }

  /// Keeps all messages: memory grows with what is not handled.
  public static let unbounded = MailboxCapacity(.unbounded)

  /// Keeps so many messages; who sends to a full mailbox waits.
  ///
  /// - Parameter count: Zero (then the sender waits until the actor takes the message) or more; a negative
  ///   number stops the program.
  /// - Returns: The capacity.
  public static func bounded(_ count: Int) -> MailboxCapacity { MailboxCapacity(.bounded(count)) }

  /// Keeps so many messages; sending to a full mailbox is an error.
  ///
  /// - Parameter count: One or more; anything else stops the program.
  /// - Returns: The capacity.
  public static func failing(_ count: Int) -> MailboxCapacity {
    demand(
      count > 0,
      "A mailbox that refuses what does not fit was to keep \(count) messages; it must keep 1 or more."
    )
    return MailboxCapacity(.bounded(count), fails: true)
  }

  /// Keeps the last so many messages.
  ///
  /// - Parameter count: One or more; anything else stops the program.
  /// - Returns: The capacity.
  public static func droppingOldest(_ count: Int) -> MailboxCapacity {
    MailboxCapacity(.droppingOldest(count))
  }

  /// Keeps the first so many messages.
  ///
  /// - Parameter count: One or more; anything else stops the program.
  /// - Returns: The capacity.
  public static func droppingNewest(_ count: Int) -> MailboxCapacity {
    MailboxCapacity(.droppingNewest(count))
  }

  /// Sending waits when the mailbox is full.
  @usableFromInline var waits: Bool {
    !fails && channel.overflow == .wait && channel.limit < .max
  }
}
