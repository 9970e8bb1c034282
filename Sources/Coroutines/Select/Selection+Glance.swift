// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

// A select on channels that are all its own thread's, which looks at them without their locks.

extension Selection {
  enum Glance {
    case ready(Int)
    case noneReady
    case unknown
  }

  /// Picks a clause that is ready, each with the same chance, without taking a lock.
  ///
  /// What it tells was so when it began (L6). Where the scheduler decides what happens, or events are recorded, it tells
  /// nothing.
  @inline(__always)
  static func glance(_ entries: Entries, _ count: Int, _ thread: ThreadRecord) -> Glance {
    guard let home = thread.currentHome, home.pointee.isPlain else { return .unknown }
    var lot = Lot()
    var index = 0
    while index < count {
      let entry = entries + index
      if let core = entry.pointee.core {
        switch entry.pointee.kind == .send
          ? core.glanceAtSend(thread) : core.glanceAtReceive(thread)
        {
        case .ready: lot.draw(index, thread)
        case .notReady: break
        case .unknown: return .unknown
        }
      }
      index &+= 1
    }
    return lot.winner >= 0 ? .ready(lot.winner) : .noneReady
  }

  /// Carries a clause out that was ready at a glance, with no lock but its channel's.
  ///
  /// - Returns: False if it would have to wait by now.
  @inline(__always)
  static func carryOutAlone(
    _ entry: UnsafeMutablePointer<SelectEntry>,
    _ thread: ThreadRecord
  ) -> Bool {
    // SAFETY: only clauses with a channel are ready.
    let lock = entry.pointee.core.unsafelyUnwrapped.lock
    let mode = lock.acquire(thread)
    let partner = carryOut(entry)
    lock.release(mode)
    guard let partner else { return false }
    if let waiter = partner.waiter { ResumeToken(waiter, .delivered).resume(thread) }
    return true
  }

  /// Takes all locks, after a glance: what it saw is so still, if all are biased to this thread.
  ///
  /// - Returns: False, with no lock taken, if they are not.
  @inline(__always)
  static func lockUnchanged(
    _ entries: Entries,
    _ count: Int,
    _ thread: ThreadRecord
  ) -> Bool {
    var index = 0
    while index < count {
      let entry = entries + index
      if let core = entry.pointee.core {
        let isTaken = tryLock(entry, core.lock, thread)
        if !isTaken || entry.pointee.hold == .shared {
          unlockAll(entries, isTaken ? index &+ 1 : index)
          return false
        }
      }
      index &+= 1
    }
    return true
  }
}
