// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

// How coroutines and tasks wait for a promise.

extension AnyPromise {
  /// Parks until the promise is settled.
  @inlinable @inline(__always)
  package final func wait(_ cancellation: AwaitCancellation) throws {
    let thread = currentThread()
    // A park point even when there is nothing to wait for (rule 2). Code that may not park leaves the
    // promise untouched: it neither starts a lazy one nor cancels it.
    let fiber = try Parking.caller("Promise.await()", thread)
    if settledFlag.isSet { return }
    // The node stays in this frame until the coroutine has been resumed (W3).
    try withWaiter(for: fiber, and: Void.self) { waiter, _ in
      guard try enqueue(waiter, cancellation, thread) else { return }
      fiber.waits(for: self, in: "Promise.await()")
      fiber.park(thread, waiter)
      if waiter.pointee.outcome == .cancelled { throw CancellationError() }
    }
  }

  /// Puts a coroutine that has begun its park point in line.
  ///
  /// - Returns: False if the promise is settled.
  @usableFromInline @inline(never)
  final func enqueue(
    _ waiter: UnsafeMutablePointer<Waiter>,
    _ cancellation: AwaitCancellation,
    _ thread: ThreadRecord
  ) throws -> Bool {
    let mode = state.lock.acquire(thread)
    if settledFlag.isSet {
      state.lock.release(mode)
      return false
    }
    if cancellation == .cancelPromise || state.extras?.starter != nil {
      state.lock.release(mode)
      try waitUntilSettled(cancellation)
      return false
    }
    waiter.pointee.queue = state.queue
    waiter.pointee.lock = state.lock
    state.pointee.queue.append(waiter)
    state.lock.release(mode)
    return true
  }

  /// The same for callers that have begun their park point already: a cancellation that has come since
  /// counts as one during the wait.
  ///
  /// A call of another name makes the promise its own affair, which reports do not tell of.
  @usableFromInline
  final func waitUntilSettled(
    _ cancellation: AwaitCancellation,
    in call: StaticString? = nil
  ) throws {
    start()
    if cancellation == .cancelPromise { state.lock.withLock { state.pointee.interested += 1 } }
    do {
      try Parking.wait(
        call ?? "Promise.await()",
        on: state.queue,
        state.lock,
        of: call == nil ? self : nil,
        unless: { settledFlag.isSet }
      )
    } catch {
      if cancellation == .cancelPromise, leave() { cancel() }
      throw error
    }
    if cancellation == .cancelPromise { _ = leave() }
  }

  /// One coroutine less that cancels the promise; true if it was the last.
  private final func leave() -> Bool {
    state.lock.withLock {
      state.pointee.interested -= 1
      return state.pointee.interested == 0
    }
  }

  /// Suspends the calling task until the promise is settled.
  @inlinable
  final func waitInTask() async throws {
    start()
    if !settledFlag.isSet { try await waitUnsettled() }
  }

  @usableFromInline
  final func waitUnsettled() async throws {
    try await TaskWait.wait(
      on: state.queue,
      state.lock,
      unless: { self.settledFlag.isSet }
    )
  }
}

/// What cancelling a coroutine does to the promise that it awaits.
public enum AwaitCancellation: Sendable, Hashable {
  /// Nothing: others may still want it.
  case leavePromise
  /// Cancels it, if no other coroutine awaits it in this way.
  case cancelPromise
}
