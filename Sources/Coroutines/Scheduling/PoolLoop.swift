// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel
import Synchronization

/// Timers are looked at again after so many rounds of a busy loop.
private let roundsBetweenTimers = 16
/// Of so many rounds of a busy loop (of up to 62 switches each) one begins with the oldest coroutine that
/// has not started, so that those who go on for ever do not keep it from starting.
///
/// Rarely, because each one begun out of turn is another branch of a tree of launches that is gone through
/// at the same time, with stacks of its own: with 4 the tree of a million leaves took 30 times as long.
private let roundsBetweenOldest = 512
/// At most so many coroutines change loops at once; the list that they are in is locked meanwhile.
private let mostStolen = 16
/// A list with fewer members than this is left alone for `grace`: who launches two that talk to each
/// other, and waits, has both running here before another loop could have them apart.
private let fewestAtOnce = 4
/// Nanoseconds.
private let grace: Int64 = 5_000

/// One thread of a pool: an event loop that takes coroutines that have not started from the others when
/// it has nothing to do.
package final class PoolLoop: SchedulerCore, @unchecked Sendable {
  // SAFETY: see SchedulerCore; the counts and `wasSummoned` are atomic, `pool` and `number` constant, the
  // rest belongs to the loop's thread.

  /// Kept alive by the threads of the pool, and by every `Scheduler` that stands for this.
  private let unownedPool: Unmanaged<Pool>
  private let number: Int

  /// It was woken to look for work, and counts as searching.
  let wasSummoned: Atomic<Bool>

  @exclusivity(unchecked)
  private var isSearching = false
  /// For each loop, the coroutine that was the oldest when its list was last seen small, and since when.
  private var candidates: [(identifier: UInt64, since: Int64)] = []

  init(number: Int, of pool: Pool) {
    self.unownedPool = .passUnretained(pool)
    self.number = number
    wasSummoned = Atomic(false)
    super.init(label: pool.label, migrates: false)
    home.pointee.pool = Unmanaged.passUnretained(pool).toOpaque()
    cck_steady_heap()
    SpareCoroutines.prepare
  }

  private var pool: Pool { unownedPool._withUnsafeGuaranteedRef { $0 } }

  // MARK: - For launches

  package override func homeForLaunch(_ thread: ThreadRecord) -> UnsafeMutablePointer<Home> {
    if let current = thread.currentHome, current.pointee.pool == home.pointee.pool {
      return current
    }
    return pool.loopForLaunch(thread).home
  }

  package override func offer(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    // P2: first.
    let isHere = currentThread().currentHome == home
    if isHere { home.noteBegin() } else { pool.beginsOutside() }
    while !home.offer(fiber) {
      if pool.hasDecidedToEnd { return false }
    }
    if !isHere { home.pointee.parker.wake() }
    unownedPool._withUnsafeGuaranteedRef { $0.noteWork() }
    return true
  }

  package override func post(_ work: @escaping () -> Void) -> Bool {
    guard home.post(work) else { return false }
    home.pointee.parker.wake()
    return true
  }

  package override func schedulerBegan() {
    // SAFETY: balanced in `schedulerEnded`.
    _ = Unmanaged.passRetained(pool)
  }

  package override func schedulerEnded() {
    // SAFETY: takes back the retain above.
    Unmanaged.passUnretained(pool).release()
  }

  // MARK: - The loop

  /// Runs on the calling thread until the pool is over.
  package func run() {
    let thread = currentThread()
    cck_overflow_install(thread)
    thread.currentHome = home
    thread.runningFiber = nil
    defer {
      home.dropSpareStack(thread)
      thread.currentHome = nil
    }
    var spin = IdleSpin()
    var round = 0
    while true {
      home.takePosts()
      if let fiber = next(round) {
        if isSearching {
          isSearching = false
          pool.endSearch()
        }
        if let unstarted = home.resume(fiber, thread) { Coroutine.failToStart(unstarted) }
        round &+= 1
        if round % roundsBetweenTimers == 0, !home.pointee.timers.isEmpty {
          home.fireTimers(at: now)
        }
        continue
      }
      let deadline = home.pointee.timers.isEmpty ? nil : home.fireTimers(at: now)
      if home.pointee.runFirst != nil { continue }
      if pool.endIfEmpty() { break }
      lookAround(until: deadline, &spin)
    }
    if isSearching { pool.endSearch() }
    pool.wakeAll()
    // What still comes is about coroutines that have ended.
    while !home.closeInbox() { home.takePosts() }
  }

  private func next(_ round: Int) -> UnsafeMutablePointer<Fiber>? {
    if round % roundsBetweenOldest == 0, let fiber = home.takeUnstarted(oldest: true) {
      return fiber
    }
    return home.pop() ?? home.takeUnstarted(oldest: false)
  }

  // MARK: - Without work

  /// Looks for something to do, and sleeps if there is nothing.
  private func lookAround(until deadline: Int64?, _ spin: inout IdleSpin) {
    if !isSearching {
      isSearching = true
      pool.beginSearch()
    }
    if spin.wait(until: deadline, { home.hasPost || home.hasUnstarted || steal() }) { return }
    isSearching = false
    home.pointee.parker.announce()
    pool.goIdle(self)
    let timeout = deadline.map { max(0, $0 - now) } ?? -1
    if home.hasPost || pool.hasUnstarted || timeout == 0 || pool.endIfEmpty() {
      home.pointee.parker.retract()
    } else {
      home.pointee.parker.sleep(atMost: timeout)
    }
    isSearching = pool.leaveIdle(self)
  }

  /// Takes unstarted coroutines from another loop.
  private func steal() -> Bool {
    let loops = pool.loops
    for distance in 1..<max(loops.count, 1) {
      let other = (number + distance) % loops.count
      let victim = loops[other].home
      let count = victim.unstartedCount
      if count == 0 { continue }
      if count < fewestAtOnce, !isDue(victim, other) { continue }
      if home.steal(from: victim, limit: mostStolen) > 0 { return true }
    }
    return false
  }

  /// The oldest coroutine of a small list has been there for long enough.
  private func isDue(_ victim: UnsafeMutablePointer<Home>, _ number: Int) -> Bool {
    // The time of an explored race stands still while anybody looks.
    if currentPreemptionObserver() != nil { return true }
    guard let oldest = victim.oldestUnstarted else { return false }
    if candidates.isEmpty { candidates = Array(repeating: (0, 0), count: pool.loops.count) }
    if oldest == candidates[number].identifier { return now - candidates[number].since >= grace }
    candidates[number] = (oldest, now)
    return false
  }
}
