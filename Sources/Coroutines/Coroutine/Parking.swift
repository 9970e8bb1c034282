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
    guard let fiber = thread.runningFiber else {
      throw outside(operation)
    }
    preemptionPoint(.flag, fiber)
    if fiber.pointee.attention.load(ordering: .relaxed) { try refuseIfCancelled(fiber) }
    fiber.pointee.operation = operation.utf8Start
    fiber.pointee.waitsOn = nil
    return fiber
  }

  @usableFromInline @inline(never)
  static func outside(_ operation: StaticString) -> CoroutineError {
    .outsideCoroutine(operation)
  }

  @usableFromInline @inline(never)
  static func refuseIfCancelled(_ fiber: UnsafeMutablePointer<Fiber>) throws {
    if CancellationScope.isCancelled(fiber) { throw CancellationError() }
  }

  /// Parks on a queue that is guarded by `lock`, unless `isOver` says that there is nothing to wait
  /// for.
  ///
  /// The pattern of everything that waits for one event: join, promises, wait groups.
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
    fiber.pointee.operation = operation.utf8Start
    fiber.pointee.waitsOn = nil
    _ = park(fiber, thread, on: queue, lock, isCancellable: false, unless: isOver)
  }

  /// Parks the running coroutine, unless `isOver` says that there is nothing to wait for.
  @inline(__always)
  private static func park(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord,
    on queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    isCancellable: Bool,
    unless isOver: () -> Bool
  ) -> WaitOutcome {
    var waiter = Waiter(fiber: fiber)
    // SAFETY: the node stays in this frame until the coroutine has been resumed (W3).
    return withUnsafeMutablePointer(to: &waiter) { waiter in
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
  /// Notes what the running coroutine is about to wait for.
  @inlinable @inline(__always)
  package func waits(for subject: AnyObject?) {
    pointee.waitsOn = subject.map { Unmanaged.passUnretained($0).toOpaque() }
  }
}
