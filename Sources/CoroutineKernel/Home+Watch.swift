// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import Synchronization

// A loop without work, which looks around, looks at two places: its inbox, and the node of the coroutine that it ran last, if
// that waits. Who ends the wait writes to the node anyway, so a word there costs nothing, while the coroutine, the inbox and
// the parker are cache lines that each change hands for it: of a message between two loops, three of five.
//
// Nothing is lost: the loop takes the word back before it does anything else, to sleep included, and what the word says by
// then counts.
//
// Wake-ups keep their order. The loop takes no posts while it watches, and whoever wakes by a word has found the inbox
// empty before. So a post that lies there when the loop leaves off did not come before that wake-up began, and the loop
// puts the coroutine in line before it takes posts. That the waker found the inbox empty because the loop had taken the posts
// cannot be: then the loop had taken the word back, too, which was an exchange before, and the waker's own comes after its look.
extension UnsafeMutablePointer where Pointee == Home {
  /// Begins to watch the coroutine that came back to the loop last, if it waits.
  ///
  /// The run queue is empty: so nothing has run since that coroutine came back, or it would have come back later.
  ///
  /// - Returns: Its node, in which the loop is named: to be asked for `isTold`, and handed to `endWatch` before anything runs.
  package func beginWatch() -> UnsafeMutablePointer<Waiter>? {
    // SAFETY: what has not ended is alive, and what is parked has its node (W3).
    guard let fiber = pointee.ranLast, fiber.pointee.phase.load(ordering: .relaxed) == .suspended,
      let waiter = fiber.pointee.waiter
    else { return nil }
    preemptionPoint(.watch, waiter)
    // Nobody else writes there as long as it is 0 (W4).
    waiter.pointee.watcher.store(UInt(bitPattern: self), ordering: .releasing)
    return waiter
  }

  /// Leaves off; a coroutine whose wait has ended goes to the end of the run queue.
  package func endWatch(_ waiter: UnsafeMutablePointer<Waiter>?) {
    guard let waiter, let fiber = waiter.pointee.fiber else { return }
    preemptionPoint(.watch, waiter)
    if waiter.pointee.watcher.load(ordering: .acquiring) != Waiter.told {
      preemptionPoint(.watch, waiter)
      let word = waiter.pointee.watcher.exchange(0, ordering: .acquiring)
      guard word == Waiter.told else { return }
    }
    // It is likely to go on with what it waited for, and to wake whoever woke it.
    if let lock = waiter.pointee.lock { cck_prefetch_to_write(lock) }
    if let last = currentThread().pointee.last_told { cck_prefetch_to_write(last) }
    fiber.pointee.phase.store(.ready, ordering: .relaxed)
    push(fiber)
  }
}

extension Waiter {
  /// What `watcher` is when the loop that it named has been told.
  static var told: UInt { 1 }
}

extension UnsafeMutablePointer where Pointee == Waiter {
  /// The wait has been ended by a word here.
  package var isTold: Bool {
    noteAccess(self)
    return pointee.watcher.load(ordering: .acquiring) == Waiter.told
  }

  /// A loop looks at this node, or did a moment ago.
  @inlinable @inline(__always)
  var hasWatcher: Bool {
    #if COROUTINES_CHECKED
    // Whose loop runs this does not watch it now.
    if pointee.fiber?.pointee.home != currentThread().currentHome { noteAccess(self) }
    #endif
    return pointee.watcher.load(ordering: .relaxed) != 0
  }

  /// The part of `ResumeToken.resume` for coroutines of other homes, and for wakes that are recorded.
  @usableFromInline @inline(never)
  func resumeElsewhere(_ thread: ThreadRecord) {
    guard let fiber = pointee.fiber, !tellWatcher(thread) else { return }
    fiber.makeReady(thread)
  }

  /// Has the loop that looks at this node put its coroutine in line.
  ///
  /// The caller has claimed the wait, and does not touch the node after that.
  ///
  /// - Returns: False if no loop does, or something else has been posted to it, which comes first.
  private func tellWatcher(_ thread: ThreadRecord) -> Bool {
    let word = pointee.watcher.load(ordering: .relaxed)
    guard !isTracing, let home = UnsafeMutablePointer<Home>(bitPattern: word),
      home != thread.currentHome, !home.hasPost
    else { return false }
    preemptionPoint(.watch, self)
    thread.pointee.last_told = UnsafeRawPointer(self)
    return pointee.watcher.compareExchange(
      expected: word,
      desired: Waiter.told,
      ordering: .acquiringAndReleasing
    ).exchanged
  }
}
