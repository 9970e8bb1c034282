// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

extension Selection {
  /// Goes on with a clause that is ready, while events are recorded.
  ///
  /// Apart from `decide`, which would otherwise be a twentieth slower: two callers, and `carryOut` is no longer a part
  /// of it.
  @inline(never)
  static func decideRecorded(
    _ entries: Entries,
    _ count: Int,
    _ ready: Int,
    _ fiber: UnsafeMutablePointer<Fiber>?,
    _ fallback: Int,
    _ thread: ThreadRecord
  ) throws -> Int {
    var chosen = ready
    while chosen >= 0 {
      if let partner = carryOutRecorded(entries + chosen, thread) {
        unlockAll(entries, count)
        if let waiter = partner.waiter { ResumeToken(waiter, .delivered).resume(thread) }
        return chosen
      }
      chosen = look(entries, count, thread)
    }
    if let fiber { return try standBack(entries, count, fiber, thread) }
    unlockAll(entries, count)
    return fallback
  }

  /// Carries a clause out as `carryOut` does, and records it.
  private static func carryOutRecorded(
    _ entry: UnsafeMutablePointer<SelectEntry>,
    _ thread: ThreadRecord
  ) -> Partner? {
    guard let core = entry.pointee.core else { return nil }
    let slot = entry.pointee.slot
    if entry.pointee.kind == .receive {
      let step = core.decideReceive()
      core.record(step, thread)
      switch step {
      case .take(let full, let sender, let free):
        core.pointee.move(slot, full)
        // SAFETY: a waiting sender has its value in its slot.
        if let sender { core.pointee.move(free, sender.pointee.slot.unsafelyUnwrapped) }
        return Partner(waiter: sender)
      case .meet(let sender):
        // SAFETY: as above.
        core.pointee.move(slot, sender.pointee.slot.unsafelyUnwrapped)
        return Partner(waiter: sender)
      case .closed:
        entry.pointee.isClosed = true
        return Partner(waiter: nil)
      case .wait: return nil
      }
    }
    let step = core.decideSend()
    core.record(step, thread)
    switch step {
    case .handOver(let receiver):
      // SAFETY: a waiting receiver has a slot.
      core.pointee.move(receiver.pointee.slot.unsafelyUnwrapped, slot)
      return Partner(waiter: receiver)
    case .keep(let free): core.pointee.move(free, slot)
    case .replace(let full):
      core.pointee.exchange(full, slot)
      entry.pointee.isLeftOver = true
    case .discard: entry.pointee.isLeftOver = true
    case .closed: entry.pointee.isClosed = true
    case .wait: return nil
    }
    return Partner(waiter: nil)
  }
}
