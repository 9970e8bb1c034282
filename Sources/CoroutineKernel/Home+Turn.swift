// SPDX-License-Identifier: Apache-2.0

package import CCoroutineKernel
import Synchronization

/// Direct switches between coroutines before the loop looks around.
private let defaultHandOvers: Int32 = 61

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
        let made = UnsafeMutablePointer<Home>.allocate(capacity: 1)
        made.initialize(to: Home())
        return made
      }()
    home.pointee.scheduler = scheduler
    // Another kind of scheduler may have had it before.
    home.pointee.postFiber = postToLoop
    home.pointee.migrates = migrates
    home.pointee.isPlain = !migrates && !choosesItself
    home.pointee.began.store(0, ordering: .relaxed)
    home.pointee.ended.store(0, ordering: .relaxed)
    home.pointee.pool = nil
    home.pointee.unstarted.pointee.isClosed = false
    home.pointee.handOvers = 0
    home.pointee.urgent = 0
    home.pointee.handOverLimit = migrates || choosesItself ? 0 : defaultHandOvers
    home.pointee.inbox.store(0, ordering: .sequentiallyConsistent)
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
    HomePool.put(self)
  }

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
    fiber.pointee.phase.store(.running, ordering: .relaxed)
    thread.runningFiber = fiber
    let finished: UnsafeMutableRawPointer?
    if pointee.migrates {
      cck_exclusivity_enter(exclusivity(stack))
      finished = cck_context_switch(context, stack.context, fiber)
      cck_exclusivity_exit(exclusivity(stack))
    } else {
      pointee.handOvers = pointee.handOverLimit
      finished = cck_context_switch(context, stack.context, fiber)
    }
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
    let isAtHand =
      pointee.spareStack?.pointee.size_class == fiber.pointee.stackClass
      || cck_stack_is_at_hand(thread, fiber.pointee.stackClass) != 0
    return isAtHand && prepare(fiber, thread)
  }

  /// Gives a coroutine that has not started its stack.
  ///
  /// - Returns: False if there is no memory for one.
  package func prepare(_ fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) -> Bool {
    let stack: UnsafeMutablePointer<cck_stack_t>
    if let spare = pointee.spareStack, spare.pointee.size_class == fiber.pointee.stackClass {
      pointee.spareStack = nil
      stack = spare
    } else {
      guard let fresh = cck_stack_acquire(thread, fiber.pointee.stackClass) else { return false }
      stack = fresh
    }
    stack.pointee.identifier = fiber.pointee.identifier
    fiber.pointee.stack = stack
    if stack.pointee.is_warm != 0 {
      stack.pointee.is_warm = 0
    } else {
      cck_context_make(stack.context, stack.pointee.low, stack, runFibers)
    }
    return true
  }

  /// Keeps the stack of a coroutine that has just ended on it; the one kept before goes to the pool.
  ///
  /// It is about to be switched away from in `runFibers`, and goes on there with its next coroutine.
  fileprivate func keep(spare stack: UnsafeMutablePointer<cck_stack_t>, _ thread: ThreadRecord) {
    if pointee.spareStack != nil { dropSpareStack(thread) }
    stack.pointee.is_warm = 1
    pointee.spareStack = stack
  }

  /// Gives the spare stack back.
  ///
  /// Not to be called on it.
  package func dropSpareStack(_ thread: ThreadRecord) {
    guard let spare = pointee.spareStack else { return }
    pointee.spareStack = nil
    // What waits on it holds nothing, and is never heard of again.
    spare.pointee.is_warm = 0
    cck_stack_release(thread, spare)
  }

  /// Fires the timers that are due.
  ///
  /// - Returns: The nearest deadline left, if any.
  @discardableResult
  package func fireTimers(at now: Int64) -> Int64? {
    while let timer = pointee.timers.popDue(at: now) {
      timer.pointee.fire(timer)
    }
    return pointee.timers.nearest
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
    fiber.pointee.body(UnsafeMutableRawPointer(fiber))
    // The fiber is gone. So may be the thread it started on, if its scheduler migrates.
    let thread = currentThread()
    // SAFETY: whoever resumes a coroutine has set the thread's home.
    let home = thread.currentHome.unsafelyUnwrapped
    stack.pointee.label = nil
    guard home.pointee.handOvers > 0, cck_is_instrumented() == 0,
      let next = home.pointee.runFirst ?? home.refill()
    else {
      cck_context_leave(stack.context, home.context, stack)
    }
    if let started = next.pointee.stack {
      home.remove(first: next)
      home.pointee.handOvers &-= 1
      home.keep(spare: stack, thread)
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

  static func take() -> UnsafeMutablePointer<Home>? {
    // A race must be the same in each run, so no home serves twice in one.
    if currentPreemptionObserver() != nil {
      return lock.withLock { idle.count > 64 ? idle.removeFirst() : nil }
    }
    return lock.withLock { idle.popLast() }
  }

  static func put(_ home: UnsafeMutablePointer<Home>) {
    lock.withLock { idle.append(home) }
  }
}
