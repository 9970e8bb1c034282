// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
package import CoroutineKernel
import Synchronization

/// Timers are looked at again after so many rounds of a busy loop.
private let roundsBetweenTimers = 16
/// After so many rounds (of up to 62 switches each) a busy loop looks whether one that has not started has
/// waited for too long, and begins it if so: those who go on for ever must not keep it from starting.
private let roundsBetweenLooks = 64
/// How long is too long, in nanoseconds.
///
/// Long, because each one begun out of turn is another branch of a tree of launches that is gone through
/// at the same time, with stacks of its own.
private let patience: Int64 = 20_000_000
/// At most so many coroutines change loops at once; the list that they are in is locked meanwhile.
let mostTaken = 16
/// A list with fewer members than this is left alone for `grace`: who launches two that talk to each
/// other, and waits, has both running here before another loop could have them apart.
let fewestAtOnce = 4
/// Nanoseconds.
private let grace: Int64 = 5_000

/// Coroutines that took less than this each, in nanoseconds, were not worth being taken over.
///
/// From one take-over to the next look for more; about as much does it cost both loops to have one change over.
private let shortest: Int64 = 1_000
/// For how long a loop leaves the others alone after that, in nanoseconds.
///
/// Twice as long each further time in a row. They run what is as short themselves meanwhile, without being held up
/// by a barrier.
private let pauses: ClosedRange<Int64> = 50_000...1_600_000

