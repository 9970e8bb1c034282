// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A lock that many readers, or one writer, hold at a time; waiting parks the coroutine and no thread.
///
/// ```swift
/// let routes = CoroutineReadWriteLock()
/// let route = try routes.withReadLock { try table.find(address) }
/// try routes.withWriteLock { try table.replace(with: newRoutes) }
/// ```
///
/// First come, first served, on whatever schedulers they are: readers that come after a waiting writer wait
/// behind it, so that neither starves. When a writer leaves, all readers up to the next writer in line
/// go in together.
///
/// A coroutine that reads may read again inside, and does not wait for it. Whoever reads cannot write
/// inside, nor the other way round: it would wait for itself, and gets an error.
///
/// | | waits while |
/// |---|---|
/// | `withReadLock` | somebody writes, or waits to |
/// | `withWriteLock` | somebody reads or writes |
/// | `withReadLockIfReady`, `withWriteLockIfReady` | never |
///
/// Cost: no allocation. A reader that has to wait first looks through those who read now.
public final class CoroutineReadWriteLock: @unchecked Sendable {
  // SAFETY: a constant; the state is guarded by its lock. A waiter's slot is its hold.

  private struct State {
    /// Those who read now; each hold lies in the frame of its call.
    var readers: UnsafeMutablePointer<LockHold>?
    /// Who writes now.
    ///
    /// Invariant: if nobody reads and nobody writes, nobody waits.
    var writer = LockHolder.nobody
  }

  private let cell = WaitingState(State(), isBiased: true)

  /// A lock that nobody holds.
  public init() {}

  deinit { cell.deallocate() }

  // MARK: - Reading

