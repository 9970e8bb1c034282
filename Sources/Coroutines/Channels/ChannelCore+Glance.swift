// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// What a thread sees of a channel without taking its lock.
enum ChannelGlance {
  /// It would not wait.
  case ready
  /// It would wait.
  case notReady
  /// That takes the lock to tell: the channel is shared with other threads, or somebody waits there whom a select may
  /// have let go already.
  case unknown
}

extension UnsafeMutablePointer where Pointee == ChannelCore {
  /// Whether a send would not wait, as it was when the caller began to look (L6).
  @inline(__always)
  func glanceAtSend(_ thread: ThreadRecord) -> ChannelGlance {
    glance(thread) {
      if word(\.receivers.first) != 0 { return .unknown }
      // `limit` and `overflow` never change.
      let isReady = isClosedAtAGlance || word(\.count) < pointee.limit || pointee.overflow != .wait
      return isReady ? .ready : .notReady
    }
  }

  /// Whether a receive would not wait, as it was when the caller began to look (L6).
  @inline(__always)
  func glanceAtReceive(_ thread: ThreadRecord) -> ChannelGlance {
    glance(thread) {
      if word(\.count) > 0 { return .ready }
      if word(\.senders.first) != 0 { return .unknown }
      return isClosedAtAGlance ? .ready : .notReady
    }
  }

  @inline(__always)
  private func glance(_ thread: ThreadRecord, _ look: () -> ChannelGlance) -> ChannelGlance {
    preemptionPoint(.look, lock)
    guard cck_lock_is_biased_to(lock, thread) != 0 else { return .unknown }
    preemptionPoint(.look, lock)
    let seen = look()
    preemptionPoint(.look, lock)
    return cck_lock_is_biased_to(lock, thread) != 0 ? seen : .unknown
  }

  @inline(__always)
  private func word<Word>(_ field: KeyPath<ChannelCore, Word>) -> Int {
    // SAFETY: a stored field that is a word: a pointer, or a number. Not read by Swift's means, which others'
    // writes must not meet.
    Int(bitPattern: cck_lock_look(address(of: field)))
  }

  @inline(__always)
  private var isClosedAtAGlance: Bool { cck_lock_look_at_byte(address(of: \.isClosed)) != 0 }

  @inline(__always)
  private func address<Field>(of field: KeyPath<ChannelCore, Field>) -> UnsafeRawPointer {
    // SAFETY: a stored field has an offset.
    UnsafeRawPointer(self) + MemoryLayout<ChannelCore>.offset(of: field).unsafelyUnwrapped
  }
}
