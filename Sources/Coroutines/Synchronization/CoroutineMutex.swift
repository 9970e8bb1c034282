// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// A lock that parks the coroutine that waits for it, and no thread.
///
/// ```swift
/// let ledger = CoroutineMutex()
/// try ledger.withLock {
///   let balance = try account.read()  // may park: nobody else is in here meanwhile
///   try account.write(balance + 10)
/// }
/// ```
///
/// For a stretch of code that parks in the middle and must not be entered by two at once. Coroutines of one
/// scheduler need no lock for a stretch that does not park: nothing else runs meanwhile.
///
/// First come, first served, on whatever schedulers they are: unlocking hands the lock to whoever has
/// waited longest, and nobody gets in between. It is not recursive.
///
/// | | waits while |
/// |---|---|
/// | `withLock`, `lock` | somebody else holds it |
/// | `withLockIfReady`, `lockIfReady`, `unlock` | never |
///
/// Cost: no allocation. While one thread uses it, no atomic operation either, as for a channel.
public final class CoroutineMutex: @unchecked Sendable {
  // SAFETY: a constant; the state is guarded by its lock.

  private struct State {
    /// Invariant: if nobody holds the mutex, nobody waits for it.
    var holder = LockHolder.nobody
    /// The holder is a coroutine that came by `lock`, after which it may end without unlocking; it counts that.
    ///
    /// One that came by `withLock` unlocks before its end.
    var isByHand = false
  }

  private let cell = WaitingState(State(), isBiased: true)

  /// A mutex that nobody holds.
  public init() {}

  deinit {
    let state = cell.state.pointee
    if state.isByHand, let holder = state.holder.fiber { LocksByHand.mutexGoes(heldBy: holder) }
    cell.deallocate()
  }

  // MARK: - With a body

