// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

// What a thread sees of a channel without taking its lock, as it was when it began to look (L6); see `Glances`.
//
// Unknown is what takes the lock to tell: the channel is shared with other threads, or somebody waits there whom a
// select may have let go already. After it no further channel is looked at.

extension UnsafeMutablePointer where Pointee == ChannelCore {
  /// Adds `bit` to `seen` if a send would not wait.
  @inlinable @inline(__always)
  func glanceAtSend(_ seen: UInt, _ bit: UInt, _ thread: ThreadRecord) -> UInt {
    // A channel that others use has its line of the cache elsewhere: who takes its lock next fetches it once, to write.
    if seen & Glances.unknown != 0 { return seen }
    preemptionPoint(.look, lock)
    let receivers = word(\.receivers.first)
    let count = word(\.count)
    let isClosed = isClosedAtAGlance
    guard isOwn(thread), receivers == 0 else { return seen | Glances.unknown }
    // `limit` and `overflow` never change.
    return isClosed || count < pointee.limit || pointee.overflow != .wait ? seen | bit : seen
  }

  /// Adds `bit` to `seen` if a receive would not wait.
  @inlinable @inline(__always)
  func glanceAtReceive(_ seen: UInt, _ bit: UInt, _ thread: ThreadRecord) -> UInt {
    if seen & Glances.unknown != 0 { return seen }
    preemptionPoint(.look, lock)
    let count = word(\.count)
    let senders = word(\.senders.first)
    let isClosed = isClosedAtAGlance
    guard isOwn(thread) else { return seen | Glances.unknown }
    if count > 0 { return seen | bit }
    if senders != 0 { return seen | Glances.unknown }
    return isClosed ? seen | bit : seen
  }

  /// Whether what was seen before this may be believed: the lock is biased to this thread still.
  @inlinable @inline(__always)
  func isOwn(_ thread: ThreadRecord) -> Bool {
    preemptionPoint(.look, lock)
    return cck_lock_is_biased_to(lock, thread) != 0
  }

  @inlinable @inline(__always)
  func word<Word>(_ field: KeyPath<ChannelCore, Word>) -> Int {
    // SAFETY: a stored field that is a word: a pointer, or a number. Not read by Swift's means, which others'
    // writes must not meet.
    Int(bitPattern: cck_lock_look(address(of: field)))
  }

  @inlinable @inline(__always)
  var isClosedAtAGlance: Bool { cck_lock_look_at_byte(address(of: \.isClosed)) != 0 }

  @inlinable @inline(__always)
  func address<Field>(of field: KeyPath<ChannelCore, Field>) -> UnsafeRawPointer {
    // SAFETY: a stored field has an offset.
    UnsafeRawPointer(self) + MemoryLayout<ChannelCore>.offset(of: field).unsafelyUnwrapped
  }
}
