// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
public import Synchronization

/// What every call that parks begins with.
@usableFromInline
package enum Parking {
  /// The running coroutine, if it may park.
  ///
  /// Rule 2: each park point is a cancellation point, before and after. Cancelled code cannot park
  /// again unless it is shielded.
  ///
  /// - Throws: `CoroutineError.outsideCoroutine`; `CancellationError`.
  @inlinable @inline(__always)
  static func begin(
    _ operation: StaticString,
    _ thread: ThreadRecord
  ) throws -> UnsafeMutablePointer<Fiber> {
    let fiber = try caller(operation, thread)
    note(operation, fiber)
    return fiber
  }

  /// The same for calls that mostly need not wait: what it waits for is noted, by `waits(for:in:)`, before it parks.
  @inlinable @inline(__always)
  static func caller(
    _ operation: StaticString,
    _ thread: ThreadRecord
  ) throws -> UnsafeMutablePointer<Fiber> {
    guard let fiber = thread.runningFiber else {
      throw outside(operation)
    }
    if mustLookTwice(fiber) { try refuseIfCancelled(fiber) }
    return fiber
  }

  /// The running coroutine may be cancelled, or is recorded.
  @inlinable @inline(__always)
  static func mustLookTwice(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    preemptionPoint(.flag, fiber)
    return fiber.pointee.attention.load(ordering: .relaxed)
  }

  /// Notes which call may be about to park, for reports.
  @inlinable @inline(__always)
  static func note(_ operation: StaticString, _ fiber: UnsafeMutablePointer<Fiber>) {
    fiber.pointee.operation = operation.utf8Start
    fiber.pointee.waitsOn = nil
  }

  @usableFromInline @inline(never)
  static func outside(_ operation: StaticString) -> CoroutineError {
    .outsideCoroutine(operation)
  }

  @usableFromInline @inline(never)
  static func refuseIfCancelled(_ fiber: UnsafeMutablePointer<Fiber>) throws {
    if CancellationScope.isCancelled(fiber) { throw CancellationError() }
    if !isTracing { CancellationScope.clearHint(fiber) }
  }

  /// The running coroutine, which must look twice, may not park, because it is cancelled.
  @inline(never)
  static func isRefused(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    (try? refuseIfCancelled(fiber)) == nil
  }

  /// The running coroutine has been told to look twice: because it is cancelled, or because it is recorded.
  ///
  /// - Returns: It is recorded.
  /// - Throws: `CancellationError`.
  @usableFromInline @inline(never)
  static func isRecorded(_ fiber: UnsafeMutablePointer<Fiber>) throws -> Bool {
    try refuseIfCancelled(fiber)
    return isTracing
  }

  /// Parks on a queue that is guarded by `lock`, unless `isOver` says that there is nothing to wait
  /// for.
  ///
  /// The pattern of everything that waits for one event: promises, wait groups.
  ///
  /// - Throws: `CancellationError`, with the queue as if the wait had never begun.
  @usableFromInline @inline(never)
  package static func wait(
    _ operation: StaticString,
    on queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    of subject: AnyObject? = nil,
    unless isOver: () -> Bool
  ) throws {
    let thread = currentThread()
    let fiber = try begin(operation, thread)
    fiber.waits(for: subject)
    let outcome = park(fiber, thread, on: queue, lock, isCancellable: true, unless: isOver)
    if outcome == .cancelled { throw CancellationError() }
  }

  /// Parks like `wait`, deaf to cancellation: for waits whose end is certain and must be awaited.
  package static func waitUninterrupted(
    _ operation: StaticString,
    on queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    unless isOver: () -> Bool
  ) {
    let thread = currentThread()
    guard let fiber = thread.runningFiber else { return }
    note(operation, fiber)
    _ = park(fiber, thread, on: queue, lock, isCancellable: false, unless: isOver)
  }

  /// Parks the running coroutine, unless `isOver` says that there is nothing to wait for.
  @inline(__always)
  static func park(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord,
    on queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    isCancellable: Bool,
    unless isOver: () -> Bool
  ) -> WaitOutcome {
    // The node stays in this frame until the coroutine has been resumed (W3).
    withWaiter(for: fiber, and: Void.self) { waiter, _ in
      waiter.pointee.queue = queue
      waiter.pointee.lock = lock
      let mode = lock.acquire(thread)
      if isOver() {
        lock.release(mode)
        return .delivered
      }
      queue.pointee.append(waiter)
      lock.release(mode)
      fiber.park(thread, isCancellable ? waiter : nil)
      return waiter.pointee.outcome
    }
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// Notes what the running coroutine is about to wait for, and in which call: of those that mostly need not wait.
  @inlinable @inline(__always)
  package func waits(for subject: AnyObject, in operation: StaticString) {
    waits(for: subject, inCall: operation.utf8Start)
  }

  /// The same, for what is no part of its caller, to which a static string would be three arguments: the string's text.
  ///
  /// Of another name, because a literal is taken for a pointer to a string that is gone after the call.
  @inlinable @inline(__always)
  package func waits(for subject: AnyObject, inCall operation: UnsafePointer<UInt8>) {
    pointee.operation = operation
    pointee.waitsOn = Unmanaged.passUnretained(subject).toOpaque()
  }

  /// Notes what the running coroutine is about to wait for.
  @inlinable @inline(__always)
  package func waits(for subject: AnyObject?) {
    pointee.waitsOn = subject.map { Unmanaged.passUnretained($0).toOpaque() }
  }
}