  /// Runs `body` while nobody writes; others may read at the same time.
  ///
  /// Parks while somebody writes, or waits to write and came first.
  ///
  /// *Cancellation:* ends the wait, and `body` does not run. Who has been let in is in: `body` then throws at
  /// its next park point.
  ///
  /// - Parameter body: What to do; it may park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `SynchronizationError.heldByCaller` if the caller writes;
  ///   `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withReadLock<Result>(_ body: () throws -> Result) throws -> Result {
    var hold = LockHold(isWriter: false)
    return try withUnsafeMutablePointer(to: &hold) { hold in
      try enter(hold, "CoroutineReadWriteLock.withReadLock(_:)")
      defer { leave(hold) }
      return try body()
    }
  }

  /// Runs `body` while nobody writes, if nobody writes or waits to now.
  ///
  /// Never parks for the lock and never fails spuriously; may be called from any thread.
  ///
  /// - Parameter body: What to do.
  /// - Returns: What `body` returns; nil if it would have to wait.
  /// - Throws: What `body` throws.
  @inlinable
  public func withReadLockIfReady<Result>(_ body: () throws -> Result) rethrows -> Result? {
    var hold = LockHold(isWriter: false)
    return try withUnsafeMutablePointer(to: &hold) { hold in
      guard enterIfReady(hold) else { return nil }
      defer { leave(hold) }
      return try body()
    }
  }

  // MARK: - Writing

  /// Runs `body` while nobody else reads or writes.
  ///
  /// Parks while somebody reads or writes, and while others who came first wait.
  ///
  /// *Cancellation:* as for `withReadLock`. Readers who waited behind go in.
  ///
  /// - Parameter body: What to do; it may park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `SynchronizationError.heldByCaller` if the caller reads or writes;
  ///   `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withWriteLock<Result>(_ body: () throws -> Result) throws -> Result {
    var hold = LockHold(isWriter: true)
    return try withUnsafeMutablePointer(to: &hold) { hold in
      try enter(hold, "CoroutineReadWriteLock.withWriteLock(_:)")
      defer { leave(hold) }
      return try body()
    }
  }

  /// Runs `body` while nobody else reads or writes, if nobody does now.
  ///
  /// Never parks for the lock and never fails spuriously; may be called from any thread.
  ///
  /// - Parameter body: What to do.
  /// - Returns: What `body` returns; nil if it would have to wait.
  /// - Throws: What `body` throws.
  @inlinable
  public func withWriteLockIfReady<Result>(_ body: () throws -> Result) rethrows -> Result? {
    var hold = LockHold(isWriter: true)
    return try withUnsafeMutablePointer(to: &hold) { hold in
      guard enterIfReady(hold) else { return nil }
      defer { leave(hold) }
      return try body()
    }
  }

  // MARK: - How it is done

  @usableFromInline
  func enter(_ hold: UnsafeMutablePointer<LockHold>, _ operation: StaticString) throws {
    let thread = currentThread()
    let fiber = try Parking.begin(operation, thread)
    hold.pointee.holder = LockHolder(fiber)
    let mode = cell.lock.acquire(thread)
    if cell.queue.pointee.isEmpty, take(hold) {
      cell.lock.release(mode)
      return
    }
    if cell.state.pointee.writer == hold.pointee.holder || (hold.pointee.isWriter && reads(hold)) {
      cell.lock.release(mode)
      throw SynchronizationError.heldByCaller(operation, fiber.coroutine.description)
    }
    // Who reads already must not wait behind a writer that waits for it.
    if !hold.pointee.isWriter, reads(hold), take(hold) {
      cell.lock.release(mode)
      return
    }
    fiber.waits(for: self)
    if cell.park(fiber, thread, mode, slot: UnsafeMutableRawPointer(hold)) == .cancelled {
      // The cancelled one may have been a writer with readers behind it.
      letIn(cell.lock.acquire(currentThread()))
      throw CancellationError()
    }
  }

  @usableFromInline
  func enterIfReady(_ hold: UnsafeMutablePointer<LockHold>) -> Bool {
    let thread = currentThread()
    hold.pointee.holder = LockHolder(thread)
    let mode = cell.lock.acquire(thread)
    defer { cell.lock.release(mode) }
    return (cell.queue.pointee.isEmpty || (!hold.pointee.isWriter && reads(hold))) && take(hold)
  }

  @usableFromInline
  func leave(_ hold: UnsafeMutablePointer<LockHold>) {
    let mode = cell.lock.acquire(currentThread())
    if hold.pointee.isWriter {
      cell.state.pointee.writer = .nobody
    } else {
      let next = hold.pointee.next
      let previous = hold.pointee.previous
      if let previous { previous.pointee.next = next } else { cell.state.pointee.readers = next }
      if let next { next.pointee.previous = previous }
    }
    letIn(mode)
  }

  /// Under the lock: lets somebody in whom nobody who is in excludes.
  private func take(_ hold: UnsafeMutablePointer<LockHold>) -> Bool {
    guard cell.state.pointee.writer == .nobody else { return false }
    if hold.pointee.isWriter {
      guard cell.state.pointee.readers == nil else { return false }
      cell.state.pointee.writer = hold.pointee.holder
    } else {
      let first = cell.state.pointee.readers
      hold.pointee.next = first
      hold.pointee.previous = nil
      first?.pointee.previous = hold
      cell.state.pointee.readers = hold
    }
    return true
  }

  /// Under the lock: the holder reads already.
  private func reads(_ hold: UnsafeMutablePointer<LockHold>) -> Bool {
    var reader = cell.state.pointee.readers
    while let current = reader {
      if current.pointee.holder == hold.pointee.holder { return true }
      reader = current.pointee.next
    }
    return false
  }

  /// Lets those in who can go in, from the front of the line, and leaves the lock.
  private func letIn(_ mode: LockMode) {
    var wakes = ResumeList()
    while let first = cell.queue.pointee.first {
      // SAFETY: whoever waits here has its hold in its slot.
      let hold = first.pointee.slot.unsafelyUnwrapped.assumingMemoryBound(to: LockHold.self)
      guard take(hold), let waiter = cell.queue.pointee.claimFirst() else { break }
      wakes.append(waiter, .delivered)
    }
    cell.lock.release(mode)
    wakes.resumeAll()
  }
}

/// One holder, or would-be holder, of a read-write lock: in the frame of the call that asks for it.
@usableFromInline
struct LockHold {
  /// Neighbours among those who read.
  var next: UnsafeMutablePointer<LockHold>?
  var previous: UnsafeMutablePointer<LockHold>?
  /// Who it is.
  var holder = LockHolder.nobody
  /// It wants to write.
  let isWriter: Bool

  @usableFromInline
  init(isWriter: Bool) {
    self.isWriter = isWriter
  }
}
