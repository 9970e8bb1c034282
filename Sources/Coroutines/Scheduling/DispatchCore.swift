// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
package import Dispatch
import Synchronization

/// A dispatch queue as a scheduler: each wake-up from elsewhere is one block on the queue.
///
/// On a serial queue the turn is always free when a block comes; on a concurrent one a second block
/// finds it taken.
///
/// Q1. As long as `keepers` is above 0, one reference to the queue is theirs, all together. Who makes it 1 takes that
/// reference, and knows that the queue is there; who does not know may only come to others.
package final class DispatchCore: TurnCore, @unchecked Sendable {
  // SAFETY: see TurnCore; `queue` is constant, the timer belongs to the holder of the turn.

  /// The queue.
  ///
  /// It owns this object (as an attachment); others may hold this object longer than there is a queue.
  private let queue: UnsafeMutableRawPointer

  /// Coroutines that live on the queue, `Scheduler` objects that stand for it, and posts from outside (Q1).
  private let keepers = Atomic<Int>(0)

  private var timer: UnsafeMutableRawPointer?

  package override var kind: RuntimeMetrics.SchedulerKind { .dispatchQueue }

  private init(queue: UnsafeMutableRawPointer, label: String) {
    self.queue = queue
    super.init(label: label)
    home.pointee.postFiber = { home, fiber in
      // SAFETY: the types are those that `makeReady` passes. The coroutine has not ended, so its
      // queue and this object are alive until the block has been queued.
      let core = unsafeDowncast(
        home.assumingMemoryBound(to: Home.self).core,
        to: DispatchCore.self
      )
      cck_dispatch_async(core.queue, fiber) { fiber in
        guard let fiber = fiber?.assumingMemoryBound(to: Fiber.self) else { return }
        // SAFETY: the fiber's home is the one above; its `core` is this object, alive as said there.
        unsafeDowncast(fiber.pointee.home.core, to: DispatchCore.self).arrive(fiber)
      }
    }
  }

  deinit {
    comesLast()
    if let timer { cck_dispatch_timer_free(timer) }
  }

  // MARK: - Which queue

  private static let lock = AllocatedLock()

  /// The scheduler of a queue, made at its first use.
  package static func of(_ queue: DispatchQueue) -> DispatchCore {
    if let known = queue.getSpecific(key: specificKey) { return known }
    let core = of(address(of: queue), label: queue.label)
    queue.setSpecific(key: specificKey, value: core)
    return core
  }

  /// The scheduler of the queue whose block runs here, or nil outside any queue of its own.
  package static func ofCurrentQueue() -> DispatchCore? {
    guard let queue = cck_dispatch_current_queue() else { return nil }
    return of(queue, label: nil)
  }

  /// True if the code that asks runs in a block of this queue.
  package var isCurrentQueue: Bool { cck_dispatch_current_queue() == queue }

  /// Fast way from a Swift queue object to its scheduler.
  ///
  /// The value is unretained in effect: the queue owns both.
  private static let specificKey = DispatchSpecificKey<DispatchCore>()

  private static func of(_ queue: UnsafeMutableRawPointer, label: String?) -> DispatchCore {
    lock.withLock {
      // SAFETY: the queue holds what is attached to it, and the caller holds the queue.
      if let known = cck_dispatch_attachment(queue) {
        return Unmanaged<DispatchCore>.fromOpaque(known).takeUnretainedValue()
      }
      let core = DispatchCore(queue: queue, label: label ?? "dispatch queue")
      // SAFETY: the queue keeps this retain for as long as it lives.
      cck_dispatch_set_attachment(queue, Unmanaged.passRetained(core).toOpaque()) { core in
        // SAFETY: balances the retain above; the queue is gone, so nobody finds the object any more.
        core.map { Unmanaged<DispatchCore>.fromOpaque($0).release() }
      }
      return core
    }
  }

  /// The libdispatch object behind a Swift queue.
  private static func address(of queue: DispatchQueue) -> UnsafeMutableRawPointer {
    #if canImport(Darwin)
    // SAFETY: there a Swift queue is the object itself, and the caller holds it.
    return Unmanaged.passUnretained(queue).toOpaque()
    #else
    // On Linux it is a wrapper, new at each access; its only stored property is the object.
    for child in Mirror(reflecting: queue).children {
      if let wrapped = child.value as? OpaquePointer { return UnsafeMutableRawPointer(wrapped) }
    }
    fatalError(
      "This version of Dispatch does not show which queue a DispatchQueue stands for; "
        + "swift-coroutines must learn its layout. Use a SerialScheduler meanwhile."
    )
    #endif
  }

  // MARK: - The turn

  package override var isHere: Bool { isCurrentQueue }

  override func sendBlock() {
    // SAFETY: the block takes the retain over and so keeps the object alive; whoever posts knows a
    // coroutine that has not ended, which keeps the queue, or keeps it (Q1).
    cck_dispatch_async(queue, Unmanaged.passRetained(self).toOpaque()) { core in
      guard let core else { return }
      Unmanaged<DispatchCore>.fromOpaque(core).takeRetainedValue().arrive(nil)
    }
  }

  package override func postFromOutside(_ work: @escaping () -> Void) -> Bool {
    var known = keepers.load(ordering: .relaxed)
    while known > 0 {
      let (isKept, now) = keepers.weakCompareExchange(
        expected: known,
        desired: known + 1,
        ordering: .acquiringAndReleasing
      )
      if isKept {
        defer { leaveQueue() }
        return post(work)
      }
      known = now
    }
    return false
  }

  // MARK: - Keeping the queue

  /// - Precondition: The queue is there.
  private func keepQueue() {
    if keepers.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 {
      cck_dispatch_retain(queue)
    }
  }

  private func leaveQueue() {
    if keepers.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      cck_dispatch_release(queue)
    }
  }

  package override func coroutineBegan(_ coroutine: Coroutine) { keepQueue() }

  // The block that runs this holds the queue as well, so it does not go away under our feet.
  package override func coroutineEnded(_ coroutine: Coroutine) { leaveQueue() }

  package override func schedulerBegan() { keepQueue() }

  package override func schedulerEnded() { leaveQueue() }

  // MARK: - Time

  override func armTimer(after delay: Int64) {
    // SAFETY: the timer's source holds the queue, and the queue this object, while the timer can fire.
    let timer =
      timer
      ?? cck_dispatch_timer_make(queue, Unmanaged.passUnretained(self).toOpaque()) { core in
        // SAFETY: as above.
        guard let core else { return }
        Unmanaged<DispatchCore>.fromOpaque(core).takeUnretainedValue().timerFired()
      }
    self.timer = timer
    cck_dispatch_timer_arm(timer, delay)
  }

  /// A timer source holds its queue, and the queue holds this object: an idle one would keep both.
  override func dropTimer() {
    guard let timer else { return }
    self.timer = nil
    cck_dispatch_timer_free(timer)
  }
}
