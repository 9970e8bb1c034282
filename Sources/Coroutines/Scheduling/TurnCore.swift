// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel
import Synchronization

/// Coroutines that run between two looks at what is kept for short uses; before a turn ends there is one in any case.
private let runsBetweenReleases = 16

/// A scheduler on somebody else's loop: each wake-up from elsewhere is one block of the loop's.
///
/// A block takes the turn, runs the coroutine that it was sent for, and drains all that this made ready
/// before it returns. A block that finds the turn taken leaves its coroutine to the holder, so the
/// coroutines of one scheduler never run at the same time.
///
/// A subclass says where the blocks run: it sets the home's `postFiber`, overrides `sendBlock`, `isHere`
/// and the two calls for the timer, and has its blocks call `arrive`.
package class TurnCore: SchedulerCore, @unchecked Sendable {
  // SAFETY: see SchedulerCore; `turnIsTaken` is atomic, the rest belongs to the holder of the turn.

  private let turnIsTaken = Atomic<Bool>(false)
  private final var armedDeadline = Int64.max
  private final var hasTimer = false

  init(label: String) { super.init(.text(label), migrates: true) }

  deinit { comesLast() }

  /// Tells ThreadSanitizer that a `deinit` comes after the last turn: it does by the counting of references.
  final func comesLast() { _ = takeTurn() }

  // MARK: - For subclasses

  /// Has `arrive(nil)` called in a block that holds this object.
  func sendBlock() { fatalError("TurnCore is abstract") }

  /// The code that asks runs where the blocks do.
  package var isHere: Bool { false }

  /// Has `timerFired` called once after so many nanoseconds (at once if not positive), in place of what
  /// was asked for before.
  ///
  /// The caller holds the turn.
  func armTimer(after delay: Int64) { fatalError("TurnCore is abstract") }

  /// No timer is needed for now.
  ///
  /// The caller holds the turn.
  func dropTimer() {}

  // MARK: - The turn

  /// A coroutine comes home, in a block.
  final func arrive(_ fiber: UnsafeMutablePointer<Fiber>?) {
    if takeTurn() {
      if let fiber {
        fiber.pointee.phase.store(.ready, ordering: .relaxed)
        home.push(fiber)
      }
      drain()
      leaveTurn()
    } else if let fiber {
      // Never closed: only `deinit` does that, and a coroutine keeps this object alive.
      _ = home.post(fiber.link)
    }
    takeLatePosts()
  }

  /// Whoever held the turn may have looked at the inbox just before a post.
  private func takeLatePosts() {
    while home.hasPost, takeTurn() {
      drain()
      leaveTurn()
    }
  }

  private func takeTurn() -> Bool {
    preemptionPoint(.turn, home)
    return !turnIsTaken.exchange(true, ordering: .acquiring)
  }

  private func leaveTurn() {
    preemptionPoint(.turn, home)
    turnIsTaken.store(false, ordering: .sequentiallyConsistent)
  }

  private func drain() {
    let thread = currentThread()
    withTurn(thread) {
      var runs = 1
      while true {
        home.takePosts()
        if armedDeadline != .max, armedDeadline <= now {
          armedDeadline = .max
          home.fireTimers(at: now)
          timersChanged()
        }
        if runs == 0 || home.pointee.runFirst == nil { home.releaseUnused() }
        runs = (runs + 1) % runsBetweenReleases
        guard let fiber = home.pop() else { break }
        run(fiber, thread)
      }
      if hasTimer, home.pointee.timers.isEmpty {
        hasTimer = false
        armedDeadline = .max
        dropTimer()
      }
    }
  }

  /// Runs a coroutine until it waits or ends.
  ///
  /// Rule 12: one that waits inside another queue's `sync` is found here. Its stack would keep that queue
  /// occupied, and Dispatch forbids to leave such a block on another thread than it was entered on.
  private func run(_ fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) {
    let queue = cck_dispatch_innermost_queue()
    if let unstarted = home.resume(fiber, thread) { return Coroutine.failToStart(unstarted) }
    if cck_dispatch_innermost_queue() != queue { refuseWaitInsideSync(fiber) }
  }

  /// - Parameter fiber: The coroutine; it has not ended, because the block that it is in has not.
  private func refuseWaitInsideSync(_ fiber: UnsafeMutablePointer<Fiber>) -> Never {
    // SAFETY: a coroutine that has not ended is alive, and this thread holds the turn of its home.
    let coroutine = Unmanaged<Coroutine>.fromOpaque(fiber.owner).takeUnretainedValue()
    fatalError(
      "\(coroutine), launched at \(coroutine.creationSite), waits in "
        + "\(coroutine.wait?.description ?? "a call that parks") inside a block of `DispatchQueue.sync` or "
        + "`concurrentPerform`. The other queue would stay occupied until the coroutine goes on, perhaps "
        + "on another thread, where such a block cannot end. Wait before or after the block; or "
        + "`launch(on:)` that queue, and join."
    )
  }

  private func withTurn(_ thread: ThreadRecord, _ body: () -> Void) {
    cck_overflow_install(thread)
    let outer = (home: thread.currentHome, fiber: thread.runningFiber)
    thread.currentHome = home
    thread.runningFiber = nil
    lookAtClock()
    noteThread()
    body()
    thread.currentHome = outer.home
    thread.runningFiber = outer.fiber
  }

  package final override func startHere(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) -> Bool {
    guard thread.currentHome != home, isHere, takeTurn() else { return false }
    withTurn(thread) {
      home.pointee.urgent = 0
      var next: UnsafeMutablePointer<Fiber>? = fiber
      while let fiber = next {
        run(fiber, thread)
        // If it has started another one at once, both come before the code that called this.
        next = home.pointee.urgent > 0 ? home.pop() : nil
        home.pointee.urgent -= 1
      }
    }
    // Ordering rule 5: what it made ready runs before the thread goes back to where blocks come from.
    drain()
    leaveTurn()
    takeLatePosts()
    return true
  }

  package final override func post(_ work: @escaping () -> Void) -> Bool {
    _ = home.post(work)
    sendBlock()
    return true
  }

  // MARK: - Time

  /// The timer has fired, and will not again before it is armed.
  ///
  /// Through the inbox: another thread may have the turn, and have looked at the timers for the last
  /// time. And whatever the clock says, or the next deadline could go unarmed.
  final func timerFired() {
    _ = home.post { self.armedDeadline = .min }
    arrive(nil)
  }

  package final override func timersChanged() {
    guard let nearest = home.pointee.timers.nextLook, nearest < armedDeadline else { return }
    armedDeadline = nearest
    hasTimer = true
    armTimer(after: nearest - now)
  }
}
