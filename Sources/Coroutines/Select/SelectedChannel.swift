// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// A clause's channel, kept alive while the select may look at it.
@usableFromInline
struct SelectedChannel<Element>: ~Copyable {
  @usableFromInline let core: UnsafeMutablePointer<ChannelCore>
  @usableFromInline var reference: KeptReference
  @usableFromInline let right: SelectedRight<Element>

  @inlinable @inline(__always)
  init(_ channel: borrowing Channel<Element>) {
    core = channel.core
    reference = KeptReference(Unmanaged.passUnretained(copy channel).toOpaque())
    right = SelectedRight(nil)
  }

  /// A channel that is known by an end, whose right this is.
  @inlinable @inline(__always)
  init(_ channel: borrowing Channel<Element>, _ right: borrowing ChannelRight<Element>?) {
    core = channel.core
    reference = KeptReference(Unmanaged.passUnretained(copy channel).toOpaque())
    self.right = SelectedRight(copy right)
  }

  /// Lets go of it: the clause has nothing more to do with the channel.
  @inlinable @inline(__always)
  mutating func end() { reference.end() }

  /// The same, for who has looked already where the loop counts uses.
  @inlinable @inline(__always)
  mutating func end(at kept: UInt) { reference.end(at: kept) }

  /// What a clause throws that has won because the channel is closed.
  @usableFromInline @inline(never)
  func closedError() -> ChannelError {
    // SAFETY: the channel is kept alive here, and a core names its channel.
    Unmanaged<Channel<Element>>.fromOpaque(core.pointee.owner.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef { $0.closedError() }
  }
}

/// The right of an end that a clause was given: the end counts as there while the select waits, even if this is its last
/// use.
///
/// Counted by hand: one retain, and one release.
@usableFromInline
struct SelectedRight<Element>: ~Copyable {
  @usableFromInline let right: Unmanaged<ChannelRight<Element>>?

  @inlinable @inline(__always)
  init(_ right: ChannelRight<Element>?) {
    self.right = right.map { Unmanaged.passRetained($0) }
  }

  @inlinable @inline(__always)
  deinit {
    // SAFETY: the reference that `init` took.
    if let right { right.release() }
  }
}
