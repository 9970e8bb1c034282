// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import Synchronization

/// An event loop's way to bring a coroutine home: the inbox, and a nudge to the thread.
package let postToLoop: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void =
  {
    home,
    fiber in
    // SAFETY: the types are those that `makeReady` passes.
    let home = home.assumingMemoryBound(to: Home.self)
    _ = home.post(fiber.assumingMemoryBound(to: InboxLink.self))
    home.wakeForPost()
  }

/// The raw part of a scheduler: run queue, inbox, timers.
///
/// A home has one *turn*: whoever holds it (an event loop's thread; the dispatch job that drains a
/// queue) runs its coroutines, one at a time. Only the holder touches the run queue and the timers,
/// and only the holder resumes coroutines, so a wake-up that comes while a coroutine is still on its
/// way to sleep cannot run it on two stacks: it waits in the inbox until the switch is done.
///
/// Invariants:
/// - H1. `runFirst`…`timers` belong to the holder of the turn.
/// - H2. `inbox` holds links pushed by anyone, newest first; the holder takes them all at once.
/// - H3. Memory of homes is never unmapped, only used again: a late wake-up of a loop that has just
///   ended touches valid memory, and finds a closed inbox or a harmless parker.
@usableFromInline
package struct Home: ~Copyable {
  /// The loop's own stack, while a coroutine runs.
  ///
  /// First field.
  @usableFromInline package var context: cck_context_t
  /// Ready coroutines, first come first served.
  @usableFromInline package var runFirst: UnsafeMutablePointer<Fiber>?
  @usableFromInline package var runLast: UnsafeMutablePointer<Fiber>?
  /// Direct switches left before the loop looks at its inbox and timers again.
  @usableFromInline package var handOvers: Int32
  /// What `handOvers` starts from; 0 where every switch must pass through the loop, because it swaps
  /// exclusivity records or chooses the order itself.
  @usableFromInline package var handOverLimit: Int32
  /// When the holder of the turn last looked at the clock.
  ///
  /// Dumps tell by this since when a coroutine waits: a clock read for each wait would cost as much as the wait.
  @usableFromInline package var lookedAt: Int64
  /// Coroutines at the front of the run queue that were put there to run before whatever started
  /// the first of them goes on.
  ///
  /// Counted for `TurnCore.startHere`, which starts from zero, and for `SteppedLoop.step`.
  package var urgent: Int
  /// Coroutines carry their exclusivity records from thread to thread.
  @usableFromInline package var migrates: Bool
  /// The scheduler need not hear of launches and ends; an event loop, that is.
  @usableFromInline package var isPlain: Bool
  /// More coroutines live here than the processor's own cache has room for; renewed whenever the loop resumes one.
  package var isCrowded: Bool
  /// Those for whom `isPlain` is false: the scheduler's own kind, censuses, a trace.
  var listeners: Int32
  /// `handOverLimit` while nothing is recorded.
  @usableFromInline var usualHandOvers: Int32
  /// Each switch passes through the loop, because it is recorded; see `Home+Trace.swift`.
  package var isTraced: Bool
  /// Its number in a trace, under the session's.
  package var traceLane: UInt32
  /// Coroutines launched here, and coroutines that ended here, so far.
  ///
  /// Written with the turn. A coroutine of a pool may end elsewhere than where it was launched.
  @usableFromInline let began: Atomic<Int>
  @usableFromInline let ended: Atomic<Int>
  /// The pool that this is a loop of; not retained here.
  @usableFromInline package var pool: UnsafeMutableRawPointer?
  /// A pool's loop: coroutines that have not started.
  @usableFromInline package let unstarted: UnsafeMutablePointer<UnstartedList>
  /// Posted links.
  let inbox: LinkStack
  /// Brings a coroutine to this home from elsewhere.
  @usableFromInline package var postFiber:
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  /// The stack of the coroutine that ended last.
  ///
  /// It may still be in use by the switch away from it, so it is not in the pool; whoever starts a
  /// coroutine is not on it, and may take it.
  @usableFromInline package var spareStack: UnsafeMutablePointer<cck_stack_t>?
  /// The `Scheduler` that this is part of; not retained here.
  @usableFromInline package var scheduler: UnsafeMutableRawPointer?
  /// Sleepers and deadlines.
  package var timers: TimerWheel
  /// Coroutines that were sent to a home that migrates, by whomever.
  let sent: Atomic<Int>
  /// How often the loop has slept; written with the turn.
  let sleeps: Atomic<Int>
  /// The loop naps; see `Home+Nap.swift`.
  let isNapping: Atomic<Bool>
  /// Where an event loop's thread sleeps.
  package let parker: UnsafeMutablePointer<cck_parker_t>
  /// An event loop's way to wait for descriptors; made when it is needed first, and kept with the home: the
  /// parker rings it.
  ///
  /// Retained here, by hand: a home is in memory that the compiler counts references in at each use.
  // SAFETY: set once, by the holder of the turn; released when the home's memory is (`deinit`), which is never, once the
  // home has been in use (H3).
  package var reactor: Unmanaged<Reactor>?
  /// The reactor's number if it watches descriptors for good (`Reactor.watcher`); else 0.
  package var watcher: UInt64
  /// The processor's counter when the loop last looked at the clock, and how much it may go on until the next look.
  @usableFromInline package var lookTicks: UInt64
  @usableFromInline package var lookPeriod: UInt64
  /// Coroutines of this home that wait for descriptors.
  package var descriptorWaits: Int
  /// The system's number of the thread that has the turn, or of the last that had it; 0 if it is not known.
  package let threadNumber: Atomic<Int32>
  /// The thread that has the turn sleeps in the reactor while coroutines wait for descriptors.
  package var pollsDescriptors: Bool
  /// Objects kept alive for short uses: the places for them, made when there is the first, and kept with the home.
  @usableFromInline package var kept: UnsafeMutablePointer<KeptPlace>?
  /// The coroutine that came back to the loop last, unless it ended; it may have gone on meanwhile.
  var ranLast: UnsafeMutablePointer<Fiber>?
  /// A pool's loop begins what may begin anywhere only while fewer than so many have started here and live (P5); 0: it has
  /// to ask first.
  package var share: Int

  package init() {
    context = cck_context_t()
    runFirst = nil
    runLast = nil
    handOvers = 0
    handOverLimit = 0
    lookedAt = 0
    urgent = 0
    migrates = false
    isPlain = true
    isCrowded = false
    listeners = 0
    usualHandOvers = 0
    isTraced = false
    traceLane = 0
    began = Atomic(0)
    ended = Atomic(0)
    sent = Atomic(0)
    sleeps = Atomic(0)
    isNapping = Atomic(false)
    pool = nil
    unstarted = UnstartedList.make()
    inbox = LinkStack()
    postFiber = postToLoop
    scheduler = nil
    spareStack = nil
    timers = TimerWheel()
    parker = .allocate(capacity: 1)
    cck_parker_initialize(parker)
    reactor = nil
    watcher = 0
    lookTicks = 0
    lookPeriod = .max
    descriptorWaits = 0
    pollsDescriptors = false
    threadNumber = Atomic(0)
    kept = nil
    ranLast = nil
    share = 0
  }

  deinit {
    // Homes in use never come here (H3).
    reactor?.release()
    parker.deallocate()
    unstarted.deinitialize(count: 1)
    unstarted.deallocate()
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// The one behind it in its run queue.
  package var next: UnsafeMutablePointer<Fiber>? {
    pointee.link.next.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Fiber.self) }
  }

  /// The address of the link: the first field.
  @inlinable @inline(__always)
  package var link: UnsafeMutablePointer<InboxLink> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: InboxLink.self)
  }
}

