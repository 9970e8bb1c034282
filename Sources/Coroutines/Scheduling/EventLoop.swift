// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// Timers are looked at again after so many rounds of a busy loop: reading the clock costs as much as
/// several switches.
private let roundsBetweenTimers = 16

/// One thread that runs coroutines: first come first served, then sleepers, then its own sleep.
package final class EventLoop: SchedulerCore, @unchecked Sendable {
  // SAFETY: see SchedulerCore; `mayStop` is atomic, `ownHandle` is touched with the turn.

  /// The loop may end as soon as it has no coroutines.
  private let mayStop: Atomic<Bool>

  /// What the loop's own code is given as its scheduler, once it has asked: until `run` ends.
  @exclusivity(unchecked)
  private var ownHandle: Scheduler?

  package init(_ name: SchedulerName, stopsWhenEmpty: Bool) {
    mayStop = Atomic(stopsWhenEmpty)
    super.init(name, migrates: false)
    home.pointee.pollsDescriptors = true
    cck_steady_heap()
    SpareCoroutines.prepare
  }

  /// Lets the loop end once its coroutines have.
  package func stopWhenEmpty() {
    mayStop.store(true, ordering: .sequentiallyConsistent)
    home.pointee.parker.wake()
  }

  package override var handle: Scheduler? {
    if let ownHandle { return ownHandle }
    let made = Scheduler(core: self)
    ownHandle = made
    return made
  }

  package override func post(_ work: @escaping () -> Void) -> Bool {
    guard home.post(work) else { return false }
    home.pointee.parker.wake()
    return true
  }

  /// Runs on the calling thread until the loop may stop and nothing is left to run.
  package func run() {
    let thread = currentThread()
    cck_overflow_install(thread)
    let outer = (home: thread.currentHome, fiber: thread.runningFiber)
    thread.currentHome = home
    thread.runningFiber = nil
    noteThread()
    home.beginLooking()
    lookAtClock()
    var idling = Idling(thread)
    defer {
      home.dropSpareStack(thread)
      idling.end()
      ownHandle = nil
      thread.currentHome = outer.home
      thread.runningFiber = outer.fiber
    }
    var round = 0
    while true {
      home.takePosts()
      if let fiber = home.pop() {
        if let unstarted = home.resume(fiber, thread) { Coroutine.failToStart(unstarted) }
        round &+= 1
        if home.mustLook(round, every: roundsBetweenTimers) {
          let now = lookAtClock()
          if !home.pointee.timers.isEmpty { home.fireTimers(at: now) }
          home.pollDescriptors()
          home.releaseUnused()
          idling.look(at: now)
        }
        continue
      }
      let next = home.pointee.timers.isEmpty ? nil : home.fireTimers(at: now)
      home.releaseUnused()
      if home.pointee.runFirst != nil { continue }
      if isToEnd, home.closeInbox() { return }
      let deadline = idling.deadline(for: next)
      let source: IdleSpin.Source = home.hasDescriptorWaits ? .descriptors : .threads
      if idling.lookAround(home, until: deadline, for: source, or: { isToEnd }) { continue }
      home.announceSleep()
      let timeout = deadline.map { max(0, $0 - self.now) } ?? -1
      if home.hasPost || isToEnd || timeout == 0 {
        home.pointee.parker.retract()
      } else {
        idling.sleep(
          self,
          atMost: timeout,
          for: source,
          isAwaited: mayStop.load(ordering: .relaxed) && home.live > 0
        )
      }
    }
  }

  private var isToEnd: Bool {
    home.live == 0 && mayStop.load(ordering: .sequentiallyConsistent)
  }
}
