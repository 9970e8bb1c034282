// SPDX-License-Identifier: Apache-2.0

/// What the untyped part of `select` knows of a clause.
@usableFromInline
package struct SelectEntry: BitwiseCopyable {
  @usableFromInline
  package enum Kind: UInt8, Sendable, BitwiseCopyable {
    case receive
    case send
    case after
    case otherwise
  }

  /// Who has the lock of the channel.
  @usableFromInline
  package enum Hold: UInt8, Sendable, BitwiseCopyable {
    /// Not this entry: an earlier one of the same channel, if the select holds its locks.
    case none
    case shared
    case biased
  }

  /// The channel; nil for `After` and `Default`.
  @usableFromInline var core: UnsafeMutablePointer<ChannelCore>?
  /// Where the value is, or goes; of an `After`, its `Duration`.
  @usableFromInline var slot: UnsafeMutableRawPointer
  /// Room for a list of the entries' numbers in another order; not this entry's own.
  @usableFromInline var order: Int32
  @usableFromInline var kind: Kind
  @usableFromInline var hold: Hold
  /// The clause has won because its channel is closed.
  @usableFromInline var isClosed: Bool
  /// A sender's slot holds a value that nobody wants: dropped, or pushed out of the channel.
  @usableFromInline var isLeftOver: Bool

  /// Bytes from one entry to the next.
  @inlinable @inline(__always)
  static var size: Int { MemoryLayout<SelectEntry>.stride }

  @inlinable @inline(__always)
  package init(
    _ kind: Kind,
    _ core: UnsafeMutablePointer<ChannelCore>?,
    _ slot: UnsafeMutableRawPointer
  ) {
    self.core = core
    self.slot = slot
    self.order = 0
    self.kind = kind
    self.hold = .none
    self.isClosed = false
    self.isLeftOver = false
  }
}
