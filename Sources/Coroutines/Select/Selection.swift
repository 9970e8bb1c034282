// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// The untyped part of `select`: decides which clause wins, and moves its value.
///
/// After Go's `selectgo`: lock all channels, look for a clause that is ready, else enter all queues,
/// unlock, park, and leave the queues in which the select lost.
///
/// All locks are held from the moment the last one is taken; that is when the look happens, because what
/// was seen of the other channels before that cannot have changed.
@usableFromInline
package enum Selection {
  @usableFromInline
  package typealias Entries = UnsafeMutablePointer<SelectEntry>

  /// Decides which clause wins, parking if need be.
  ///
  /// - Parameters:
  ///   - entries: The clauses' entries.
  ///   - count: Number of clauses, one or more.
  ///   - fallback: Index of the `Default`; -1 if there is none.
  ///   - seen: What the clauses have seen without their locks, just before this.
  /// - Returns: The winner's index. Its entry says whether its channel was closed.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @usableFromInline
  package static func decide(
    _ entries: Entries,
    _ count: Int,
    fallback: Int,
    _ seen: UInt
  ) throws -> Int {
    try decide(entries, count, fallback) { thread in pick(seen, thread) }
  }

  /// The same, of clauses that have not looked.
  ///
  /// - Parameters:
  ///   - entries: The clauses' entries.
  ///   - count: Number of clauses, one or more.
  ///   - fallback: Index of the `Default`; -1 if there is none.
  /// - Returns: The winner's index.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  package static func decide(
    _ entries: Entries,
    _ count: Int,
    fallback: Int
  ) throws -> Int {
    try decide(entries, count, fallback) { thread in glance(entries, count, thread) }
  }

  @inline(__always)
  private static func decide(
    _ entries: Entries,
    _ count: Int,
    _ fallback: Int,
    _ glance: (ThreadRecord) -> Glance
  ) throws -> Int {
    let thread = currentThread()
    // Rule 2: with a Default this is no park point, so no cancellation point either.
    let fiber = fallback >= 0 ? nil : try Parking.begin("select", thread)

    switch glance(thread) {
    case .ready(let index):
      if carryOutAlone(entries + index, thread) { return index }
    case .noneReady:
      guard let fiber else { return fallback }
      if lockUnchanged(entries, count, thread) {
        return try standBack(entries, count, fiber, thread)
      }
    case .unknown: break
    }
    return try decideLocked(entries, count, fiber, fallback, thread)
  }

  /// The same, with all locks.
  @inline(never)
  private static func decideLocked(
    _ entries: Entries,
    _ count: Int,
    _ fiber: UnsafeMutablePointer<Fiber>?,
    _ fallback: Int,
    _ thread: ThreadRecord
  ) throws -> Int {
    var chosen = lockAndLook(entries, count, thread)
    if chosen >= 0 {
      if let home = thread.currentHome, !home.pointee.isPlain {
        chosen = choose(entries, count, home.core, thread) ?? chosen
        if isTracing { return try decideRecorded(entries, count, chosen, fiber, fallback, thread) }
      }
      repeat {
        if let partner = carryOut(entries + chosen) {
          unlockAll(entries, count)
          if let waiter = partner.waiter { ResumeToken(waiter, .delivered).resume(thread) }
          return chosen
        }
        // Another select on the other side was won elsewhere before it could be claimed here.
        chosen = look(entries, count, thread)
      } while chosen >= 0
    }
    guard let fiber else {
      unlockAll(entries, count)
      return fallback
    }
    return try standBack(entries, count, fiber, thread)
  }

  // MARK: - Pass 1: something ready?

  /// Takes all locks, and picks a clause that is ready, each with the same chance.
  ///
  /// - Returns: Its index; -1 if none is ready.
  @inline(__always)
  private static func lockAndLook(
    _ entries: Entries,
    _ count: Int,
    _ thread: ThreadRecord
  ) -> Int {
    var lot = Lot()
    var index = 0
    while index < count {
      let entry = entries + index
      if let core = entry.pointee.core {
        guard tryLock(entry, core.lock, thread) else {
          unlockAll(entries, index)
          lockInOrder(entries, count, thread)
          return look(entries, count, thread)
        }
        if isReady(entry.pointee.kind, core) { lot.draw(index, thread) }
      }
      index &+= 1
    }
    return lot.winner
  }

  /// Picks a clause that is ready, each with the same chance.
  ///
  /// The caller holds all locks.
  ///
  /// - Returns: Its index; -1 if none is ready.
  @inline(never)
  static func look(
    _ entries: Entries,
    _ count: Int,
    _ thread: ThreadRecord
  ) -> Int {
    var lot = Lot()
    for index in 0..<count {
      guard let core = entries[index].core else { continue }
      if isReady(entries[index].kind, core) { lot.draw(index, thread) }
    }
    return lot.winner
  }

  /// Whether a clause would not wait; nothing is decided yet.
  ///
  /// The caller holds the channel's lock.
  @inline(__always)
  private static func isReady(
    _ kind: SelectEntry.Kind,
    _ core: UnsafeMutablePointer<ChannelCore>
  ) -> Bool {
    kind == .send ? core.isReadyToSend() : core.isReadyToReceive()
  }

  /// Has a scheduler that decides everything itself choose among the ready clauses.
  ///
  /// - Returns: The clause; nil if it is left to chance.
  @inline(never)
  private static func choose(
    _ entries: Entries,
    _ count: Int,
    _ scheduler: SchedulerCore,
    _ thread: ThreadRecord
  ) -> Int? {
    guard scheduler.choosesClauses else { return nil }
    var ready: [Int] = []
    for index in 0..<count {
      guard let core = entries[index].core, isReady(entries[index].kind, core) else { continue }
      ready.insert(index, at: random(below: ready.count + 1, thread))
    }
    return ready.count > 1 ? ready[scheduler.chooseClause(among: ready)] : ready.first
  }

  /// The party that is to be woken, if there is one.
  struct Partner {
    let waiter: UnsafeMutablePointer<Waiter>?
  }

  /// Carries a clause out, if it is ready.
  ///
  /// The caller holds all locks. Inlined into both callers, one of which gives nil for `recorder`.
  ///
  /// - Parameters:
  ///   - entry: The clause's.
  ///   - recorder: The thread, if the step is to be an event of a recording.
  /// - Returns: Nil if it would have to wait.
  @inline(__always)
  static func carryOut(
    _ entry: UnsafeMutablePointer<SelectEntry>,
    recordedBy recorder: ThreadRecord? = nil
  ) -> Partner? {
    guard let core = entry.pointee.core else { return nil }
    let slot = entry.pointee.slot
    if entry.pointee.kind == .receive {
      let step = core.decideReceive()
      if let recorder { core.record(step, recorder) }
      switch step {
      case .take(let full, let sender, let free):
        core.move(slot, full)
        // SAFETY: a waiting sender has its value in its slot.
        if let sender { core.move(free, sender.pointee.slot.unsafelyUnwrapped) }
        return Partner(waiter: sender)
      case .meet(let sender):
        // SAFETY: as above.
        core.move(slot, sender.pointee.slot.unsafelyUnwrapped)
        return Partner(waiter: sender)
      case .closed:
        entry.pointee.isClosed = true
        return Partner(waiter: nil)
      case .wait: return nil
      }
    }
    let step = core.decideSend()
    if let recorder { core.record(step, recorder) }
    switch step {
    case .handOver(let receiver):
      // SAFETY: a waiting receiver has a slot.
      core.move(receiver.pointee.slot.unsafelyUnwrapped, slot)
      return Partner(waiter: receiver)
    case .keep(let free):
      core.move(free, slot)
    case .replace(let full):
      // The oldest value comes back in our slot, and is released with it, outside the locks.
      core.pointee.exchange(full, slot)
      entry.pointee.isLeftOver = true
    case .discard:
      entry.pointee.isLeftOver = true
    case .closed:
      entry.pointee.isClosed = true
    case .wait: return nil
    }
    return Partner(waiter: nil)
  }

  // MARK: - Nothing is ready

  /// Lets an `After` win that has no time left; else parks.
  ///
  /// The caller holds all locks.
  static func standBack(
    _ entries: Entries,
    _ count: Int,
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) throws -> Int {
    var soonest: Int?
    for index in 0..<count where entries[index].kind == .after {
      if let best = soonest, delay(entries, best) <= delay(entries, index) { continue }
      soonest = index
    }
    if let soonest, delay(entries, soonest) <= .zero {
      unlockAll(entries, count)
      return soonest
    }
    return try withUnsafeTemporaryAllocation(of: Waiter.self, capacity: count) { waiters in
      // SAFETY: there is a clause, so the buffer has an address.
      try park(entries, waiters.baseAddress.unsafelyUnwrapped, count, fiber, soonest, thread)
    }
  }

  private static func delay(_ entries: Entries, _ index: Int) -> Duration {
    // SAFETY: an `After` has its delay in its slot.
    entries[index].slot.assumingMemoryBound(to: Duration.self).pointee
  }

  // MARK: - Pass 2 and 3: wait in all queues, leave those that lost

  @inline(__always)
  private static func park(
    _ entries: Entries,
    _ waiters: UnsafeMutablePointer<Waiter>,
    _ count: Int,
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ soonest: Int?,
    _ thread: ThreadRecord
  ) throws -> Int {
    var race = WaitRace()
    // The select as a whole, for cancellation and for the timer: no lock, so only home ends it.
    var whole = Waiter(fiber: fiber)
    return try withUnsafeMutablePointer(to: &race) { race in
      try withUnsafeMutablePointer(to: &whole) { whole in
        // SAFETY: race, nodes and timer stay in this frame, or the caller's, until the coroutine has
        // been resumed and every node has been taken out of its queue below.
        whole.pointee.race = race
        whole.pointee.clause = Int32(truncatingIfNeeded: count)
        whole.pointee.context = UnsafeMutableRawPointer(entries)
        whole.pointee.slot = UnsafeMutableRawPointer(waiters)
        enterQueues(entries, waiters, count, fiber, race, thread)
        unlockAll(entries, count)
        if let soonest {
          let timed = waiters + soonest
          timed.initialize(to: Waiter(fiber: fiber))
          timed.pointee.race = race
          timed.pointee.clause = Int32(truncatingIfNeeded: soonest)
          let deadline = CoroutineClock().now.advanced(by: delay(entries, soonest)).nanoseconds
          Timers.withTimer(
            at: deadline,
            fiber.pointee.home,
            { timer in
              guard let node = timer.pointee.context?.assumingMemoryBound(to: Waiter.self),
                node.withdraw(.delivered), let fiber = node.pointee.fiber
              else { return }
              fiber.makeReady(currentThread())
            },
            timed
          ) {
            fiber.park(thread, whole)
          }
        } else {
          fiber.park(thread, whole)
        }
        preemptionPoint(.claim, race)
        let winner = Int(race.pointee.winner.load(ordering: .acquiring))
        leaveQueues(entries, waiters, count, winner)
        if winner == count { throw CancellationError() }
        entries[winner].isClosed = waiters[winner].outcome == .closed
        return winner
      }
    }
  }

  /// Makes a node for each channel's clause, and puts it at the end of its queue.
  ///
  /// The caller holds all locks.
  @inline(__always)
  private static func enterQueues(
    _ entries: Entries,
    _ waiters: UnsafeMutablePointer<Waiter>,
    _ count: Int,
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ race: UnsafeMutablePointer<WaitRace>,
    _ thread: ThreadRecord
  ) {
    // Two clauses in one queue become ready together: each is as likely to stand first.
    let isShuffled = namesAChannelTwice(entries, count)
    if isShuffled {
      // What is drawn depends on how many numbers others have drawn.
      noteAccess(nil)
      shuffle(entries, count, thread)
    }
    for place in 0..<count {
      let position = isShuffled ? Int(entries[place].order) : place
      let entry = entries + position
      if let core = entry.pointee.core {
        let node = waiters + position
        node.initialize(to: Waiter(fiber: fiber, slot: entry.pointee.slot))
        node.pointee.race = race
        node.pointee.clause = Int32(truncatingIfNeeded: position)
        node.pointee.lock = core.lock
        let queue = entry.pointee.kind == .send ? core.senders : core.receivers
        node.pointee.queue = queue
        queue.pointee.append(node)
      }
    }
  }

  /// Puts the numbers of the entries into `order`, each order with the same chance.
  @inline(never)
  private static func shuffle(_ entries: Entries, _ count: Int, _ thread: ThreadRecord) {
    for index in 0..<count {
      let place = random(below: index + 1, thread)
      entries[index].order = entries[place].order
      entries[place].order = Int32(truncatingIfNeeded: index)
    }
  }

  private static func namesAChannelTwice(_ entries: Entries, _ count: Int) -> Bool {
    for index in 0..<count where entries[index].core != nil && entries[index].hold == .none {
      return true
    }
    return false
  }

  @inline(__always)
  private static func leaveQueues(
    _ entries: Entries,
    _ waiters: UnsafeMutablePointer<Waiter>,
    _ count: Int,
    _ winner: Int
  ) {
    let thread = currentThread()
    for index in 0..<count where index != winner {
      guard let core = entries[index].core else { continue }
      let node = waiters + index
      let mode = core.lock.acquire(thread)
      if node.pointee.isLinked, let queue = node.pointee.queue { queue.pointee.remove(node) }
      core.lock.release(mode)
    }
  }

  // MARK: - Chance

  /// A random number below `limit`, of 31 bits at most.
  @inline(__always)
  static func random(below limit: Int, _ thread: ThreadRecord) -> Int {
    // A product's upper half instead of a remainder: no division.
    Int(truncatingIfNeeded: (UInt64(cck_thread_random(thread)) &* UInt64(limit)) >> 32)
  }

  /// One of several, each with the same chance, without knowing how many will come.
  ///
  /// The one that comes as number n takes the place with a chance of 1 in n, so that each of n has
  /// 1 / n: the n-th by that, and the others (1 / (n - 1)) · (1 - 1 / n).
  struct Lot {
    var winner = -1
    private var drawn = 0

    init() {}

    @inline(__always)
    mutating func draw(_ index: Int, _ thread: ThreadRecord) {
      drawn &+= 1
      if drawn == 1 || Selection.random(below: drawn, thread) == 0 { winner = index }
    }
  }

  // MARK: - Locks

  /// Takes the lock of an entry's channel if that needs no waiting.
  ///
  /// - Returns: False if it does, or may.
  @inline(__always)
  static func tryLock(
    _ entry: UnsafeMutablePointer<SelectEntry>,
    _ lock: UnsafeMutablePointer<Lock>,
    _ thread: ThreadRecord
  ) -> Bool {
    switch lock.tryAcquire(thread) {
    case CCK_LOCK_HELD_BIASED: entry.pointee.hold = .biased
    case CCK_LOCK_HELD_SHARED: entry.pointee.hold = .shared
    // Nothing of the user's runs in a section, so this is not inside another one: an earlier entry of
    // the same channel has taken the lock.
    case CCK_LOCK_HELD_ALREADY: entry.pointee.hold = .none
    default: return false
    }
    return true
  }

  /// Takes the locks of all channels, each once, in the order of their addresses, waiting for them.
  ///
  /// Selects that wait for a lock hold only such with lower addresses, so none waits for itself over
  /// others. Those that only try (`lockAndLook`) do not wait.
  @inline(never)
  private static func lockInOrder(_ entries: Entries, _ count: Int, _ thread: ThreadRecord) {
    sort(entries, count)
    var previous: UnsafeMutablePointer<ChannelCore>?
    for place in 0..<count {
      let entry = entries + Int(entries[place].order)
      guard let core = entry.pointee.core else { continue }
      if core == previous {
        entry.pointee.hold = .none
      } else {
        entry.pointee.hold =
          core.lock.acquire(thread) == CCK_LOCK_TAKEN_BIASED ? .biased : .shared
      }
      previous = core
    }
  }

  /// Sorts the numbers of the entries in `order` by the addresses of their channels: a heap sort.
  private static func sort(_ entries: Entries, _ count: Int) {
    for index in 0..<count { entries[index].order = Int32(truncatingIfNeeded: index) }
    func address(_ place: Int) -> UInt { UInt(bitPattern: entries[Int(entries[place].order)].core) }
    func swap(_ one: Int, _ other: Int) {
      (entries[one].order, entries[other].order) = (entries[other].order, entries[one].order)
    }
    func sink(_ start: Int, _ end: Int) {
      var parent = start
      while true {
        var child = 2 * parent + 1
        guard child < end else { return }
        if child + 1 < end, address(child) < address(child + 1) { child += 1 }
        guard address(parent) < address(child) else { return }
        swap(parent, child)
        parent = child
      }
    }
    for start in stride(from: count / 2 - 1, through: 0, by: -1) { sink(start, count) }
    for end in stride(from: count - 1, to: 0, by: -1) {
      swap(0, end)
      sink(0, end)
    }
  }

  /// Leaves the locks that the first `count` entries have taken.
  @inline(__always)
  static func unlockAll(_ entries: Entries, _ count: Int) {
    var index = 0
    while index < count {
      let entry = entries + index
      // SAFETY: only entries with a channel take locks.
      switch entry.pointee.hold {
      case .biased: entry.pointee.core.unsafelyUnwrapped.lock.release(CCK_LOCK_TAKEN_BIASED)
      case .shared: entry.pointee.core.unsafelyUnwrapped.lock.release(CCK_LOCK_TAKEN_SHARED)
      case .none: break
      }
      index &+= 1
    }
  }
}