/// One thread of a pool: an event loop that takes coroutines that have not started from the others when
/// it has nothing to do.
package final class PoolLoop: SchedulerCore, @unchecked Sendable {
  // SAFETY: see SchedulerCore; the counts and `wasSummoned` are atomic, `pool` and `number` constant, the
  // rest belongs to the loop's thread.

  /// Kept alive by the threads of the pool, and by every `Scheduler` that stands for this.
  private let unownedPool: Unmanaged<Pool>
  let number: Int

  /// It was woken to look for work, and counts as searching.
  let wasSummoned: Atomic<Bool>

  @exclusivity(unchecked)
  private var isSearching = false
  /// It searches because a launch woke it, and has found nothing yet.
  @exclusivity(unchecked)
  private var isSummoned = false
  /// For each loop, the coroutine that was the oldest when its list was last seen small, and since when.
  private var candidates: [(identifier: UInt64, since: Int64)] = []
  /// The oldest of this loop that has not started, and since when it has been known to be that.
  private var oldest: (identifier: UInt64, since: Int64) = (0, 0)
  /// How many it got from others last, when, and how many lived here before; none once they have been found long or short, or
  /// if it came too late for any.
  private var taken: (count: Int, at: Int64, before: Int) = (0, 0, 0)
  /// When it gave others something last.
  var gaveAt: Int64 = 0
  /// From when on it leaves something to others that are at work, if that is its turn.
  var courteousFrom: Int64 = .min
  /// Those that the thread may run on; asked once, when that matters.
  private(set) lazy var processors = Int(cck_processor_count())
  /// From which on it looked at the others last: not the same ones each time, where they are many.
  var compared = 0
  /// How long to leave the others alone after that; 0 if they were long.
  private var pause: Int64 = 0

  init(number: Int, of pool: Pool) {
    self.unownedPool = .passUnretained(pool)
    self.number = number
    wasSummoned = Atomic(false)
    super.init(
      .text(pool.label),
      migrates: false,
      pool: Unmanaged.passUnretained(pool).toOpaque()
    )
    home.pointee.pollsDescriptors = true
    home.isWithoutWork = true
    cck_steady_heap()
    SpareCoroutines.prepare
  }

  var pool: Pool { unownedPool._withUnsafeGuaranteedRef { $0 } }

  /// Stands for the pool where this loop's coroutines ask for their scheduler: from `run`'s beginning to its end.
  ///
  /// One for each loop, so that no two threads count references to it.
  @exclusivity(unchecked)
  private var ownHandle: Scheduler?

  package override var kind: RuntimeMetrics.SchedulerKind { .pool }

  package override var handle: Scheduler? { ownHandle }

  // MARK: - For launches

  package override func homeForLaunch(_ thread: ThreadRecord) -> UnsafeMutablePointer<Home> {
    pool.homeForLaunch(thread)
  }

  package override func offer(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) -> Bool {
    if thread.currentHome == home { return Self.offerHere(fiber, home) }
    guard Self.insert(pool, { home.send(fiber) }) else { return false }
    pool.noteWork(for: self)
    return true
  }

  /// As `offer`, with the turn of `home`, which is a pool's.
  @inline(__always)
  static func offerHere(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ home: UnsafeMutablePointer<Home>
  ) -> Bool {
    // P2: first.
    home.noteBegin()
    // SAFETY: the home of a pool's loop has its pool there, which lives as long as its loops run.
    let pool = Unmanaged<Pool>.fromOpaque(home.pointee.pool.unsafelyUnwrapped)
    return pool._withUnsafeGuaranteedRef {
      // Read before a thief may have begun it.
      let placement = fiber.pointee.placement
      guard insert($0, { home.offer(fiber) }) else { return false }
      $0.noteWork(placement, at: home)
      return true
    }
  }

  @inline(__always)
  private static func insert(_ pool: Pool, _ offer: () -> Bool) -> Bool {
    // A list is closed for as long as somebody looks whether all is over, or for good.
    while !offer() {
      if pool.hasDecidedToEnd { return false }
    }
    return true
  }

  package override func post(_ work: @escaping () -> Void) -> Bool {
    guard home.post(work) else { return false }
    home.pointee.parker.wake()
    return true
  }

  /// No thread could be started for it.
  func neverBegins() {
    setWithoutWork(false)
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
    noteThread()
    home.beginLooking()
    home.beginKeeping()
    lookAtClock()
    ownHandle = Scheduler(core: self)
    var idling = Idling(thread)
    defer {
      ownHandle = nil
      home.dropSpareStack(thread)
      idling.end()
      thread.currentHome = nil
    }
    var round = 0
    while true {
      home.takePosts()
      if let fiber = next(round) {
        if home.isWithoutWork { noteWorkFound() }
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
      if pool.endIfEmpty() { break }
      lookAround(until: idling.deadline(for: next), &idling)
    }
    if isSearching { pool.endSearch() }
    pool.wakeAll()
    // What still comes is about coroutines that have ended.
    while !home.closeInbox() { home.takePosts() }
    home.releaseUnused()
  }

  private func next(_ round: Int) -> UnsafeMutablePointer<Fiber>? {
    if round % roundsBetweenLooks == 0, isOverdue, let fiber = home.takeUnstarted(oldest: true) {
      return fiber
    }
    if let fiber = home.pop() { return fiber }
    guard home.hasUnstarted else { return nil }
    if let fiber = home.takeUnstarted(oldest: false, withinShare: true) { return fiber }
    return balance() ? home.takeUnstarted(oldest: false) : nil
  }

  /// The oldest coroutine here that has not started has waited for too long.
  private var isOverdue: Bool {
    guard home.hasUnstarted, let identifier = home.oldestUnstarted else { return false }
    // The time of an explored race stands still while anybody looks.
    if currentPreemptionObserver() != nil { return true }
    if identifier == oldest.identifier { return now - oldest.since >= patience }
    oldest = (identifier, now)
    return false
  }

  // MARK: - Without work

  /// There is something to do again.
  private func noteWorkFound() {
    setWithoutWork(false)
    let gifts = home.takeGiftCount()
    if gifts > 0 { noteTaken(gifts) }
    if isSearching {
      isSearching = false
      isSummoned = false
      pool.endSearch()
    } else if home.hasUnstarted {
      // Others have left it alone, because this loop was to come for it.
      pool.noteWork()
    }
  }

  private func setWithoutWork(_ isWithoutWork: Bool) {
    home.isWithoutWork = isWithoutWork
    pool.noteWithoutWork(isWithoutWork)
  }

  private func noteTaken(_ count: Int) {
    taken = (count, clockNow(), home.live - count)
  }

  /// Looks for something to do, and sleeps if there is nothing.
  private func lookAround(until deadline: Int64?, _ idling: inout Idling) {
    noteEndOfTaken()
    if !home.isWithoutWork { setWithoutWork(true) }
    if pause > 0, now - taken.at < pause { return pauseSearching(until: deadline, &idling) }
    if !isSearching {
      isSearching = true
      pool.beginSearch()
    }
    let source: IdleSpin.Source = home.hasDescriptorWaits ? .descriptors : .threads
    let isWoken = idling.lookAround(home, until: deadline, for: source) {
      home.hasUnstarted || steal()
    }
    if isWoken { return }
    if isSummoned {
      isSummoned = false
      if !pool.hasUnstarted(for: home), noteVainSummons() {
        return pauseSearching(until: deadline, &idling)
      }
    }
    isSearching = false
    home.announceSleep()
    pool.goIdle(self)
    let timeout = deadline.map { max(0, $0 - now) } ?? -1
    if home.hasPost || pool.hasUnstarted(for: home) || timeout == 0 || pool.endIfEmpty() {
      home.pointee.parker.retract()
    } else {
      idling.sleep(self, atMost: timeout, for: source, isAwaited: false)
    }
    isSearching = pool.leaveIdle(self)
    isSummoned = isSearching
  }

  /// What it was woken for has been done by others in less time than that took: they can do without it for a while.
  ///
  /// - Returns: Whether to leave them alone.
  private func noteVainSummons() -> Bool {
    // As below.
    guard currentPreemptionObserver() == nil else { return false }
    taken.at = lookAtClock()
    lengthenPause()
    return true
  }

  private func lengthenPause() {
    pause = min(max(pause * 2, pauses.lowerBound), pauses.upperBound)
  }

  /// What was taken over last has begun, if not ended: notes whether it was worth it.
  private func noteEndOfTaken() {
    // What is explored must not depend on real time.
    guard taken.count > 0, currentPreemptionObserver() == nil else { return }
    // Those that live on were worth it even if they wait.
    let wasShort =
      lookAtClock() - taken.at < Int64(taken.count) * shortest && home.live <= taken.before
    if wasShort { lengthenPause() } else { pause = 0 }
    home.shortTakings = wasShort ? home.shortTakings + 1 : 0
    taken.count = 0
  }

  /// Sleeps for the rest of the pause, but for what is sent to this loop.
  ///
  /// Neither searching nor idle, so that no launch wakes it: it looks by itself, soon enough.
  private func pauseSearching(until deadline: Int64?, _ idling: inout Idling) {
    if isSearching {
      isSearching = false
      pool.endSearch()
    }
    let end = min(taken.at + pause, deadline ?? .max)
    // A launch from outside may be for this loop.
    let isWoken = idling.lookAround(home, until: end, for: .threads) {
      home.hasUnstarted || pool.isOver
    }
    if isWoken { return }
    home.announceSleep()
    if home.hasPost || home.hasUnstarted || pool.isOver || end <= now {
      home.pointee.parker.retract()
    } else {
      home.sleep(atMost: end - now)
    }
    lookAtClock()
  }

  /// Takes unstarted coroutines from another loop.
  private func steal() -> Bool {
    let homes = pool.homes
    for distance in 1..<max(homes.count, 1) {
      let other = (number + distance) % homes.count
      let victim = homes[other]
      let count = victim.unstartedCount
      // P5: what is awaited would have to be given back at once.
      if count == 0 || victim.isAwaited(beside: home) { continue }
      if count < fewestAtOnce, !isDue(victim, other) { continue }
      let taken = home.steal(from: victim, limit: mostTaken)
      if taken > 0 {
        noteTaken(taken)
        return true
      }
    }
    return false
  }

  /// The oldest coroutine of a list has been there for long enough to be taken over.
  ///
  /// - Parameters:
  ///   - victim: Whose list it is.
  ///   - number: Its number.
  /// - Returns: Whether it has.
  private func isDue(_ victim: UnsafeMutablePointer<Home>, _ number: Int) -> Bool {
    // The time of an explored race stands still while anybody looks.
    if currentPreemptionObserver() != nil { return true }
    guard let oldest = victim.oldestUnstarted else { return false }
    if candidates.isEmpty { candidates = Array(repeating: (0, 0), count: pool.homes.count) }
    if oldest == candidates[number].identifier {
      return now - candidates[number].since >= grace
    }
    candidates[number] = (oldest, now)
    return false
  }
}
