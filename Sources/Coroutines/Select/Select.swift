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
/// Cost: one lock per channel; no allocation with up to eight clauses, whose values have up to 128 bytes together. A
/// clause keeps its channel alive, and if nobody else does, until the loop has nothing ready, or looks at the clock next:
/// the scheduler retains each channel once for the selects between two such looks, up to some 200 of them, and each of
/// these selects only counts in plain memory. Outside a scheduler's turn it is one retain and one release per channel.
///
/// - Parameter clauses: One to sixteen clauses, all with the same result. For more, or as many as there are channels in
///   an array, there is `Selector`.
/// - Returns: What the winner's action returns.
/// - Throws: What that action throws; `ChannelError.closed` if the winner's channel is closed;
///   `CancellationError`; `CoroutineError.outsideCoroutine`.
@inlinable @inline(__always)
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func select<Result>(
  @SelectBuilder _ clauses: () throws -> SelectOutcome<Result>
) throws -> Result {
  try clauses().get()
}
