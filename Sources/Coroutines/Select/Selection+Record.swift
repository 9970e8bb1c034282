// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

extension Selection {
  /// Goes on with a clause that is ready, while events are recorded.
  ///
  /// Apart from `decide`, which would otherwise have to keep `thread` and look at it in each clause.
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
      if let partner = carryOut(entries + chosen, recordedBy: thread) {
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
}
