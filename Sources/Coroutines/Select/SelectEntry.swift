// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// What the untyped part of `select` knows of a clause.
@usableFromInline
package struct SelectEntry {
  @usableFromInline
  package enum Kind: UInt8, Sendable {
    case receive
    case send
    case after
    case otherwise
  }

  /// The clause's node, while parked.
  ///
  /// First field: its address is the entry's.
  @usableFromInline var waiter: Waiter
  @usableFromInline var kind: Kind
  /// The channel; nil for `After` and `Default`.
  @usableFromInline var core: UnsafeMutablePointer<ChannelCore>?
  /// Where the value is, or goes.
  @usableFromInline var slot: UnsafeMutableRawPointer
  /// For `After`.
  @usableFromInline var delay: Duration
  /// How the channel's lock was taken, in the entry that took it.
  @usableFromInline var mode: LockMode
  /// A sender's slot holds a value that nobody wants: dropped, or pushed out of the channel.
  @usableFromInline var isLeftOver: Bool

  @usableFromInline
  package init(
    _ kind: Kind,
    _ core: UnsafeMutablePointer<ChannelCore>?,
    _ slot: UnsafeMutableRawPointer,
    delay: Duration = .zero
  ) {
    self.kind = kind
    self.core = core
    self.slot = slot
    self.delay = delay
    self.waiter = Waiter(fiber: nil, slot: slot)
    self.mode = LockMode(rawValue: 0)
    self.isLeftOver = false
  }
}
