// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// The untyped part of `select`: decides which clause wins, and moves its value.
///
/// After Go's `selectgo`: lock all channels in the order of their addresses, look for a clause that is
/// ready, else enter all queues, unlock, park, and leave the queues in which the select lost.
@usableFromInline
package enum Selection {
  @usableFromInline
  package typealias Entries = UnsafeMutablePointer<SelectEntry>

  /// Decides which clause wins, parking if need be.
  ///
  /// - Parameters:
  ///   - entries: The clauses' entries.
  ///   - count: Number of clauses.
  /// - Returns: The winner's index. The `outcome` of its entry says whether its channel was closed.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @usableFromInline
  package static func decide(_ entries: Entries, _ count: Int) throws -> Int {
    demand(count > 0, "A select without clauses would wait for ever. Give it one.")
    let thread = currentThread()
    var fallback: Int?
    var soonest: Int?
    for index in 0..<count {
      switch entries[index].kind {
      case .otherwise:
        demand(fallback == nil, "A select can have one Default clause, not two.")
        fallback = index
      case .after:
        if let best = soonest, entries[best].delay <= entries[index].delay { continue }
        soonest = index
      case .receive, .send: continue
      }
    }
    // Rule 2: with a Default this is no park point, so no cancellation point either.
    let fiber = fallback == nil ? try Parking.begin("select", thread) : nil
    if fallback == nil, let soonest, entries[soonest].delay <= .zero { fallback = soonest }

    lockAll(entries, count, thread)
    if let (index, partner) = poll(entries, count, thread) {
      unlockAll(entries, count)
      if let partner { ResumeToken(partner, .delivered).resume(thread) }
      return index
    }
    if let fallback {
      unlockAll(entries, count)
      return fallback
    }
    // SAFETY: without a Default `Parking.begin` has returned a fiber, or thrown.
    return try park(entries, count, fiber.unsafelyUnwrapped, soonest, thread)
  }

  // MARK: - Pass 1: something ready?

  /// Carries out a ready clause, each with the same chance.
  ///
  /// The caller holds all locks.
  private static func poll(
    _ entries: Entries,
    _ count: Int,
    _ thread: ThreadRecord
  ) -> (Int, UnsafeMutablePointer<Waiter>?)? {
    if let home = thread.currentHome, !home.pointee.isPlain {
      if let chosen = choose(entries, count, home.core, thread),
        let done = carryOut(entries, chosen)
      {
        return done
      }
    }
    var order = RandomOrder(count, thread)
    while let index = order.next() {
      if let done = carryOut(entries, index) { return done }
    }
    return nil
  }

  /// Has a scheduler that decides everything itself choose among the ready clauses.
  ///
  /// - Returns: The clause; nil if it is left to chance, or none is ready.
  private static func choose(
    _ entries: Entries,
    _ count: Int,
    _ scheduler: SchedulerCore,
    _ thread: ThreadRecord
  ) -> Int? {
    guard scheduler.choosesClauses else { return nil }
    var ready: [Int] = []
    var order = RandomOrder(count, thread)
    while let index = order.next() {
      guard let core = entries[index].core else { continue }
      let isSend = entries[index].kind == .send
      if isSend ? core.isReadyToSend() : core.isReadyToReceive() { ready.append(index) }
    }
    return ready.count > 1 ? ready[scheduler.chooseClause(among: ready)] : ready.first
  }

  /// Carries a clause out, if it is ready.
  ///
  /// The caller holds all locks.
  ///
  /// - Returns: The clause, and the party that is to be woken.
  @inline(__always)
  private static func carryOut(
    _ entries: Entries,
    _ index: Int
  ) -> (Int, UnsafeMutablePointer<Waiter>?)? {
    guard let core = entries[index].core else { return nil }
    let slot = entries[index].slot
    entries[index].waiter.outcome = .delivered
    switch entries[index].kind {
    case .receive:
      switch core.decideReceive() {
      case .take(let full, let sender, let free):
        core.pointee.move(slot, full)
        // SAFETY: a waiting sender has its value in its slot.
        if let sender { core.pointee.move(free, sender.pointee.slot.unsafelyUnwrapped) }
        return (index, sender)
      case .meet(let sender):
        // SAFETY: as above.
        core.pointee.move(slot, sender.pointee.slot.unsafelyUnwrapped)
        return (index, sender)
      case .closed:
        entries[index].waiter.outcome = .closed
        return (index, nil)
      case .wait: break
      }
    case .send:
      switch core.decideSend() {
      case .handOver(let receiver):
        // SAFETY: a waiting receiver has a slot.
        core.pointee.move(receiver.pointee.slot.unsafelyUnwrapped, slot)
        return (index, receiver)
      case .keep(let free):
        core.pointee.move(free, slot)
        return (index, nil)
      case .replace(let full):
        // The oldest value comes back in our slot, and is released with it, outside the locks.
        core.pointee.exchange(full, slot)
        entries[index].isLeftOver = true
        return (index, nil)
      case .discard:
        entries[index].isLeftOver = true
        return (index, nil)
      case .closed:
        entries[index].waiter.outcome = .closed
        return (index, nil)
      case .wait: break
      }
    case .after, .otherwise: break
    }
    entries[index].waiter.outcome = .waiting
    return nil
  }

  // MARK: - Pass 2 and 3: wait in all queues, leave those that lost

  private static func park(
    _ entries: Entries,
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
        whole.pointee.clause = Int32(count)
        // Two clauses in one queue become ready together: each is as likely to stand first.
        var order = RandomOrder(count, thread)
        let isShuffled = namesAChannelTwice(entries, count)
        // What is drawn depends on how many numbers others have drawn.
        if isShuffled { noteAccess(nil) }
        for position in 0..<count {
          let index = isShuffled ? order.next() ?? position : position
          guard let core = entries[index].core else { continue }
          let node = waiter(entries, index)
          node.pointee.fiber = fiber
          node.pointee.race = race
          node.pointee.clause = Int32(index)
          node.pointee.lock = core.lock
          let queue = entries[index].kind == .send ? core.senders : core.receivers
          node.pointee.queue = queue
          queue.pointee.append(node)
        }
        unlockAll(entries, count)
        if let soonest {
          let timed = waiter(entries, soonest)
          timed.pointee.fiber = fiber
          timed.pointee.race = race
          timed.pointee.clause = Int32(soonest)
          let deadline = CoroutineClock().now.advanced(by: entries[soonest].delay).nanoseconds
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
        leaveQueues(entries, count, winner)
        if winner == count { throw CancellationError() }
        return winner
      }
    }
  }

  private static func namesAChannelTwice(_ entries: Entries, _ count: Int) -> Bool {
    for index in 0..<count {
      guard let core = entries[index].core else { continue }
      for other in 0..<index where entries[other].core == core { return true }
    }
    return false
  }

  private static func leaveQueues(_ entries: Entries, _ count: Int, _ winner: Int) {
    let thread = currentThread()
    for index in 0..<count where index != winner {
      guard let core = entries[index].core else { continue }
      let node = waiter(entries, index)
      let mode = core.lock.acquire(thread)
      if node.pointee.isLinked, let queue = node.pointee.queue { queue.pointee.remove(node) }
      core.lock.release(mode)
    }
  }

  private static func waiter(_ entries: Entries, _ index: Int) -> UnsafeMutablePointer<Waiter> {
    // SAFETY: the node is the entry's first field, and the entries do not move. Computed, because the
    // address of a field counts as an access, and wakers use the nodes meanwhile.
    UnsafeMutableRawPointer(entries + index).assumingMemoryBound(to: Waiter.self)
  }

  // MARK: - Locks

  /// Takes the locks of all channels, each once, in the order of their addresses.
  private static func lockAll(_ entries: Entries, _ count: Int, _ thread: ThreadRecord) {
    var previous: UnsafeMutablePointer<ChannelCore>?
    while true {
      // The next address, by search: selects are short, and sorting would need memory.
      var next: UnsafeMutablePointer<ChannelCore>?
      var owner = 0
      for index in 0..<count {
        guard let core = entries[index].core, previous.map({ $0 < core }) ?? true else { continue }
        if next.map({ core < $0 }) ?? true {
          next = core
          owner = index
        }
      }
      guard let core = next else { return }
      entries[owner].mode = core.lock.acquire(thread)
      previous = core
    }
  }

  /// Leaves them again.
  ///
  /// The first entry with a channel is the one that took its lock.
  private static func unlockAll(_ entries: Entries, _ count: Int) {
    for index in 0..<count {
      guard let core = entries[index].core else { continue }
      if (0..<index).contains(where: { entries[$0].core == core }) { continue }
      core.lock.release(entries[index].mode)
    }
  }
}

/// The numbers below a count in random order.
///
/// Every order has the same chance: going round from a random start would favour the clause that
/// comes after some that are not ready. Past 64 numbers it does just that, to need no memory.
private struct RandomOrder {
  private let count: Int
  private let thread: ThreadRecord
  private var left: Int
  /// Bit set of the numbers that have not come yet.
  private var untried = UInt64.max

  init(_ count: Int, _ thread: ThreadRecord) {
    self.count = count
    self.thread = thread
    left = count
    if count < 64 { untried = (1 << UInt64(count)) &- 1 }
    if count > 64 { untried = UInt64(cck_thread_random(thread)) }
  }

  mutating func next() -> Int? {
    guard left > 0 else { return nil }
    defer { left -= 1 }
    if count > 64 { return Int((untried &+ UInt64(left)) % UInt64(count)) }
    var candidates = untried
    for _ in 0..<(Int(cck_thread_random(thread) >> 1) % left) { candidates &= candidates &- 1 }
    let index = candidates.trailingZeroBitCount
    untried &= ~(1 << UInt64(index))
    return index
  }
}