  /// Runs `body` while the caller, and nobody else, holds the mutex.
  ///
  /// Parks while somebody else holds it.
  ///
  /// *Cancellation:* ends the wait, and `body` does not run. Once the mutex has been handed over, the wait is
  /// over, and cancellation is as anywhere else: `body` throws at its next park point, and the mutex is
  /// unlocked.
  ///
  /// - Parameter body: What to do; it may park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `SynchronizationError.heldByCaller` if the caller holds it already;
  ///   `SynchronizationError.holderFinished`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withLock<Result>(_ body: () throws -> Result) throws -> Result {
    try acquire("CoroutineMutex.withLock(_:)", isByHand: false)
    defer { release("CoroutineMutex.withLock(_:)") }
    return try body()
  }

  /// Runs `body` while the caller holds the mutex, if nobody holds it now.
  ///
  /// Never parks for the mutex and never fails spuriously; may be called from any thread. (In a
  /// coroutine, `body` may park.)
  ///
  /// - Parameter body: What to do.
  /// - Returns: What `body` returns; nil if somebody holds the mutex, be it the caller.
  /// - Throws: What `body` throws.
  @inlinable
  public func withLockIfReady<Result>(_ body: () throws -> Result) rethrows -> Result? {
    guard acquireIfReady(isByHand: false) else { return nil }
    defer { release("CoroutineMutex.withLockIfReady(_:)") }
    return try body()
  }

  // MARK: - By hand

  /// Locks the mutex; parks while somebody else holds it.
  ///
  /// For stretches that `withLock` cannot express. Who locks must unlock, in the same coroutine.
  ///
  /// *Cancellation:* as for `withLock`: the caller then does not hold it.
  ///
  /// - Throws: `SynchronizationError.heldByCaller` if the caller holds it already;
  ///   `SynchronizationError.holderFinished`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func lock() throws {
    try acquire("CoroutineMutex.lock()", isByHand: true)
  }

  /// Locks the mutex if nobody holds it now.
  ///
  /// Never parks and never fails spuriously; may be called from any thread.
  ///
  /// - Returns: True if the caller holds it now; false if somebody did, be it the caller.
  public func lockIfReady() -> Bool {
    acquireIfReady(isByHand: true)
  }

  /// Unlocks the mutex, and hands it to whoever has waited longest.
  ///
  /// That one becomes ready, and the caller runs on. Does not park; works in cancelled code.
  ///
  /// - Precondition: The caller holds it: the coroutine that locked it, or outside coroutines the thread.
  public func unlock() {
    release("CoroutineMutex.unlock()")
  }

  // MARK: - Looking

  /// Somebody holds it now.
  public var isLocked: Bool { cell.lock.withLock { cell.state.pointee.holder != .nobody } }

  /// The caller holds it now.
  public var isHeldByCaller: Bool { isHeld(by: LockHolder(currentThread())) }

  /// Someone in particular holds it now.
  func isHeld(by holder: LockHolder) -> Bool {
    cell.lock.withLock { cell.state.pointee.holder == holder }
  }

  /// The coroutine that holds it, if one does.
  ///
  /// To be asked while nothing else runs.
  var holdingCoroutine: Coroutine? { cell.lock.withLock { cell.state.pointee.holder.coroutine } }

  /// Who holds it, for messages.
  var holderDescription: String { cell.lock.withLock { cell.state.pointee.holder.description } }

  // MARK: - How it is done

  @inlinable @inline(__always)
  func acquire(_ operation: StaticString, isByHand: Bool) throws {
    let thread = currentThread()
    let fiber = try Parking.caller(operation, thread)
    guard let mode = try acquireOrHoldState(fiber, thread, operation, isByHand: isByHand)
    else { return }
    // The node stays in this frame until the coroutine has been resumed (W3).
    try withWaiter(for: fiber, and: Void.self) { waiter, _ in
      enqueue(waiter, mode)
      fiber.waits(for: self, in: operation)
      fiber.park(thread, waiter)
      if waiter.pointee.outcome == .cancelled { throw CancellationError() }
    }
    if isByHand { noteByHand(fiber) }
  }

  /// Locks the mutex if nobody holds it now.
  ///
  /// - Returns: Nil if so; else how the lock of its state was taken, for `enqueue`, which leaves it.
  /// - Throws: Why waiting would never end.
  @usableFromInline @inline(never)
  func acquireOrHoldState(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord,
    _ operation: StaticString,
    isByHand: Bool
  ) throws -> LockMode? {
    let mode = cell.lock.acquire(thread)
    if take(LockHolder(fiber), isByHand ? fiber : nil) {
      cell.lock.release(mode)
      return nil
    }
    if let misuse = misuse(operation, by: fiber) {
      cell.lock.release(mode)
      throw misuse
    }
    return mode
  }

  @usableFromInline @inline(never)
  func enqueue(_ waiter: UnsafeMutablePointer<Waiter>, _ mode: LockMode) {
    cell.enqueue(waiter, mode)
  }

  /// Locks for a caller who must have the mutex again, cancelled or not: a condition's wait.
  func acquireAgain(_ fiber: UnsafeMutablePointer<Fiber>, isByHand: Bool) {
    let thread = currentThread()
    let mode = cell.lock.acquire(thread)
    if take(LockHolder(fiber), isByHand ? fiber : nil) {
      cell.lock.release(mode)
      return
    }
    fiber.waits(for: self)
    _ = cell.park(fiber, thread, mode, isCancellable: false)
    if isByHand { noteByHand(fiber) }
  }

  @usableFromInline
  func acquireIfReady(isByHand: Bool) -> Bool {
    let thread = currentThread()
    let mode = cell.lock.acquire(thread)
    defer { cell.lock.release(mode) }
    return take(LockHolder(thread), isByHand ? thread.runningFiber : nil)
  }

  /// Unlocks.
  ///
  /// - Returns: The holder is a coroutine, and had come by `lock`.
  @discardableResult
  @usableFromInline
  func release(_ operation: StaticString) -> Bool {
    let thread = currentThread()
    let caller = LockHolder(thread)
    let mode = cell.lock.acquire(thread)
    guard cell.state.pointee.holder == caller else { refuse(operation, caller, mode) }
    let isByHand = cell.state.pointee.isByHand
    if isByHand {
      cell.state.pointee.isByHand = false
      // The holder, who is the caller, is a coroutine.
      if let fiber = thread.runningFiber { fiber.pointee.locksByHand &-= 1 }
    }
    if let next = cell.queue.pointee.claimFirst() {
      // SAFETY: only coroutines wait for a mutex.
      cell.state.pointee.holder = LockHolder(next.pointee.fiber.unsafelyUnwrapped)
      cell.lock.release(mode)
      ResumeToken(next, .delivered).resume(thread)
    } else {
      cell.state.pointee.holder = .nobody
      cell.lock.release(mode)
    }
    return isByHand
  }

  /// Under the lock: takes the mutex for the caller if it is free; `counting` is its fiber, if it comes by hand.
  @inline(__always)
  private func take(_ holder: LockHolder, _ counting: UnsafeMutablePointer<Fiber>?) -> Bool {
    guard cell.state.pointee.holder == .nobody else { return false }
    cell.state.pointee.holder = holder
    if let counting { count(counting) }
    return true
  }

  /// Under the lock: notes that the holder, who is the caller, has come by hand.
  @inline(__always)
  private func count(_ fiber: UnsafeMutablePointer<Fiber>) {
    cell.state.pointee.isByHand = true
    fiber.pointee.locksByHand &+= 1
  }

  /// The same, for a caller to whom the mutex has been handed.
  @usableFromInline
  func noteByHand(_ fiber: UnsafeMutablePointer<Fiber>) {
    cell.lock.withLock { count(fiber) }
  }

  /// Under the lock: why waiting for the holder would never end, if so.
  private func misuse(
    _ operation: StaticString,
    by fiber: UnsafeMutablePointer<Fiber>
  ) -> SynchronizationError? {
    if cell.state.pointee.holder == LockHolder(fiber) {
      return .heldByCaller(operation, fiber.coroutine.description)
    }
    guard cell.state.pointee.isByHand, let holder = cell.state.pointee.holder.coroutine else {
      return nil
    }
    return holder.isOver ? .holderFinished(operation, holder.description) : nil
  }

  private func refuse(_ operation: StaticString, _ caller: LockHolder, _ mode: LockMode) -> Never {
    let holder = cell.state.pointee.holder.description
    cell.lock.release(mode)
    fatalError(
      "\(operation): the mutex is held by \(holder), and was to be unlocked by "
        + "\(LockHolder(currentThread()).description). Unlock in the coroutine that locked, once; "
        + "`withLock { }` does."
    )
  }
}
