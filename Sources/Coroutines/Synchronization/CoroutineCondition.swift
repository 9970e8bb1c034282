// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A wait, inside a mutex, for something that others change inside the same mutex.
///
/// ```swift
/// let mutex = CoroutineMutex()
/// let isFilled = CoroutineCondition(mutex)
///
/// try mutex.withLock {
///   try isFilled.wait { !items.isEmpty }  // the mutex is free meanwhile
///   take(items.removeFirst())
/// }
/// try mutex.withLock {
///   items.append(item)
///   isFilled.signal()
/// }
/// ```
///
/// Those who wait are woken first come, first served. A wake-up is a hint to look again, since others may come
/// first to the mutex: wait for a state, with `wait(until:)`, and not for a signal. A channel is often simpler.
public final class CoroutineCondition: @unchecked Sendable {
  // SAFETY: constants; the queue is guarded by its lock.

  /// The mutex that it belongs to.
  public let mutex: CoroutineMutex

  private let cell = WaitingState((), isBiased: true)

  /// A condition of what a mutex protects.
  ///
  /// - Parameter mutex: The mutex; it may have several conditions.
  public init(_ mutex: CoroutineMutex) {
    self.mutex = mutex
  }

  deinit { cell.deallocate() }

  /// Parks until `isTrue` says so, which is asked inside the mutex; returns at once if it is.
  ///
  /// *Cancellation:* as for `wait()`.
  ///
  /// - Parameter isTrue: What to wait for; must not park.
  /// - Throws: What `isTrue` throws; as `wait()`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func wait(until isTrue: () throws -> Bool) throws {
    try check(
      "CoroutineCondition.wait(until:)",
      Parking.begin("CoroutineCondition.wait(until:)", currentThread())
    )
    while try !isTrue() { try wait() }
  }

  /// Unlocks the mutex, parks until a signal comes, and locks the mutex again.
  ///
  /// Unlocking and beginning to wait are one step: no signal is lost in between.
  ///
  /// *Cancellation:* ends the wait. It throws once the caller holds the mutex again, which is waited for
  /// all the same: code around it finds the mutex as it left it. A wait that a signal has ended returns.
  ///
  /// - Throws: `SynchronizationError.notHeldByCaller` if the caller does not hold the mutex; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func wait() throws {
    let thread = currentThread()
    let fiber = try Parking.begin("CoroutineCondition.wait()", thread)
    try check("CoroutineCondition.wait()", fiber)
    fiber.waits(for: self)
    var isByHand = false
    let outcome = cell.park(fiber, thread, cell.lock.acquire(thread)) {
      isByHand = mutex.release("CoroutineCondition.wait()")
    }
    mutex.acquireAgain(fiber, isByHand: isByHand)
    if outcome == .cancelled { throw CancellationError() }
  }

  /// Wakes the one who has waited longest, if anybody waits.
  ///
  /// It becomes ready, and goes on once it has the mutex. Does not park; may be called from any thread, and
  /// normally is, inside the mutex.
  public func signal() {
    let mode = cell.lock.acquire(currentThread())
    let first = cell.queue.pointee.claimFirst()
    cell.lock.release(mode)
    if let first { ResumeToken(first, .delivered).resume(currentThread()) }
  }

  /// Wakes all who wait now.
  ///
  /// They go on one after the other, in the order of their coming, as they get the mutex. Does not park; may be
  /// called from any thread.
  public func broadcast() {
    var wakes = ResumeList()
    let mode = cell.lock.acquire(currentThread())
    wakes.claimAll(of: &cell.queue.pointee, .delivered)
    cell.lock.release(mode)
    wakes.resumeAll()
  }

  private func check(_ operation: StaticString, _ fiber: UnsafeMutablePointer<Fiber>) throws {
    guard mutex.isHeld(by: LockHolder(fiber)) else {
      throw SynchronizationError.notHeldByCaller(
        operation,
        fiber.coroutine.description,
        mutex.holderDescription
      )
    }
  }
}
