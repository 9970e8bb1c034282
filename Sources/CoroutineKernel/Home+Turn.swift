// SPDX-License-Identifier: Apache-2.0

package import CCoroutineKernel
import Synchronization

/// Direct switches between coroutines before the loop looks around.
private let defaultHandOvers: Int32 = 61
/// What so many coroutines need to go on is hardly in the processor's own cache.
private let crowd = 1024
/// Cache lines that the frames of a sleeper take; fewer are worth less, and more of them no more.
private let frameLines: Int32 = 24

extension UnsafeMutablePointer where Pointee == Home {
  /// Takes a home from the pool of idle ones, or makes one.
  package static func take(
    scheduler: UnsafeMutableRawPointer,
    migrates: Bool,
    choosesItself: Bool = false
  ) -> UnsafeMutablePointer<Home> {
    let home =
      HomePool.take()
      ?? {
        // So that what others look at is in a line without what the loop writes in each turn.
        let made = UnsafeMutableRawPointer.allocate(
          byteCount: MemoryLayout<Home>.size,
          alignment: CacheLine.size
        ).assumingMemoryBound(to: Home.self)
        made.initialize(to: Home())
        return made
      }()
    home.pointee.scheduler = scheduler
    // Another kind of scheduler may have had it before.
    home.pointee.postFiber = postToLoop
    home.pointee.migrates = migrates
    home.pointee.listeners = migrates || choosesItself ? 1 : 0
    home.pointee.isPlain = home.pointee.listeners == 0
    home.pointee.isTraced = false
    home.pointee.traceLane = 0
    home.pointee.began.store(0, ordering: .relaxed)
    home.pointee.ended.store(0, ordering: .relaxed)
    home.pointee.sent.store(0, ordering: .relaxed)
    home.pointee.sleeps.store(0, ordering: .relaxed)
    cck_parker_begin_anew(home.pointee.parker)
    home.pointee.pool = nil
    home.pointee.unstarted.pointee.beginAnew()
    home.pointee.share = 0
    home.pointee.ranLast = nil
    home.pointee.handOvers = 0
    home.pointee.urgent = 0
    home.pointee.lookedAt = 0
    home.pointee.threadNumber.store(0, ordering: .relaxed)
    home.pointee.pollsDescriptors = false
    home.pointee.timers.beginAnew()
    home.pointee.usualHandOvers = migrates || choosesItself ? 0 : defaultHandOvers
    home.pointee.handOverLimit = home.pointee.usualHandOvers
    home.pointee.inbox.open()
    return home
  }

  /// Gives an idle home back.
  ///
  /// Its memory stays valid (H3).
  package func giveBack() {
    precondition(
      pointee.runFirst == nil && pointee.timers.isEmpty && !hasUnstarted,
      "a home in use is given back"
    )
    _ = closeInbox()
    pointee.scheduler = nil
    if currentPreemptionObserver()?.keep(self) ?? false { return }
    HomePool.put(self)
  }

  /// Gives a home back that an observer has kept.
  package func giveBackKept() { HomePool.put(self) }

  /// Runs one coroutine until it, or the last of those it handed over to, comes back to this loop.
  ///
  /// Returns the coroutine if it could not be started because there is no memory for its stack.
  package func resume(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) -> UnsafeMutablePointer<Fiber>? {
    if fiber.pointee.stack == nil, !prepare(fiber, thread) { return fiber }
    // SAFETY: there was a stack, or `prepare` has just given one.
    let stack = fiber.pointee.stack.unsafelyUnwrapped
    if isTracing || pointee.isTraced { traceRun(of: fiber, thread) }
    fiber.pointee.phase.store(.running, ordering: .relaxed)
    thread.runningFiber = fiber
    let finished: UnsafeMutableRawPointer?
    if pointee.migrates {
      cck_exclusivity_enter(exclusivity(stack))
      finished = cck_context_switch(context, stack.context, fiber)
      cck_exclusivity_exit(exclusivity(stack))
    } else {
      pointee.handOvers = pointee.handOverLimit
      pointee.isCrowded = live > crowd
      finished = cck_context_switch(context, stack.context, fiber)
      pointee.ranLast = finished == nil ? thread.runningFiber : nil
    }
    if pointee.isTraced { traceStop(thread) }
    thread.runningFiber = nil
    if let finished {
      let empty = finished.assumingMemoryBound(to: cck_stack_t.self)
      cck_context_retire(empty.context)
      cck_stack_release(thread, empty)
    }
    return nil
  }

  /// Gives a coroutine that has not started a stack that is at hand.
  ///
  /// - Returns: False if none is.
  @usableFromInline
  package func prepareFromPool(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) -> Bool {
    if takeSpareStack(fiber) { return true }
    return cck_stack_is_at_hand(thread, fiber.pointee.stackClass) != 0 && prepare(fiber, thread)
  }

  /// Gives a coroutine that has not started the stack of the one that ended last, if the size is right.
  ///
  /// What waits on that stack goes on with the coroutine.
  @inline(__always)
  private func takeSpareStack(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    guard let spare = pointee.spareStack, spare.pointee.size_class == fiber.pointee.stackClass
    else { return false }
    pointee.spareStack = nil
    spare.pointee.identifier = fiber.pointee.identifier
    cck_stack_occupy(spare, fiber)
    fiber.pointee.stack = spare
    return true
  }

