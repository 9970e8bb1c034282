// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

// A select on channels that are all its own thread's, which looks at them without their locks.

extension Selection {
  /// What a look without locks comes to.
  enum Glance {
    case ready(Int)
    case noneReady
    case unknown
  }

  /// Picks one of the clauses that have been seen to be ready, each with the same chance.
  @inline(__always)
  static func pick(_ seen: UInt, _ thread: ThreadRecord) -> Glance {
    if seen == Glances.noneReady { return .noneReady }
    if seen & Glances.unknown != 0 { return .unknown }
    var left = seen
    // Chance says how many of them are passed over.
    if seen & (seen &- 1) != 0 {
      for _ in 0..<random(below: seen.nonzeroBitCount, thread) { left &= left &- 1 }
    }
    return .ready(left.trailingZeroBitCount)
  }

  /// Picks a clause that is ready, each with the same chance, without taking a lock.
  ///
  /// What it tells was so when it began (L6).
  static func glance(_ entries: Entries, _ count: Int, _ thread: ThreadRecord) -> Glance {
    guard Glances.begin(thread) == Glances.noneReady else { return .unknown }
    var lot = Lot()
    var index = 0
    while index < count {
      let entry = entries + index
      if let core = entry.pointee.core {
        let seen =
          entry.pointee.kind == .send
          ? core.glanceAtSend(Glances.noneReady, 1, thread)
          : core.glanceAtReceive(Glances.noneReady, 1, thread)
        if seen & Glances.unknown != 0 { return .unknown }
        if seen != Glances.noneReady { lot.draw(index, thread) }
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
    guard let partner = carryOut(entry) else {
      // Let go of in both branches, so that the other one need not keep what only this one goes on with.
      lock.release(mode)
      return false
    }
    lock.release(mode)
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
