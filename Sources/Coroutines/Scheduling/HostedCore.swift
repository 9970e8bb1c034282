// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel
import Synchronization

/// Somebody else's loop, on one thread, that can be asked to call blocks.
package protocol TurnHost: AnyObject, Sendable {
  /// Has the loop call `block`, after those that it was asked to call before.
  ///
  /// From any thread; never calls it here.
  func perform(_ block: @escaping () -> Void)

  /// The code that asks runs on the loop's thread.
  var isHere: Bool { get }

  /// Has the loop call `block` after so many nanoseconds, and forget what this asked for before.
  ///
  /// On the loop's thread only.
  func setTimer(after delay: Int64, _ block: @escaping () -> Void)

  /// Forgets what `setTimer` asked for.
  ///
  /// On the loop's thread only.
  func clearTimer()

  /// The number of coroutines that live on the loop has become more than zero, or zero again.
  ///
  /// From any thread for more than zero; then with the turn.
  func coroutineBegan()

  /// One coroutine less lives on the loop.
  func coroutineEnded()
}

/// A loop of somebody else's as a scheduler: each wake-up is one block of the loop's.
///
/// As `DispatchCore`, for loops with one thread: a block takes the turn, runs the coroutine that it was
/// sent for, and drains all that this made ready. The turn is taken already only if a coroutine runs
/// the loop itself; then the block leaves its coroutine to the holder.
package final class HostedCore: SchedulerCore, @unchecked Sendable {
  // SAFETY: see SchedulerCore; `host` is constant, `turnIsTaken` atomic, the rest is touched on the loop's
  // thread only.

  private let host: any TurnHost
  private let turnIsTaken = Atomic<Bool>(false)
  private var armedDeadline = Int64.max

  /// A scheduler on a loop that has none yet.
  package init(host: any TurnHost, label: String) {
    self.host = host
    super.init(label: label, migrates: true)
    home.pointee.postFiber = { home, fiber in
      // SAFETY: the types are those that `makeReady` passes. The coroutine has not ended, so its
      // core, which it holds, is alive; the block holds it from then on.
      let core = unsafeDowncast(home.assumingMemoryBound(to: Home.self).core, to: HostedCore.self)
      let fiber = fiber.assumingMemoryBound(to: Fiber.self)
      core.host.perform { core.arrive(fiber) }
    }
  }

  deinit {
    // Comes after the last turn by the counting of references; this says so to ThreadSanitizer too.
    _ = takeTurn()
  }

  // MARK: - The turn

  private func takeTurn() -> Bool { !turnIsTaken.exchange(true, ordering: .acquiring) }

  private func leaveTurn() { turnIsTaken.store(false, ordering: .releasing) }

  /// A coroutine comes home, in a block of the loop's.
  private func arrive(_ fiber: UnsafeMutablePointer<Fiber>?) {
    guard takeTurn() else {
      // Never closed: only `deinit` does that, and the block that runs this holds the object.
      if let fiber { _ = home.post(fiber.link) }
      return
    }
    if let fiber {
      fiber.pointee.phase.store(.ready, ordering: .relaxed)
      home.push(fiber)
    }
    withTurn { drain(currentThread()) }
    leaveTurn()
  }

  private func drain(_ thread: ThreadRecord) {
    while true {
      home.takePosts()
      if armedDeadline != .max, armedDeadline <= now {
        armedDeadline = .max
        home.fireTimers(at: now)
        timersChanged()
      }
      guard let fiber = home.pop() else { break }
      if let unstarted = home.resume(fiber, thread) { Coroutine.failToStart(unstarted) }
    }
    if armedDeadline != .max, home.pointee.timers.isEmpty {
      armedDeadline = .max
      host.clearTimer()
    }
  }

  private func withTurn(_ body: () -> Void) {
    let thread = currentThread()
    cck_overflow_install(thread)
    let outer = (home: thread.currentHome, fiber: thread.runningFiber)
    thread.currentHome = home
    thread.runningFiber = nil
    body()
    thread.currentHome = outer.home
    thread.runningFiber = outer.fiber
  }

  package override func startHere(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) -> Bool {
    guard thread.currentHome != home, host.isHere, takeTurn() else { return false }
    withTurn {
      home.pointee.urgent = 0
      var next: UnsafeMutablePointer<Fiber>? = fiber
      while let fiber = next {
        if let unstarted = home.resume(fiber, thread) { Coroutine.failToStart(unstarted) }
        // If it has started another one at once, both come before the code that called this.
        next = home.pointee.urgent > 0 ? home.pop() : nil
        home.pointee.urgent -= 1
      }
      // Ordering rule 5: what it made ready runs before the thread goes back to the loop.
      drain(thread)
    }
    leaveTurn()
    return true
  }

  package override func post(_ work: @escaping () -> Void) -> Bool {
    _ = home.post(work)
    host.perform { self.arrive(nil) }
    return true
  }

  package override func coroutineBegan(_ coroutine: Coroutine) {
    // SAFETY: balanced in `coroutineEnded`; a live coroutine holds its scheduler.
    _ = Unmanaged.passRetained(self)
    host.coroutineBegan()
  }

  package override func coroutineEnded(_ coroutine: Coroutine) {
    host.coroutineEnded()
    // SAFETY: takes back the retain above. The block that runs this holds the object too.
    Unmanaged.passUnretained(self).release()
  }

  // MARK: - Time

  package override func timersChanged() {
    guard let nearest = home.pointee.timers.nearest, nearest < armedDeadline else { return }
    armedDeadline = nearest
    host.setTimer(after: max(0, nearest - now)) { [weak self] in
      guard let self else { return }
      // Whatever the clock says, or the next deadline could go unarmed.
      armedDeadline = .min
      arrive(nil)
    }
  }
}
