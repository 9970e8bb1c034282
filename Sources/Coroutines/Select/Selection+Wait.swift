// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

extension Selection {
  /// The channels that a parked select waits for, for reports.
  ///
  /// To be asked with the turn of the coroutine's scheduler, while it is suspended.
  ///
  /// - Parameter waiter: What the coroutine is parked with.
  /// - Returns: Nil if that is not a select.
  static func subjects(of waiter: UnsafeMutablePointer<Waiter>) -> [Wait.Subject]? {
    guard isWhole(waiter),
      let entries = waiter.pointee.context?.assumingMemoryBound(to: SelectEntry.self)
    else { return nil }
    // SAFETY: the entries are the parked call's, which holds the channels; it
    // does not run before the caller gives the turn back.
    return (0..<Int(waiter.pointee.clause)).compactMap { index in
      guard let channel = entries[index].core?.channel as? any WaitSubject else { return nil }
      return Wait.Subject(channel, entries[index].kind == .send ? "to send" : "to receive")
    }
  }

  /// The nodes that end a wait: of a parked select those of its clauses, not all of which need be in use.
  ///
  /// For comparing addresses; to be asked as `subjects` is.
  static func nodes(
    of waiter: UnsafeMutablePointer<Waiter>
  ) -> UnsafeMutableBufferPointer<Waiter> {
    guard isWhole(waiter), let nodes = waiter.pointee.slot?.assumingMemoryBound(to: Waiter.self)
    else { return UnsafeMutableBufferPointer(start: waiter, count: 1) }
    return UnsafeMutableBufferPointer(start: nodes, count: Int(waiter.pointee.clause))
  }

  /// Nodes of clauses have a lock; only a select as a whole has a race and none.
  private static func isWhole(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
    waiter.pointee.race != nil && waiter.pointee.lock == nil
  }
}
