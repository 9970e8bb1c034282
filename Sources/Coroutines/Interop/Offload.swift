// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Runs blocking work on a thread of a bounded pool, and parks the calling coroutine meanwhile.
///
/// For calls that block their thread (files, `getaddrinfo`, a database driver): the scheduler's thread
/// stays free for other coroutines.
///
/// ```swift
/// let text = try offload { try String(contentsOfFile: path, encoding: .utf8) }
/// ```
///
/// The pool has at most `OffloadPool.threadLimit` threads: as many as there are processors begin at once, each further one
/// when work has waited for a quarter of a millisecond; for ten milliseconds while the process keeps all processors
/// busy; and for a hundred while it is the pool's own threads that do. Work waits its turn, first come first served.
///
/// While pieces end in quick succession and more of them wait, their coroutines go on up to a quarter of a millisecond later,
/// several at a time: a loop that woke up for each would be in the way of the work.
///
/// *Cancellation:* ends the wait. Work that has not begun does not run; work that runs goes on to its end
/// on its thread, and its result is dropped.
///
/// - Parameter work: What to do. It runs outside any coroutine and must not park.
/// - Returns: What `work` returns.
/// - Throws: What `work` throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func offload<Result>(_ work: sending @escaping () throws -> Result) throws -> sending Result
{
  let caller = try Parking.begin("offload(_:)", currentThread()).pointee.identifier
  let promise = Promise<Result>()
  // SAFETY: both are handed over whole: the closure to one pool thread, and its result back.
  nonisolated(unsafe) let work = work
  OffloadPool.shared.run {
    guard promise.isPending else { return }
    if isTracing { currentThread().record(.offload, caller) }
    let result = Swift.Result(catching: work)
    if isTracing { currentThread().record(.offloaded, caller) }
    currentThread().withPatience { promise.settle(result) }
  }
  // SAFETY: nobody else knows the promise but the thread, which put the value in and is done with it.
  nonisolated(unsafe) let result = try promise.waitForOutside(in: "offload(_:)").get()
  return result
}
