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
/// A select with a `Default` never parks: it may be used from any thread, and cancellation does not
/// concern it.
///
/// *Cancellation* of one without: it throws, and no clause takes effect.
///
/// Cost: no allocation of its own; one lock per channel.
///
/// - Parameter clauses: One clause or more, all with the same result.
/// - Returns: What the winner's action returns.
/// - Throws: What that action throws; `ChannelError.closed` if the winner's channel is closed;
///   `CancellationError`; `CoroutineError.outsideCoroutine`.
@inlinable @inline(__always)
@available(*, noasync)
public func select<Clauses: SelectClauses>(
  @SelectBuilder _ clauses: () throws -> Clauses
) throws -> Clauses.Result {
  var clauses = try clauses()
  let count = clauses._count
  return try withUnsafeTemporaryAllocation(of: SelectEntry.self, capacity: count) { entries in
    try withUnsafeTemporaryAllocation(byteCount: clauses._slotSize, alignment: 16) { slots in
      // SAFETY: `count` entries and the sum of the slot sizes were allocated; an empty buffer has an
      // address of no use, and no slot is taken from it.
      let entries = entries.baseAddress.unsafelyUnwrapped
      let raw = UnsafeMutableRawPointer(entries)
      clauses._prepare(raw, slots.baseAddress ?? raw)
      let winner: Int
      do {
        winner = try Selection.decide(entries, count)
      } catch {
        clauses._discardLosers(raw, -1)
        throw error
      }
      // Losers first: the winner's action may park, and must not keep their values meanwhile.
      clauses._discardLosers(raw, winner)
      return try clauses._finish(raw, winner)
    }
  }
}
