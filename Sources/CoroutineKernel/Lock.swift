// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// The one lock; see cck_lock.h.
@usableFromInline package typealias Lock = cck_lock_t

/// How a lock was taken.
@usableFromInline package typealias LockMode = cck_lock_mode_t

/// A thread's record; see cck_thread.h.
@usableFromInline package typealias ThreadRecord = UnsafeMutablePointer<cck_thread_t>

/// The calling thread's record.
///
/// Never kept across a park: a coroutine of a dispatch queue may come back on another thread.
@inlinable @inline(__always)
package func currentThread() -> ThreadRecord {
  cck_thread_current()
}

extension cck_lock_t {
  /// A lock for objects of which many are used by one thread: a biased one, if that pays (L5).
  @inlinable @inline(__always)
  package static func forFew(_ thread: ThreadRecord) -> Lock {
    biasPays(thread) ? cck_lock_make_biased() : cck_lock_make_shared()
  }

  /// False if a new lock had better begin in shared mode (L5): that counts as having made one.
  ///
  /// Always true in checked builds: what is explored must not depend on real time, nor on what else the process does.
  @inlinable @inline(__always)
  package static func biasPays(_ thread: ThreadRecord) -> Bool {
    #if COROUTINES_CHECKED
    true
    #else
    cck_lock_bias_pays(thread) != 0
    #endif
  }
}

extension UnsafeMutablePointer where Pointee == cck_lock_t {
  /// Takes the lock; the mode must be handed to `release`.
  @inlinable @inline(__always)
  package func acquire(_ thread: ThreadRecord) -> cck_lock_mode_t {
    #if COROUTINES_CHECKED
    willLock(self)
    #endif
    return cck_lock_acquire(self, thread)
  }

  /// Takes the lock if it is biased to the thread; in checked builds `acquire` is left to find that out.
  @inlinable @inline(__always)
  package func acquireIfBiased(_ thread: ThreadRecord) -> Bool {
    #if COROUTINES_CHECKED
    false
    #else
    cck_lock_acquire_biased(self, thread) != 0
    #endif
  }

  /// Takes a lock that has a keeper, on another thread (L7); it must be handed to `release` as taken in shared mode.
  package func acquireFromKeeper() {
    #if COROUTINES_CHECKED
    willLock(self)
    #endif
    cck_lock_acquire_from_keeper(self)
  }

  /// Takes the lock if that needs no waiting; see `cck_lock_try`.
  @inlinable @inline(__always)
  package func tryAcquire(_ thread: ThreadRecord) -> cck_lock_hold_t {
    #if COROUTINES_CHECKED
    willLock(self)
    let hold = cck_lock_try(self, thread)
    if hold != CCK_LOCK_HELD_BIASED, hold != CCK_LOCK_HELD_SHARED { didUnlock(self) }
    return hold
    #else
    return cck_lock_try(self, thread)
    #endif
  }

  /// Leaves the lock.
  @inlinable @inline(__always)
  package func release(_ mode: cck_lock_mode_t) {
    cck_lock_release(self, mode)
    #if COROUTINES_CHECKED
    didUnlock(self)
    #endif
  }

  /// Runs `body` under the lock.
  ///
  /// The body may not park and may not run code of the user's.
  @inlinable @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mode = acquire(currentThread())
    defer { release(mode) }
    return try body()
  }
}

/// A lock in memory of its own, for objects that are not on a hot path.
package struct AllocatedLock: ~Copyable, @unchecked Sendable {
  // SAFETY: the pointee is only touched by the lock's own atomic operations.
  private let pointer: UnsafeMutablePointer<cck_lock_t>

  /// Makes a lock for several threads.
  package init() {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: cck_lock_make_shared())
  }

  deinit {
    pointer.deallocate()
  }

  /// Runs `body` under the lock.
  ///
  /// The body may not park and may not run code of the user's.
  @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try pointer.withLock(body)
  }

  /// Runs `body` under the lock, unseen by observers: for bookkeeping whose order nobody can tell.
  ///
  /// The body may not park and may not run code of the user's.
  @inline(__always)
  package func withUnobservedLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mode = cck_lock_acquire(pointer, currentThread())
    defer { cck_lock_release(pointer, mode) }
    return try body()
  }
}

extension UnsafeMutablePointer where Pointee == cck_thread_t {
  /// The coroutine that runs on this thread, or nil.
  @inlinable @inline(__always)
  package var runningFiber: UnsafeMutablePointer<Fiber>? {
    get { pointee.fiber?.assumingMemoryBound(to: Fiber.self) }
    nonmutating set { pointee.fiber = newValue.map { UnsafeMutableRawPointer($0) } }
  }

  /// The home whose turn this thread holds, or nil.
  @inlinable @inline(__always)
  package var currentHome: UnsafeMutablePointer<Home>? {
    get { pointee.home?.assumingMemoryBound(to: Home.self) }
    nonmutating set {
      pointee.home = newValue.map { UnsafeMutableRawPointer($0) }
      // The first wake after a recording gives it back (`Home+Trace.swift`).
      pointee.direct_home = isTracing ? nil : pointee.home
      pointee.kept = UInt(bitPattern: newValue?.pointee.kept)
    }
  }

  /// The system's number of the calling thread, whose record this is; 0 where that is of no use.
  package var number: Int32 {
    if pointee.number == 0 {
      pointee.number = cck_thread_number()
      cck_thread_can_be_seen()
    }
    return pointee.number
  }
}
