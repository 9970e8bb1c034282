// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
import Synchronization

extension Coroutine {
  /// Parks the calling coroutine until this one has finished, however it finishes.
  ///
  /// Returns without parking if it has finished already. Any number of coroutines may wait, on any
  /// schedulers. What the body threw is not thrown here, but counts as looked at: read it with
  /// `value()` or `error`.
  ///
  /// *Cancellation:* if the caller is cancelled meanwhile, only the caller's wait ends.
  ///
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError` outside a coroutine
  ///   or on itself.
  @available(*, noasync, message: "In async code, write `try await coroutine.join()`.")
  public final func join() throws {
    try waitForEnd("Coroutine.join()")
    isObserved.set()
  }

  /// Suspends the calling task until this coroutine has finished, however it finishes.
  ///
  /// *Cancellation:* if the task is cancelled, the wait ends; the coroutine goes on.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public final func join() async throws {
    try await waitForEnd()
    isObserved.set()
  }

  /// Cancels this coroutine and parks the caller until it has finished.
  ///
  /// *Cancellation:* if the caller is cancelled meanwhile, only the caller's wait ends.
  ///
  /// - Throws: As `join`.
  @available(*, noasync, message: "In async code, write `try await coroutine.cancelAndJoin()`.")
  public final func cancelAndJoin() throws {
    cancel()
    try join()
  }

  /// Cancels this coroutine and suspends the calling task until it has finished.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public final func cancelAndJoin() async throws {
    cancel()
    try await join()
  }

  /// The error that the body threw, once finished.
  ///
  /// Nil before that, and after a normal return.
  public final var error: (any Error)? {
    guard isFinished else { return nil }
    isObserved.set()
    return failure
  }

  /// The error, which somebody has now seen.
  @usableFromInline
  package final func failureObserved() -> any Error {
    isObserved.set()
    guard let failure else {
      fatalError("\(self) has finished with neither a value nor an error.")
    }
    return failure
  }

  /// Parks until the end.
  @inlinable @inline(__always)
  package final func waitForEnd(_ operation: StaticString) throws {
    if needNotWait { return }
    let outcome = awaitEnd(operation.utf8Start)
    if outcome != .delivered { throw whyNotAwaited(outcome, operation) }
  }

  /// It has ended, and the caller is a coroutine that nobody has cancelled: then there is nothing to wait for.
  ///
  /// In checked builds `awaitEnd` is left to find that out.
  @inlinable @inline(__always)
  final var needNotWait: Bool {
    #if COROUTINES_CHECKED
    return false
    #else
    guard let caller = currentThread().runningFiber else { return false }
    return fiber.isOver && !Parking.mustLookTwice(caller)
    #endif
  }

  /// The same; how that ended, and `waiting` if the caller may not wait at all.
  ///
  /// It does not throw, because the register for errors would have to be kept in memory while others run.
  @usableFromInline @inline(never)
  final func awaitEnd(_ operation: UnsafePointer<UInt8>) -> WaitOutcome {
    let fiber = fiber
    let thread = currentThread()
    let caller = thread.runningFiber
    // As numbers: optionals would be compared with nil, too.
    if UInt(bitPattern: caller) == UInt(bitPattern: fiber) { return .waiting }
    // The end is a change under this lock: to look for it depends on nothing else that the coroutine does.
    preemptionPoint(.flag, fiber.joinLock)
    let phase = fiber.pointee.phase.load(ordering: .acquiring)
    guard let caller else { return .waiting }
    if Parking.mustLookTwice(caller), Parking.isRefused(caller) { return .cancelled }
    // For good, and what it has left behind is seen.
    if phase == .dead { return .delivered }
    caller.waits(for: self, inCall: operation)
    // In a pool one that has not started begins next, right here: depth first, on a warm stack.
    if phase == .ready, let home = thread.currentHome, home.pointee.pool != nil, home.claim(fiber) {
      home.pushFront(fiber)
    }
    let outcome = Parking.park(
      caller,
      thread,
      on: fiber.joiners,
      fiber.joinLock,
      isCancellable: true,
      unless: { fiber.isOver }
    )
    withExtendedLifetime(self) {}
    return outcome
  }

  @usableFromInline @inline(never)
  final func whyNotAwaited(_ outcome: WaitOutcome, _ operation: StaticString) -> any Error {
    if outcome == .cancelled { return CancellationError() }
    return currentThread().runningFiber == nil
      ? Parking.outside(operation)
      : CoroutineError.joinsItself("\(self), launched at \(creationSite),")
  }

  /// Suspends a task until the end.
  @usableFromInline
  final func waitForEnd() async throws {
    let fiber = fiber
    try await TaskWait.wait(
      on: fiber.joiners,
      fiber.joinLock,
      unless: { fiber.isOver }
    )
    withExtendedLifetime(self) {}
  }
}
