// SPDX-License-Identifier: Apache-2.0

/// Waits for several things and does exactly one of them.
///
/// ```swift
/// try select {
///   Receive(from: results) { result in show(result) }
///   Send(job, to: jobs) { count += 1 }
///   After(.seconds(1)) { print("still waiting") }
/// }
/// ```
///
/// If several clauses are ready, one is chosen at random, each with the same chance. If none is, a
/// `Default` clause wins; without one the coroutine parks until a clause becomes ready. Exactly one
/// clause takes effect: the others are as if they had never been there. The look at all channels is
/// one atomic step. The winner's action runs after that, outside any lock, and its value is returned.
///
/// A select with a `Default` never parks and may be used from any thread.
///
/// *Cancellation:* no clause takes effect.
///
/// Cost: no allocation of its own; one lock per channel.
///
/// - Parameter clauses: One clause or more, all with the same result.
/// - Returns: What the winner's action returns.
/// - Throws: What that action throws; `ChannelError.closed` if the winner's channel is closed;
///   `CancellationError`; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync)
public func select<each Element, Result>(
  @SelectBuilder _ clauses: () throws -> (repeat SelectClause<each Element, Result>)
) throws -> Result {
  let clauses = try clauses()
  var count = 0
  var size = 0
  for clause in repeat each clauses {
    count += 1
    size += clause.slotSize
  }
  return try withUnsafeTemporaryAllocation(of: SelectEntry.self, capacity: count) { entries in
    try withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { slots in
      // SAFETY: `count` entries and the sum of the slot sizes were allocated; an empty buffer has an
      // address of no use, and no slot is taken from it.
      let entries = entries.baseAddress.unsafelyUnwrapped
      var slot = slots.baseAddress ?? UnsafeMutableRawPointer(entries)
      var entry = entries
      for clause in repeat each clauses {
        clause.prepare(entry, slot)
        entry += 1
        slot += clause.slotSize
      }
      let winner: UnsafeMutablePointer<SelectEntry>?
      let failure: (any Error)?
      do {
        winner = entries + (try Selection.decide(entries, count))
        failure = nil
      } catch {
        winner = nil
        failure = error
      }
      // Losers first: the winner's action may park, and must not keep their values meanwhile.
      entry = entries
      for clause in repeat each clauses {
        if entry != winner || entry.pointee.isLeftOver { clause.discard(entry) }
        entry += 1
      }
      if let failure { throw failure }
      entry = entries
      for clause in repeat each clauses {
        if entry == winner { return try clause.finish(entry) }
        entry += 1
      }
      preconditionFailure("select was won by a clause that it does not have")
    }
  }
}