extension UnsafeMutablePointer where Pointee == Home {
  /// A coroutine is about to be put in line here.
  @inlinable @inline(__always)
  package func noteBegin() {
    announceCount()
    pointee.began.store(pointee.began.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  /// A coroutine is about to be sent to a home that migrates, by any thread.
  package func noteSent() {
    pointee.sent.wrappingAdd(1, ordering: .relaxed)
  }

  /// What has been counted here so far, by anybody, for people: observers do not see that it is looked at.
  package var tally: (launched: Int, ended: Int) {
    // In this order: whoever has ended has been launched.
    let ended = pointee.ended.load(ordering: .acquiring)
    let posted = pointee.sent.load(ordering: .relaxed)
    let offered = pointee.unstarted.pointee.sent.load(ordering: .relaxed)
    return (posted + offered + pointee.began.load(ordering: .relaxed), ended)
  }

  /// A coroutine has ended here.
  @inlinable @inline(__always)
  package func noteEnd() {
    announceCount()
    pointee.ended.store(pointee.ended.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  /// Number of coroutines launched here so far.
  package var beganCount: Int {
    announceCount()
    return pointee.began.load(ordering: .acquiring)
      + pointee.unstarted.pointee.sent.load(ordering: .acquiring)
  }

  /// Number of coroutines that have ended here so far.
  package var endedCount: Int {
    announceCount()
    return pointee.ended.load(ordering: .acquiring)
  }

  /// How often the loop has slept so far.
  package var sleepCount: Int { pointee.sleeps.load(ordering: .relaxed) }

  /// How often somebody else has woken the loop so far, or kept it from a sleep.
  package var wakeUpCount: Int { cck_parker_wakes(pointee.parker) }

  /// The counts of a pool's loops are looked at by the others.
  @inlinable @inline(__always)
  func announceCount() {
    #if COROUTINES_CHECKED
    if pointee.pool != nil { preemptionPoint(.pool, self) }
    #endif
  }

  /// Coroutines that live here, not started ones included; from another thread a hint.
  package var live: Int {
    beganCount - endedCount + pointee.unstarted.pointee.moved.load(ordering: .relaxed)
  }

  /// The address of the loop's own context: the first field.
  @inlinable @inline(__always)
  package var context: UnsafeMutablePointer<cck_context_t> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: cck_context_t.self)
  }

  /// Appends a coroutine to the run queue.
  @inlinable @inline(__always)
  package func push(_ fiber: UnsafeMutablePointer<Fiber>) {
    fiber.pointee.link.next = nil
    if let last = pointee.runLast {
      last.pointee.link.next = fiber.link
    } else {
      pointee.runFirst = fiber
    }
    pointee.runLast = fiber
  }

  /// Puts a coroutine before all others: whoever starts another at once goes on right after it.
  @inlinable @inline(__always)
  package func pushFront(_ fiber: UnsafeMutablePointer<Fiber>) {
    fiber.pointee.link.next = pointee.runFirst?.link
    if pointee.runFirst == nil { pointee.runLast = fiber }
    pointee.runFirst = fiber
  }

  /// Takes the first ready coroutine.
  @inlinable @inline(__always)
  package func pop() -> UnsafeMutablePointer<Fiber>? {
    guard let fiber = pointee.runFirst else { return nil }
    remove(first: fiber)
    return fiber
  }

  /// Takes the first ready coroutine if it can be switched to directly: if it has a stack, or one lies
  /// ready for it. (The loop deals with those for which memory must be found.)
  @inlinable @inline(__always)
  package func popForHandOver(_ thread: ThreadRecord) -> UnsafeMutablePointer<Fiber>? {
    guard pointee.handOvers > 0, let fiber = pointee.runFirst ?? refill() else { return nil }
    if fiber.pointee.stack == nil, !prepareFromPool(fiber, thread) { return nil }
    pointee.handOvers &-= 1
    remove(first: fiber)
    return fiber
  }

  /// Takes the ready coroutine that so many are in front of.
  ///
  /// - Precondition: There are more than that.
  package func pop(at index: Int) -> UnsafeMutablePointer<Fiber> {
    // SAFETY: `index` is less than the number of links, and a ready coroutine's link is its first field.
    var previous = pointee.runFirst.unsafelyUnwrapped
    if index == 0 {
      remove(first: previous)
      return previous
    }
    for _ in 1..<index { previous = previous.next.unsafelyUnwrapped }
    let fiber = previous.next.unsafelyUnwrapped
    previous.pointee.link.next = fiber.pointee.link.next
    if pointee.runLast == fiber { pointee.runLast = previous }
    return fiber
  }

  @inlinable @inline(__always)
  package func remove(first fiber: UnsafeMutablePointer<Fiber>) {
    if let next = fiber.pointee.link.next {
      pointee.runFirst = UnsafeMutableRawPointer(next).assumingMemoryBound(to: Fiber.self)
    } else {
      pointee.runFirst = nil
      pointee.runLast = nil
    }
  }
}
