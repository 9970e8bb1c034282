// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// A number of permits that coroutines take and give back: at most so many at a time.
///
/// ```swift
/// let downloads = CoroutineSemaphore(permits: 4)
/// for url in urls {
///   launch { try downloads.withPermit { try fetch(url) } }
/// }
/// ```
///
/// First come, first served: who asks for many permits is not overtaken by those who ask for few. A permit
/// has no owner, and may be given back by any thread: a semaphore that begins with none is a signal.
///
/// | | waits while |
/// |---|---|
/// | `withPermit`, `withPermits`, `acquire` | fewer permits are left than asked for, or others wait |
/// | `acquireIfReady`, `release` | never |
///
/// Cost: no allocation (but in tasks). While one thread uses it, no atomic operation either.
public final class CoroutineSemaphore: @unchecked Sendable {
  // SAFETY: constants; the state is guarded by its lock. A waiter's slot is the number it asks for.

  private let cell: WaitingState<Int>

  /// Most permits that there can be; `Int.max` if there is no limit.
  public let limit: Int

  /// A semaphore.
  ///
  /// - Parameters:
  ///   - permits: How many there are at first; 0 or more.
  ///   - limit: How many there can ever be. Releasing more stops the program: somebody released what was
  ///     not acquired. If left out, there is no limit.
  public init(permits: Int, limit: Int = .max) {
    demand(
      permits >= 0 && permits <= limit,
      "A semaphore with \(permits) permits and a limit of \(limit) was asked for; there must be 0 or "
        + "more, and no more than the limit."
    )
    self.limit = limit
    cell = WaitingState(permits, isBiased: true)
  }

  deinit { cell.deallocate() }

  /// Permits that nobody has now.
  public var available: Int { cell.lock.withLock { cell.state.pointee } }

  // MARK: - With a body

  /// Runs `body` with a permit; parks until there is one.
  ///
  /// *Cancellation:* ends the wait, and `body` does not run. Once a permit has been handed over, the wait is
  /// over: `body` then throws at its next park point.
  ///
  /// - Parameter body: What to do; it may park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withPermit<Result>(_ body: () throws -> Result) throws -> Result {
    try withPermits(1, body)
  }

  /// Runs `body` with so many permits; parks until there are as many.
  ///
  /// *Cancellation:* as for `withPermit`.
  ///
  /// - Parameters:
  ///   - count: How many; from 1 to the limit.
  ///   - body: What to do; it may park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withPermits<Result>(_ count: Int, _ body: () throws -> Result) throws -> Result {
    try acquire(count)
    defer { release(count) }
    return try body()
  }

  // MARK: - By hand

  /// Takes permits; parks until there are as many.
  ///
  /// *Cancellation:* ends the wait, and takes none. Once the permits have been handed over, it is too late.
  ///
  /// - Parameter count: How many; from 1 to the limit.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, write `try await semaphore.acquire()`.")
  public func acquire(_ count: Int = 1) throws {
    let thread = currentThread()
    let fiber = try Parking.caller("CoroutineSemaphore.acquire(_:)", thread)
    guard let mode = takeOrHoldState(count, thread) else { return }
    // Number and node stay in this frame until the coroutine has been resumed (W3).
    try withWaiter(for: fiber, and: Int.self) { waiter, request in
      request.initialize(to: count)
      enqueue(waiter, mode)
      fiber.waits(for: self, in: "CoroutineSemaphore.acquire(_:)")
      fiber.park(thread, waiter)
      if waiter.pointee.outcome == .cancelled { throw cancelledWait() }
    }
  }

  /// Takes permits in a task; suspends it until there are as many.
  ///
  /// *Cancellation:* of the task: takes none.
  ///
  /// - Parameter count: How many; from 1 to the limit.
  /// - Throws: `CancellationError`.
  public func acquire(_ count: Int = 1) async throws {
    check(count)
    try Task.checkCancellation()
    if cell.lock.withLock({ take(count) }) { return }
    let request = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    request.initialize(to: count)
    defer { request.deallocate() }
    do {
      try await TaskWait.wait(
        on: cell.queue,
        cell.lock,
        slot: UnsafeMutableRawPointer(request),
        unless: { self.take(count) }
      )
    } catch {
      give(0)
      throw error
    }
  }

  /// Takes permits if there are as many now, and nobody waits.
  ///
  /// Never parks and never fails spuriously; may be called from any thread.
  ///
  /// - Parameter count: How many; from 1 to the limit.
  /// - Returns: True if they were taken.
  public func acquireIfReady(_ count: Int = 1) -> Bool {
    check(count)
    return cell.lock.withLock { take(count) }
  }

  /// Gives permits back, or adds new ones.
  ///
  /// Those who have waited longest become ready, and the caller runs on. Does not park; may be called from
  /// any thread.
  ///
  /// - Parameter count: How many; 1 or more. The limit must not be exceeded.
  public func release(_ count: Int = 1) {
    check(count)
    give(count)
  }

  // MARK: - How it is done

  /// Takes permits unless others wait, or there are too few.
  ///
  /// - Returns: Nil if it has; else how the lock of the state was taken, for `enqueue`, which leaves it.
  @usableFromInline @inline(never)
  func takeOrHoldState(_ count: Int, _ thread: ThreadRecord) -> LockMode? {
    check(count)
    let mode = cell.lock.acquire(thread)
    guard take(count) else { return mode }
    cell.lock.release(mode)
    return nil
  }

  @usableFromInline @inline(never)
  func enqueue(_ waiter: UnsafeMutablePointer<Waiter>, _ mode: LockMode) {
    cell.enqueue(waiter, mode)
  }

  /// What a wait ends with that was cancelled.
  @usableFromInline @inline(never)
  func cancelledWait() -> CancellationError {
    // Those behind may ask for less.
    give(0)
    return CancellationError()
  }

  private func check(_ count: Int) {
    demand(
      count > 0 && count <= limit,
      "\(count) permits of a semaphore were named; the number must be from 1 to its limit, \(limit)."
    )
  }

  /// Under the lock: takes permits unless somebody was first.
  private func take(_ count: Int) -> Bool {
    guard cell.queue.pointee.isEmpty, cell.state.pointee >= count else { return false }
    cell.state.pointee -= count
    return true
  }

  /// Adds permits, and hands out what those in front of the line ask for.
  private func give(_ count: Int) {
    var wakes = ResumeList()
    let mode = cell.lock.acquire(currentThread())
    let (total, overflow) = cell.state.pointee.addingReportingOverflow(count)
    if overflow || total > limit {
      let available = cell.state.pointee
      cell.lock.release(mode)
      fatalError(
        "CoroutineSemaphore.release(\(count)): \(available) of at most \(limit) permits are free "
          + "already. Release only what was acquired, once; `withPermit { }` does."
      )
    }
    cell.state.pointee = total
    while let first = cell.queue.pointee.first {
      // SAFETY: whoever waits here has a number in its slot.
      let request = first.pointee.slot.unsafelyUnwrapped.load(as: Int.self)
      guard request <= cell.state.pointee, let waiter = cell.queue.pointee.claimFirst() else {
        break
      }
      cell.state.pointee -= request
      wakes.append(waiter, .delivered)
    }
    cell.lock.release(mode)
    wakes.resumeAll()
  }
}
