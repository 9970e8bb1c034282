// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// To look at a loop's counts takes two or three lines of the cache that it writes; the fewest of so many is few enough.
private let mostCompared = 8

/// What the loops of a `PoolScheduler` share: who is idle, who looks for work, and when all is over.
///
/// A loop without work is *searching* for a while, and then *idle*. Whoever puts an unstarted coroutine
/// into a list wakes one idle loop, unless somebody is searching already; a searcher that finds something
/// and was the last one wakes another if there is more. So a burst of launches wakes one thread after the
/// other, as long as there is something for each. (After Go's scheduler, Vyukov 2012.)
///
/// Invariants:
/// - P1. A launch: into the list, light fence, then `idleCount` is read, and if it is not 0, full fence, and `searching`.
///   Going idle: `idleCount` up, `searching` down, heavy fence, then all lists are looked at once more; who ends a search as
///   the last one: `searching` down, full fence, the same. So one of the two sees the other.
/// - P2. A home's `began`, or for launches from outside its list's `sent`, is raised before the coroutine can be seen by a
///   loop, its `ended` after the end. If the sum of the ends, read first, is the sum of the beginnings, then there was a
///   moment between the two at which no coroutine lived.
/// - P3. Loops end when `isOver`: the lists are closed then, and no coroutine lives. Lists that are closed
///   while `lock` is free stay so.
/// - P4. A launch wakes one loop at most, if all that sleep are idle: from outside that whose list it went to, which counts as
///   searching from then on; else the last that fell asleep, if nobody is searching.
/// - P5. A loop does not begin what may begin anywhere if another is without work on which fewer coroutines live than have started
///   here: it gives that one as many as make the two even, and wakes it. Loops on which no fewer live leave them to it,
///   and do not stay awake for them; if it has something else to do when it wakes up, it sends another as P1 has it. Where all
///   others are at work it begins no more than its part of what lives, as long as they may come for the rest: for 0.3 ms, and not
///   again for 30 ms if they did not.
package final class Pool: @unchecked Sendable {
  // SAFETY: `loops` is written by `init` only; `idle` is guarded by `lock`; the rest is atomic.

  // What is only read, but for the end.
  let label: String
  package private(set) var loops: [PoolLoop] = []
  /// Theirs, in the same order: who looks at these counts no reference to a loop, which all threads would write to.
  let homes: UnsafeMutableBufferPointer<UnsafeMutablePointer<Home>>
  private let lock = AllocatedLock()
  private let mayStop = Atomic<Bool>(false)
  private let overFlag = Atomic<Bool>(false)

  /// What loops write when they begin or end to look around lies in other lines of the cache than the above.
  private let distance: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
    (0, 0, 0, 0, 0, 0, 0, 0)
  /// Loops that sleep, or are about to.
  private var idle: [PoolLoop] = []
  private let idleCount = Atomic<Int>(0)
  private let searching = Atomic<Int>(0)
  /// Loops that look around, sleep, or have not begun.
  private let withoutWork: Atomic<Int>

  /// A pool whose loops nobody runs yet.
  package init(label: String, threads: Int) {
    self.label = label
    withoutWork = Atomic(threads)
    homes = .allocate(capacity: threads)
    loops = (0..<threads).map { PoolLoop(number: $0, of: self) }
    _ = homes.initialize(from: loops.lazy.map(\.home))
  }

  deinit { homes.deallocate() }

  /// What is announced before it is looked at or changed.
  private enum Word: Int {
    case idleCount, searching, mayStop, overFlag
  }

  @inline(__always)
  private func touch(_ word: Word) {
    // An address for each, inside this object.
    let start = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    preemptionPoint(.pool, start + word.rawValue)
  }

  // MARK: - Launches

  /// The loop that a launch from outside goes to: that of the thread's last one, if it is awake; else the next that is; else
  /// any.
  ///
  /// Whoever launches many short ones wakes nobody then, and if they are long, others come for them.
  func homeForLaunch(_ thread: ThreadRecord) -> UnsafeMutablePointer<Home> {
    let last = Int(truncatingIfNeeded: thread.pointee.pool_loop)
    if last < homes.count, homes[last].pointee.parker.isAwake { return homes[last] }
    let next = loopForNextLaunches(thread)
    thread.pointee.pool_loop = UInt32(truncatingIfNeeded: next)
    return homes[next]
  }

  /// - Returns: Its number.
  private func loopForNextLaunches(_ thread: ThreadRecord) -> Int {
    // Multiply and shift: a number below the count without a division.
    let random = Int((UInt64(cck_thread_random(thread)) &* UInt64(homes.count)) >> 32)
    for distance in 0..<homes.count {
      let number = (random + distance) % homes.count
      if homes[number].pointee.parker.isAwake { return number }
    }
    return random
  }

  /// There is a new member in some list.
  @inline(__always)
  func noteWork() {
    cck_fence_light()
    touch(.idleCount)
    if idleCount.load(ordering: .relaxed) > 0 { wakeOne() }
  }

  /// There is a new member in the list of a loop, whose turn the caller has.
  @inline(__always)
  func noteWork(_ placement: Placement, at home: UnsafeMutablePointer<Home>) {
    noteWork()
    // P5: it may be for somebody else.
    if placement == .wide, mayHaveLoopWithoutWork { home.pointee.share = 0 }
  }

  /// A new member has come into a loop's list from outside.
  ///
  /// If that loop sleeps, it is the one that is woken: one is enough (P4).
  func noteWork(for loop: PoolLoop) {
    let parker = loop.home.pointee.parker
    if !parker.isAwake {
      if summon({ $0.firstIndex { $0 === loop } }) { return }
      // It is about to sleep, or does so without being idle.
      parker.wake()
    }
    noteWork()
  }

  private func wakeOne() {
    // P1.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    touch(.searching)
    if searching.load(ordering: .sequentiallyConsistent) > 0 { return }
    _ = summon { $0.indices.last }
  }

  /// What the calling loop has given to another is in that one's list.
  func noteGift(to number: Int) {
    // As a launch from outside does by the way it puts a coroutine there.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    noteWork(for: loops[number])
  }

  /// Wakes an idle loop to look for work.
  ///
  /// - Parameter choose: Its place among those that are idle.
  /// - Returns: False if there is none.
  private func summon(_ choose: ([PoolLoop]) -> Int?) -> Bool {
    let sleeper: PoolLoop? = lock.withLock {
      guard let index = choose(idle) else { return nil }
      let sleeper = takeIdle(at: index)
      // On its behalf, so that nobody wakes another before it runs.
      touch(.searching)
      searching.wrappingAdd(1, ordering: .sequentiallyConsistent)
      sleeper.wasSummoned.store(true, ordering: .relaxed)
      return sleeper
    }
    sleeper?.home.pointee.parker.wake()
    return sleeper != nil
  }

  // MARK: - Searching and sleeping

  /// The calling loop begins to look for work.
  func beginSearch() {
    touch(.searching)
    searching.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  /// The calling loop has found something, or gives up without going idle.
  func endSearch() {
    touch(.searching)
    let left = searching.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    touch(.idleCount)
    guard left == 0, idleCount.load(ordering: .relaxed) > 0 else { return }
    // P1, for a launch that still saw this loop searching.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if hasUnstarted { wakeOne() }
  }

  /// Of the first loops without work from a place on, the one on which the fewest coroutines live; one that is awake before one
  /// that sleeps.
  ///
  /// - Parameters:
  ///   - start: The place.
  ///   - isWelcome: Whether it is to be given anything.
  /// - Returns: Its number, and how many live there.
  func emptiest(
    from start: Int,
    where isWelcome: (UnsafeMutablePointer<Home>) -> Bool
  ) -> (number: Int, live: Int)? {
    var found: (number: Int, live: Int)?
    var seen = 0
    for distance in 0..<homes.count {
      let number = (start &+ distance) % homes.count
      let home = homes[number]
      guard home.isWithoutWork, isWelcome(home) else { continue }
      let live = home.live
      if live < found?.live ?? .max || (live == found?.live && home.pointee.parker.isAwake) {
        found = (number, live)
      }
      seen += 1
      if seen == mostCompared { break }
    }
    return found
  }

  /// How many coroutines live on a loop, on average of the first ones from a place on; a hint, and one more rather than less.
  func livePerLoop(from start: Int) -> Int {
    let count = min(homes.count, mostCompared)
    var live = 0
    for distance in 0..<count { live += homes[(start &+ distance) % homes.count].live }
    return live / count + 1
  }

  /// Some loop may be without work.
  var mayHaveLoopWithoutWork: Bool { withoutWork.load(ordering: .relaxed) > 0 }

  /// The calling loop has nothing to do any more, or has again.
  func noteWithoutWork(_ isWithoutWork: Bool) {
    withoutWork.wrappingAdd(isWithoutWork ? 1 : -1, ordering: .relaxed)
  }

  /// A list has members that the loop with this home may take; a hint.
  func hasUnstarted(for home: UnsafeMutablePointer<Home>) -> Bool {
    for other in homes where other.hasUnstarted && !other.isAwaited(beside: home) { return true }
    return false
  }

  /// A list has members; a hint.
  var hasUnstarted: Bool {
    for home in homes where home.hasUnstarted { return true }
    return false
  }

  /// The calling loop, which has been searching, is about to sleep, and must look around once more.
  func goIdle(_ loop: PoolLoop) {
    lock.withLock {
      idle.append(loop)
      touch(.idleCount)
      idleCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }
    touch(.searching)
    searching.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    cck_fence_heavy()
  }

  /// One is idle no longer; under the lock.
  private func takeIdle(at index: Int) -> PoolLoop {
    touch(.idleCount)
    idleCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    return idle.remove(at: index)
  }

  /// It sleeps no longer.
  ///
  /// - Returns: True if it was summoned by `wakeOne`, and counts as searching.
  func leaveIdle(_ loop: PoolLoop) -> Bool {
    lock.withLock {
      if let index = idle.firstIndex(where: { $0 === loop }) { _ = takeIdle(at: index) }
      return loop.wasSummoned.exchange(false, ordering: .relaxed)
    }
  }

  // MARK: - The end

  /// Lets the pool end once its coroutines have.
  package func stopWhenEmpty() {
    touch(.mayStop)
    mayStop.store(true, ordering: .sequentiallyConsistent)
    wakeAll()
  }

  /// All loops are to end.
  var isOver: Bool {
    touch(.overFlag)
    return overFlag.load(ordering: .acquiring)
  }

  /// Nobody is left to use the pool, and no coroutine lives: then it is over.
  ///
  /// - Returns: Whether it is over now.
  func endIfEmpty() -> Bool {
    guard !isOver else { return true }
    touch(.mayStop)
    guard mayStop.load(ordering: .sequentiallyConsistent), isQuiet else { return false }
    return lock.withLock {
      if isOver { return true }
      let closed = homes.prefix { $0.closeUnstarted() }
      // A launch through a scheduler that somebody has kept may have come in between.
      guard closed.count == homes.count, isQuiet else {
        for home in closed { home.reopenUnstarted() }
        return false
      }
      touch(.overFlag)
      overFlag.store(true, ordering: .sequentiallyConsistent)
      return true
    }
  }

  /// For whoever has found a list closed: for good, or only while `endIfEmpty` was looking.
  var hasDecidedToEnd: Bool { lock.withLock { isOver } }

  /// P2.
  private var isQuiet: Bool {
    var ended = 0
    for home in homes { ended += home.endedCount }
    var began = 0
    for home in homes { began += home.beganCount }
    return ended == began
  }

  /// Has every loop look around.
  func wakeAll() {
    for home in homes { home.pointee.parker.wake() }
  }

  /// No thread could be started: nothing will ever run here.
  func neverBegins() {
    overFlag.store(true, ordering: .sequentiallyConsistent)
    for home in homes {
      _ = home.closeUnstarted()
      _ = home.closeInbox()
    }
  }
}
