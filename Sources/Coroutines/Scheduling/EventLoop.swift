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
    let memory = MemoryReturn(thread)
    defer {
      home.dropSpareStack(thread)
      memory.end()
      ownHandle = nil
      thread.currentHome = outer.home
      thread.runningFiber = outer.fiber
    }
    var spin = IdleSpin()
    var pace = WakeUpPace()
    var quiet = QuietSleep()
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
          memory.look(at: now)
        }
        continue
      }
      let next = home.pointee.timers.isEmpty ? nil : home.fireTimers(at: now)
      home.releaseUnused()
      if home.pointee.runFirst != nil { continue }
      if isToEnd, home.closeInbox() { return }
      let deadline = next.map { pace.next(for: $0) }
      let source: IdleSpin.Source = home.hasDescriptorWaits ? .descriptors : .threads
      let watched = home.beginWatch()
      let isWoken = spin.wait(until: deadline, for: source) {
        watched?.isTold ?? false || home.hasPost || isToEnd
      } poll: {
        home.pollDescriptors()
        return home.pointee.runFirst != nil
      }
      home.endWatch(watched)
      if isWoken || home.pointee.runFirst != nil { continue }
      sleep(until: deadline, source, memory, &spin, &pace, &quiet)
    }
  }

  private var isToEnd: Bool {
    home.live == 0 && mayStop.load(ordering: .sequentiallyConsistent)
  }

  private func sleep(
    until deadline: Int64?,
    _ source: IdleSpin.Source,
    _ memory: MemoryReturn,
    _ spin: inout IdleSpin,
    _ pace: inout WakeUpPace,
    _ quiet: inout QuietSleep
  ) {
    home.announceSleep()
    let mustGoOn = home.hasPost || isToEnd
    let timeout = deadline.map { max(0, $0 - now) } ?? -1
    if mustGoOn || timeout == 0 {
      home.pointee.parker.retract()
    } else {
      let first = memory.firstSleep(of: timeout)
      if let first {
        home.sleep(atMost: first)
      } else if timeout < 0, !home.hasDescriptorWaits {
        let isAwaited = mayStop.load(ordering: .relaxed) && home.live > 0
        quiet.sleep(self, isAwaited: isAwaited)
      } else {
        home.sleep(atMost: timeout)
      }
      lookAtClock()
      if home.hasPost || home.pointee.runFirst != nil {
        spin.noteWoken(by: source)
      } else if first != nil {
        memory.sleptThrough()
      } else if deadline != nil {
        pace.noteWakeUp(at: now)
      }
    }
  }
}
