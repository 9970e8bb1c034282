// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A count of things to be done, and a wait until none is left.
///
/// ```swift
/// let parts = CoroutineWaitGroup()
/// for url in urls {
///   parts.add()
///   launch { defer { parts.done() }; try fetch(url) }
/// }
/// try parts.wait()
/// ```
///
/// `withCoroutineScope` does that for coroutines launched in one place; a wait group serves things that are
/// begun here and ended there, on any threads.
///
/// Those who wait are let through at the moment when the count comes down to zero, whatever it does afterwards:
/// a group can be used again at once, and those who wait for the next round come after them.
public final class CoroutineWaitGroup: @unchecked Sendable {
  // SAFETY: a constant; the state is guarded by its lock.

  private let cell: WaitingState<Int>

  /// A group.
  ///
  /// - Parameter count: How many things are to be done already; 0 or more.
  public init(count: Int = 0) {
    demand(count >= 0, "A wait group with a count of \(count); it must be 0 or more.")
    cell = WaitingState(count, isBiased: false)
  }

  deinit { cell.deallocate() }

  /// Things that are not done yet.
  public var count: Int { cell.lock.withLock { cell.state.pointee } }

  /// Adds things to be done.
  ///
  /// Does not park; may be called from any thread. Call it before what is to be done begins, not inside it:
  /// there it may come after the wait.
  ///
  /// - Parameter count: How many; 0 or more.
  public func add(_ count: Int = 1) {
    demand(count >= 0, "CoroutineWaitGroup.add(\(count)): add 0 or more; done() takes away.")
    cell.lock.withLock { cell.state.pointee += count }
  }

  /// One thing is done; if it was the last, those who wait become ready.
  ///
  /// Does not park; may be called from any thread.
  ///
  /// - Precondition: Something was left to be done.
  public func done() {
    var wakes = ResumeList()
    let mode = cell.lock.acquire(currentThread())
    let left = cell.state.pointee - 1
    if left >= 0 { cell.state.pointee = left }
    if left == 0 { wakes.claimAll(of: &cell.queue.pointee, .delivered) }
    cell.lock.release(mode)
    demand(
      left >= 0,
      "CoroutineWaitGroup.done() was called more often than things were added. Call add() before each "
        + "thing begins, and done() once when it ends."
    )
    wakes.resumeAll()
  }

  /// Parks until the count is zero; returns at once if it is.
  ///
  /// *Cancellation:* ends the wait; the count stays as it is.
  ///
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await group.wait()`.")
  public func wait() throws {
    let state = cell.state
    try Parking.wait(
      "CoroutineWaitGroup.wait()",
      on: cell.queue,
      cell.lock,
      of: self,
      unless: { state.pointee == 0 }
    )
  }

  /// Suspends the calling task until the count is zero.
  ///
  /// *Cancellation:* of the task: ends the wait; the count stays as it is.
  ///
  /// - Throws: `CancellationError`.
  public func wait() async throws {
    try await TaskWait.wait(on: cell.queue, cell.lock, unless: { self.cell.state.pointee == 0 })
  }
}