  /// Gives a coroutine that has not started its stack.
  ///
  /// - Returns: False if there is no memory for one.
  package func prepare(_ fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) -> Bool {
    if takeSpareStack(fiber) { return true }
    guard let stack = cck_stack_acquire(thread, fiber.pointee.stackClass) else { return false }
    stack.pointee.identifier = fiber.pointee.identifier
    cck_stack_serve(stack, self)
    cck_stack_occupy(stack, fiber)
    fiber.pointee.stack = stack
    cck_context_make(stack.context, stack.pointee.low, stack, runFibers)
    return true
  }

  /// Keeps the stack of a coroutine that has just ended on it; the one kept before goes to the pool.
  ///
  /// It is about to be switched away from in `runFibers`, and goes on there with its next coroutine.
  fileprivate func keep(spare stack: UnsafeMutablePointer<cck_stack_t>, _ thread: ThreadRecord) {
    if pointee.spareStack != nil { dropSpareStack(thread) }
    pointee.spareStack = stack
  }

  /// Has the processor fetch the frames of the coroutine that is ready after the next, and the record of the one after it.
  ///
  /// When one coroutine has ended, the next often ends, too: many are cancelled at once, or wait for the same. An
  /// end goes back through all its frames, and in a crowd it waits for memory for each line of them.
  @inline(__always)
  fileprivate func fetchNextFrames() {
    guard let following = pointee.runFirst else { return }
    if let stack = following.pointee.stack {
      cck_prefetch(UnsafeRawPointer(stack) - 64 * Int(frameLines), frameLines + 2)
    }
    if let third = following.next { cck_prefetch(third, 5) }
  }

  /// Gives the spare stack back.
  ///
  /// Not to be called on it.
  package func dropSpareStack(_ thread: ThreadRecord) {
    guard let spare = pointee.spareStack else { return }
    pointee.spareStack = nil
    // What waits on it holds nothing, and is never heard of again.
    cck_stack_release(thread, spare)
  }

  /// Fires the timers that are due.
  ///
  /// - Returns: When to look again, if any are left: the nearest deadline, or a little earlier.
  @discardableResult
  package func fireTimers(at now: Int64) -> Int64? {
    while let timer = pointee.timers.popDue(at: now) {
      if isTracing {
        currentThread().record(.timer, other: UInt64(max(0, now &- timer.pointee.deadline)))
      }
      timer.pointee.fire(timer)
    }
    return pointee.timers.nextLook
  }
}

/// The runtime's record of open accesses that a stack keeps.
package func exclusivity(
  _ stack: UnsafeMutablePointer<cck_stack_t>
) -> UnsafeMutablePointer<UInt> {
  // SAFETY: the record does not move while the stack is in use, and the field is inside it.
  withUnsafeMutablePointer(to: &stack.pointee.exclusivity) {
    UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt.self)
  }
}

/// What runs on every coroutine's stack: one body after another.
///
/// When a body has ended and the next ready coroutine has not started, it starts right here: no
/// switch, no change of stack. Short-lived coroutines launched in a row then cost neither. A next one
/// that has started is switched to directly, and this stack is kept for the next start, which goes on
/// here.
private let runFibers: cck_entry_t = { argument in
  // SAFETY: who switches here passes the fiber to start, whose stack is the one this runs on.
  var fiber = argument.unsafelyUnwrapped.assumingMemoryBound(to: Fiber.self)
  let stack = fiber.pointee.stack.unsafelyUnwrapped
  while true {
    fiber.body(UnsafeMutableRawPointer(fiber))
    // The fiber is gone. So may be the thread it started on, if its scheduler migrates.
    let thread = currentThread()
    // SAFETY: whoever resumes a coroutine has set the thread's home.
    let home = thread.currentHome.unsafelyUnwrapped
    if stack.pointee.label != nil { stack.pointee.label = nil }
    guard home.pointee.handOvers > 0, cck_is_instrumented() == 0,
      let next = home.pointee.runFirst ?? home.refill()
    else {
      cck_context_leave(stack.context, home.context, stack)
    }
    if let started = next.pointee.stack {
      home.remove(first: next)
      home.pointee.handOvers &-= 1
      home.keep(spare: stack, thread)
      if home.pointee.isCrowded { home.fetchNextFrames() }
      thread.runningFiber = next
      next.pointee.phase.store(.running, ordering: .relaxed)
      let argument = cck_context_switch(stack.context, started.context, nil)
      // SAFETY: as at the beginning.
      fiber = argument.unsafelyUnwrapped.assumingMemoryBound(to: Fiber.self)
      continue
    }
    if next.pointee.stackClass == stack.pointee.size_class {
      home.remove(first: next)
      home.pointee.handOvers &-= 1
      next.pointee.stack = stack
      cck_stack_occupy(stack, UnsafeMutableRawPointer(next))
      stack.pointee.identifier = next.pointee.identifier
      thread.runningFiber = next
      next.pointee.phase.store(.running, ordering: .relaxed)
      fiber = next
    } else {
      cck_context_leave(stack.context, home.context, stack)
    }
  }
}

/// Idle homes, for reuse: their memory must outlive every late wake-up.
private enum HomePool {
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var idle: [UnsafeMutablePointer<Home>] = []
  private static let lock = AllocatedLock()

  // Observers do not see the lock: nobody can tell one idle home from another.

  static func take() -> UnsafeMutablePointer<Home>? {
    lock.withUnobservedLock { idle.popLast() }
  }

  static func put(_ home: UnsafeMutablePointer<Home>) {
    lock.withUnobservedLock { idle.append(home) }
  }
}
