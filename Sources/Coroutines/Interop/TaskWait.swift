// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel

/// A task of Swift concurrency waiting in one of our queues.
package final class TaskWait: @unchecked Sendable {
  // SAFETY: `continuation` and `isCancelledEarly` are guarded by `lock`; the node follows W1 and W2.

  private let lock: UnsafeMutablePointer<Lock>
  private let waiter: UnsafeMutablePointer<Waiter>
  private var continuation: CheckedContinuation<WaitOutcome, Never>?
  private var isCancelledEarly = false

  private init(
    _ queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    _ slot: UnsafeMutableRawPointer?
  ) {
    self.lock = lock
    waiter = .allocate(capacity: 1)
    waiter.initialize(to: Waiter(fiber: nil, slot: slot))
    waiter.pointee.queue = queue
    waiter.pointee.lock = lock
    // SAFETY: used by the callback only; see there.
    waiter.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    waiter.pointee.callback = { waiter in
      // SAFETY: `wait` keeps the object alive until the continuation has been resumed.
      let waiter = waiter.assumingMemoryBound(to: Waiter.self)
      guard let context = waiter.pointee.context else { return }
      Unmanaged<TaskWait>.fromOpaque(context).takeUnretainedValue().wake(waiter.pointee.outcome)
    }
  }

  deinit {
    waiter.deallocate()
  }

  private func wake(_ outcome: WaitOutcome) {
    let continuation = lock.withLock {
      defer { self.continuation = nil }
      return self.continuation
    }
    continuation?.resume(returning: outcome)
  }

  /// Suspends the calling task in `queue` until somebody ends the wait, unless `isOver`, asked under
  /// the lock, says that there is nothing to wait for.
  ///
  /// It is asked twice if it denies that, first before anything is allocated.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; the queue is then as before.
  @discardableResult
  package static func wait(
    on queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    slot: UnsafeMutableRawPointer? = nil,
    unless isOver: () -> Bool
  ) async throws -> WaitOutcome {
    try Task.checkCancellation()
    if lock.withLock(isOver) { return .delivered }
    let wait = TaskWait(queue, lock, slot)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        wait.begin(continuation, unless: isOver)
      }
    } onCancel: {
      wait.cancel()
    }
    if outcome == .cancelled { throw CancellationError() }
    // What the waker did comes before this by the continuation. If it was resumed before the task had been suspended, that is
    // by atomic operations of the runtime's, which ThreadSanitizer does not see; `wake` has left this lock before it resumed.
    if cck_is_instrumented() != 0 { lock.withLock {} }
    return outcome
  }

  private func begin(
    _ continuation: CheckedContinuation<WaitOutcome, Never>,
    unless isOver: () -> Bool
  ) {
    let early: WaitOutcome? = lock.withLock {
      if isOver() { return .delivered }
      if isCancelledEarly { return .cancelled }
      self.continuation = continuation
      waiter.pointee.queue?.pointee.append(waiter)
      return nil
    }
    if let early { continuation.resume(returning: early) }
  }

  private func cancel() {
    let continuation: CheckedContinuation<WaitOutcome, Never>? = lock.withLock {
      guard waiter.pointee.isLinked else {
        isCancelledEarly = true
        return nil
      }
      waiter.pointee.queue?.pointee.remove(waiter)
      defer { self.continuation = nil }
      return self.continuation
    }
    continuation?.resume(returning: .cancelled)
  }
}
