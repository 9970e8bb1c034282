// SPDX-License-Identifier: Apache-2.0

package import CCoroutineKernel

/// What a thread is about to do to memory that other threads look at, too.
@usableFromInline
package enum PreemptionPoint: UInt8, Sendable {
  /// Take a lock; what it guards is part of it.
  case lock
  /// Bring a link to a home's inbox.
  case post
  /// Look into a home's inbox, take what is in it, or close it.
  case take
  /// Announce, or take back, that it will sleep; or look whether another one sleeps.
  case sleep
  /// Win, or ask who has won, the race of a select.
  case claim
  /// Read or write a flag: cancellation, or the state of a coroutine.
  case flag
  /// Take or leave the turn of a home.
  case turn
  /// Look, without its lock, at what a lock guards.
  case look
  /// Have a loop look at the node of one that waits, or tell the loop there, or look.
  case watch
  /// Read, or change, the home of a coroutine that has not started.
  case home
  /// Read or write a count or a flag that the loops of a pool share.
  case pool
}

/// Who is told of everything that a thread does to shared memory, and may hold the thread up meanwhile.
///
/// That is the explorer of races, in checked builds.
///
/// A point comes before the access, and never in a section that a lock guards: a thread that is held up
/// there holds nothing that another one could wait for. The exception is taking a further lock after one
/// has been left: whoever wants the first one is not to go on meanwhile. Between two points a thread touches nothing that others
/// change, but for what the first of them names; so an order of points is an order of accesses, as far as
/// memory that is sequentially consistent goes.
package protocol PreemptionObserver: AnyObject {
  /// The calling thread is about to do this to `address`.
  func reach(_ point: PreemptionPoint, _ address: UnsafeRawPointer)

  /// The calling thread is about to take a lock.
  func willLock(_ address: UnsafeRawPointer)

  /// The calling thread has left a lock.
  func didUnlock(_ address: UnsafeRawPointer)

  /// The calling thread reads or writes `address` where it need not be held up; nil: what it does may depend on
  /// anything that others do.
  func note(_ address: UnsafeRawPointer?)

  /// The calling thread is about to sleep in its parker; returns when it was woken or the time has passed.
  func sleep(in parker: UnsafeMutablePointer<cck_parker_t>, atMost timeout: Int64)

  /// The calling thread gives an idle home back.
  ///
  /// - Returns: True if it must not serve again yet, because others who are held up may be about to wake it; then it is to be
  ///   given back by `giveBackKept`.
  func keep(_ home: UnsafeMutablePointer<Home>) -> Bool

  /// The time, in nanoseconds.
  var now: Int64 { get }
}

/// What a thread's record refers to while the thread is watched.
private final class Watch {
  let observer: any PreemptionObserver
  init(_ observer: any PreemptionObserver) { self.observer = observer }
}

/// Runs `body` on the calling thread, and tells `observer` of its preemption points.
package func withPreemptionObserver(_ observer: any PreemptionObserver, _ body: () -> Void) {
  let watch = Watch(observer)
  // SAFETY: taken out again before the object goes.
  currentThread().pointee.observer = Unmanaged.passUnretained(watch).toOpaque()
  body()
  currentThread().pointee.observer = nil
  withExtendedLifetime(watch) {}
}

/// Who watches the calling thread; nobody, in builds that are not checked.
package func currentPreemptionObserver() -> (any PreemptionObserver)? {
  #if COROUTINES_CHECKED
  preemptionObserver(currentThread())
  #else
  nil
  #endif
}

#if COROUTINES_CHECKED

/// Of the calling thread, if it is watched.
private func preemptionObserver(_ thread: ThreadRecord) -> (any PreemptionObserver)? {
  // SAFETY: `withPreemptionObserver` has put it there, and takes it out before it lets go of the object.
  thread.pointee.observer.map { Unmanaged<Watch>.fromOpaque($0).takeUnretainedValue().observer }
}

@usableFromInline @inline(never)
func reachPreemptionPoint(_ point: PreemptionPoint, _ address: UnsafeRawPointer) {
  preemptionObserver(currentThread())?.reach(point, address)
}

@usableFromInline @inline(never)
func noteToObserver(_ address: UnsafeRawPointer?) {
  preemptionObserver(currentThread())?.note(address)
}

@usableFromInline @inline(never)
func willLock(_ address: UnsafeRawPointer) {
  preemptionObserver(currentThread())?.willLock(address)
}

@usableFromInline @inline(never)
func didUnlock(_ address: UnsafeRawPointer) {
  preemptionObserver(currentThread())?.didUnlock(address)
}

#endif

/// A place where a checked build may hold the calling thread up; nothing in others.
@inlinable @inline(__always)
package func preemptionPoint(_ point: PreemptionPoint, _ address: UnsafeRawPointer) {
  #if COROUTINES_CHECKED
  reachPreemptionPoint(point, address)
  #endif
}

/// Tells a checked build's observer of an access at which nobody is held up; nothing in others.
///
/// - Parameter address: What is read or written; nil if it may be anything that others change.
@inlinable @inline(__always)
package func noteAccess(_ address: UnsafeRawPointer?) {
  #if COROUTINES_CHECKED
  noteToObserver(address)
  #endif
}

/// True in builds whose primitives have preemption points.
package var hasPreemptionPoints: Bool {
  #if COROUTINES_CHECKED
  true
  #else
  false
  #endif
}

/// Nanoseconds of the monotonic clock; of the explorer's clock, on a thread that is watched.
package func clockNow() -> Int64 {
  #if COROUTINES_CHECKED
  if let observer = preemptionObserver(currentThread()) { return observer.now }
  #endif
  return cck_clock_now()
}

extension ThreadRecord {
  /// Has the thread choose as after each other call with this number, where chance, or what it has done before, decides.
  ///
  /// - Parameter seed: Not 0.
  package func chooseAnew(from seed: UInt32) {
    pointee.random = seed
    pointee.pool_loop = 0
  }
}

/// Where a thread sleeps; see cck_parker.h.
package typealias Parker = cck_parker_t

extension UnsafeMutablePointer where Pointee == cck_parker_t {
  /// The owner says that it is about to sleep; it looks for work once more after this.
  package func announce() {
    preemptionPoint(.sleep, self)
    cck_parker_announce(self)
  }

  /// The same, for a sleep in the poller.
  package func announcePolling() {
    preemptionPoint(.sleep, self)
    cck_parker_announce_polling(self)
  }

  /// The owner found work after all.
  package func retract() {
    preemptionPoint(.sleep, self)
    cck_parker_retract(self)
  }

  /// Sleeps until woken; may return early.
  ///
  /// - Parameter timeout: At most so many nanoseconds; for ever, if negative.
  package func sleep(atMost timeout: Int64) {
    #if COROUTINES_CHECKED
    if let observer = preemptionObserver(currentThread()) {
      return observer.sleep(in: self, atMost: timeout)
    }
    #endif
    cck_parker_sleep(self, timeout)
  }

  /// The owner neither sleeps nor is about to, or has been woken; a hint.
  package var isAwake: Bool {
    preemptionPoint(.sleep, self)
    return cck_parker_is_announced(self) == 0
  }

  /// Wakes the owner if it sleeps or is about to.
  package func wake() {
    preemptionPoint(.sleep, self)
    cck_parker_wake(self)
  }
}
