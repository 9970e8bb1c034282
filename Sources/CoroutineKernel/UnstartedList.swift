// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import Synchronization

/// Coroutines of a pool's loop that have not started, in the order of their launches.
///
/// Its loop takes the newest, whose data is warm, and now and then the oldest; the pool's other loops,
/// when they have nothing to do, take the oldest, which in a tree of launches has the most under it. A
/// coroutine that is joined is taken from wherever it stands. So this is a list with a lock and not one of
/// the usual deques, which give no way into their middle. In a program that keeps all loops busy the lock
/// is hardly ever contended: then it is biased to the loop, for which it costs no atomic operation (L7).
///
/// What others than the loop launch *arrives* first: it is pushed to a stack, without the lock, and whoever takes the lock
/// puts all that has arrived into the list. So one who launches and a loop that takes do not pass a line of the cache back
/// and forth for each coroutine: the loop takes that of the arrivals once for many.
///
/// Invariants:
/// - U1. `fiber.isUnclaimed` says that the fiber is in the list of `fiber.home`, or among the arrivals there. Both change
///   under that list's lock only, but for an arrival, which nobody has had before; and the taker sets the home to its own.
///   Others look at them under the lock of the list that they take for the home's: between two lists the taker has written
///   the first one, then the home, which is a release for that reason.
/// - U2. A fiber in a list has no stack, and its body has not begun.
/// - U3. Whoever takes one out of the list has admitted the arrivals under the same hold of the lock.
@usableFromInline
package struct UnstartedList: ~Copyable {
  /// Bytes of a line of the processor's cache.
  private static var line: Int { 64 }

  /// Guards the rest.
  ///
  /// First field.
  fileprivate var lock: cck_lock_t
  var oldest: UnsafeMutablePointer<Fiber>?
  fileprivate var newest: UnsafeMutablePointer<Fiber>?
  /// Number of members; may be read without the lock, as a hint.
  @usableFromInline let count: Atomic<Int>
  /// Nothing can be added any more.
  fileprivate var isClosed: Bool
  /// How often the keeper has taken the lock since anybody else has; under the lock, and not counted while it is biased.
  ///
  /// Atomic because to change a plain field counts as changing all of them, the lock included.
  fileprivate let takings: Atomic<UInt32>
  /// How many more coroutines have come here from the pool's other loops than have gone there; written under a lock, this one
  /// but for a claim.
  let moved: Atomic<Int>
  /// The record of the thread whose loop this belongs to, which keeps the lock (L7); 0 for none.
  ///
  /// The last of its line: the rest is in one of its own.
  fileprivate let keeper: Atomic<UInt>
  /// What others have launched here.
  fileprivate let arrivals: LinkStack
  /// How many have arrived so far.
  let sent: Atomic<Int>
  /// What the pool's other loops are told about this one; see `Home+HandOver.swift`.
  let isWithoutWork: Atomic<Bool>
  let shortTakings: Atomic<Int>
  /// How many others have handed over that the loop has not noted yet.
  let gifts: Atomic<Int>

  /// A list in lines of its own.
  static func make() -> UnsafeMutablePointer<UnstartedList> {
    let list = UnsafeMutableRawPointer.allocate(byteCount: 2 * line, alignment: line)
      .bindMemory(to: UnstartedList.self, capacity: 1)
    list.initialize(to: UnstartedList())
    return list
  }

  private init() {
    lock = cck_lock_make_shared()
    oldest = nil
    newest = nil
    count = Atomic(0)
    isClosed = false
    takings = Atomic(0)
    moved = Atomic(0)
    keeper = Atomic(0)
    arrivals = LinkStack()
    sent = Atomic(0)
    isWithoutWork = Atomic(false)
    shortTakings = Atomic(0)
    gifts = Atomic(0)
  }

  /// As new, for a home that is used again.
  mutating func beginAnew() {
    // Biased, perhaps, to the thread that had it.
    lock = cck_lock_make_shared()
    takings.store(0, ordering: .relaxed)
    keeper.store(0, ordering: .relaxed)
    isClosed = false
    arrivals.open()
    moved.store(0, ordering: .relaxed)
    sent.store(0, ordering: .relaxed)
    isWithoutWork.store(false, ordering: .relaxed)
    shortTakings.store(0, ordering: .relaxed)
    gifts.store(0, ordering: .relaxed)
  }
}

/// Where a coroutine is, as seen by a loop of its pool.
package enum Standing {
  /// In the loop's list. Then whatever concerns its children or waits need not be done: there are none.
  case unclaimed
  /// With the loop, which alone can start it, or has.
  case here
  /// Taken over by another loop.
  case elsewhere
}

extension UnsafeMutablePointer where Pointee == UnstartedList {
  private var lock: UnsafeMutablePointer<cck_lock_t> {
    // SAFETY: the first field.
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: cck_lock_t.self)
  }

  /// The keeper makes the lock its own again when it has taken it so often in a row.
  ///
  /// A barrier costs both threads together about as much as so many compare-and-swaps. So at worst, when somebody comes for
  /// the lock just after that each time, it costs twice what it would cost without; at best nothing.
  private static var takingsInARow: UInt32 {
    #if COROUTINES_CHECKED
    2
    #else
    1024
    #endif
  }

  @inline(__always)
  func withLock<Result>(_ body: () -> Result) -> Result {
    let thread = currentThread()
    let mode = lock.acquireIfBiased(thread) ? CCK_LOCK_TAKEN_BIASED : acquireSlowly(thread)
    defer { lock.release(mode) }
    return body()
  }

  @inline(never)
  private func acquireSlowly(_ thread: ThreadRecord) -> LockMode {
    guard UInt(bitPattern: thread) == pointee.keeper.load(ordering: .relaxed) else {
      lock.acquireFromKeeper()
      pointee.takings.store(0, ordering: .relaxed)
      return CCK_LOCK_TAKEN_SHARED
    }
    let mode = lock.acquire(thread)
    guard mode == CCK_LOCK_TAKEN_SHARED else { return mode }
    let takings = pointee.takings.load(ordering: .relaxed) + 1
    let isEnough = takings == Self.takingsInARow
    pointee.takings.store(isEnough ? 0 : takings, ordering: .relaxed)
    if isEnough { cck_lock_keep(lock, thread) }
    return mode
  }

  /// Adds one at the end; under the lock.
  func append(_ fiber: UnsafeMutablePointer<Fiber>) {
    fiber.older = pointee.newest
    fiber.newer = nil
    if let newest = pointee.newest { newest.newer = fiber } else { pointee.oldest = fiber }
    pointee.newest = fiber
    fiber.isUnclaimed = true
    change(count: 1)
  }

  /// Puts what has arrived at the end, in the order of the launches; under the lock (U3).
  ///
  /// - Returns: Something had.
  @discardableResult
  func admit() -> Bool {
    preemptionPoint(.look, self)
    var next = pointee.arrivals.takeAll()
    guard next != nil else { return false }
    while let link = next {
      next = link.pointee.next
      // SAFETY: only links of fibers are pushed there (`send`), and a fiber's is its first field.
      append(UnsafeMutableRawPointer(link).assumingMemoryBound(to: Fiber.self))
    }
    return true
  }

  /// Takes one out; under the lock.
  func remove(_ fiber: UnsafeMutablePointer<Fiber>) {
    let (older, newer) = (fiber.older, fiber.newer)
    if let older { older.newer = newer } else { pointee.oldest = newer }
    if let newer { newer.older = older } else { pointee.newest = older }
    fiber.older = nil
    fiber.isUnclaimed = false
    change(count: -1)
  }

  private func change(count change: Int) {
    preemptionPoint(.look, self)
    pointee.count.store(pointee.count.load(ordering: .relaxed) &+ change, ordering: .relaxed)
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// It lies in its home's list of unstarted coroutines, or is on its way there (U1).
  fileprivate var isUnclaimed: Bool {
    get { pointee.unclaimed.load(ordering: .relaxed) }
    nonmutating set { pointee.unclaimed.store(newValue, ordering: .relaxed) }
  }

  /// Its neighbour in a list of unstarted ones: the link, free because it is in no run queue (F2).
  var newer: UnsafeMutablePointer<Fiber>? {
    get { next }
    nonmutating set { pointee.link.next = newValue?.link }
  }

  /// The other one: what it waits on, which is nothing before it starts.
  fileprivate var older: UnsafeMutablePointer<Fiber>? {
    get { pointee.waitsOn?.assumingMemoryBound(to: Fiber.self) }
    nonmutating set { pointee.waitsOn = newValue.map { UnsafeMutableRawPointer($0) } }
  }
}

extension UnsafeMutablePointer where Pointee == Home {
  /// There are unstarted coroutines here; from another thread a hint.
  package var hasUnstarted: Bool { unstartedCount > 0 }

  /// Number of unstarted coroutines here, where all that have just arrived count as one; from another thread a hint.
  package var unstartedCount: Int {
    let list = pointee.unstarted
    preemptionPoint(.look, list)
    return list.pointee.count.load(ordering: .relaxed) &+ (list.pointee.arrivals.hasMembers ? 1 : 0)
  }

  /// The calling thread's loop has this home from now on.
  package func beginKeeping() {
    pointee.unstarted.pointee.keeper.store(UInt(bitPattern: currentThread()), ordering: .relaxed)
  }

  /// Adds a coroutine whose home this is, with the turn.
  ///
  /// - Returns: False if the list is closed.
  package func offer(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    let list = pointee.unstarted
    return list.withLock {
      if list.pointee.isClosed { return false }
      list.append(fiber)
      return true
    }
  }

  /// Adds a coroutine whose home this is, from another thread.
  ///
  /// - Returns: False if the list is closed.
  package func send(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    let list = pointee.unstarted
    fiber.isUnclaimed = true
    // P2 of a pool: counted before it can be seen.
    announceCount()
    list.pointee.sent.wrappingAdd(1, ordering: .relaxed)
    preemptionPoint(.look, list)
    if list.pointee.arrivals.push(fiber.link) { return true }
    announceCount()
    list.pointee.sent.wrappingSubtract(1, ordering: .relaxed)
    fiber.isUnclaimed = false
    return false
  }

  /// Puts the newest unstarted coroutine into the empty run queue, with the turn.
  ///
  /// - Returns: It; nil outside pools.
  @inlinable @inline(__always)
  package func refill() -> UnsafeMutablePointer<Fiber>? {
    pointee.pool == nil ? nil : refillFromList()
  }

  @usableFromInline @inline(never)
  func refillFromList() -> UnsafeMutablePointer<Fiber>? {
    guard let fiber = takeUnstarted(oldest: false, withinShare: true) else { return nil }
    push(fiber)
    return fiber
  }

  /// Takes an unstarted coroutine of this home, with the turn.
  ///
  /// - Parameters:
  ///   - oldest: The oldest, else the newest.
  ///   - withinShare: If it is one that may begin anywhere, only if fewer have started here than are this loop's share.
  /// - Returns: It, if there is one.
  package func takeUnstarted(
    oldest: Bool,
    withinShare: Bool = false
  ) -> UnsafeMutablePointer<Fiber>? {
    guard hasUnstarted else { return nil }
    let list = pointee.unstarted
    return list.withLock {
      // What the share was found to be may have been long ago.
      if list.admit() { pointee.share = 0 }
      guard let fiber = oldest ? list.pointee.oldest : list.pointee.newest else { return nil }
      if withinShare, fiber.pointee.placement == .wide, startedCount >= pointee.share { return nil }
      list.remove(fiber)
      return fiber
    }
  }

  /// Takes a coroutine that has not started from whatever loop of this pool it lies at, with the turn.
  ///
  /// - Returns: False if somebody has taken it already.
  package func claim(_ fiber: UnsafeMutablePointer<Fiber>) -> Bool {
    while true {
      preemptionPoint(.home, fiber)
      let home = fiber.pointee.home
      guard home == self || home.pointee.pool == pointee.pool else { return false }
      let list = home.pointee.unstarted
      let isMine: Bool? = list.withLock {
        list.admit()
        // Taken over by another loop between the look and the lock.
        guard fiber.pointee.hasMoved(to: home) else { return nil }
        guard fiber.isUnclaimed else { return false }
        list.remove(fiber)
        if home != self {
          preemptionPoint(.home, fiber)
          fiber.pointee.move(to: self)
          home.noteMoved(-1)
          noteMoved(1)
        }
        return true
      }
      guard let isMine else { continue }
      if isMine, home != self { Self.unbias(fiber, count: 1) }
      return isMine
    }
  }

  /// Where a coroutine is whose home this was a moment ago.
  package func standing(of fiber: UnsafeMutablePointer<Fiber>) -> Standing {
    pointee.unstarted.withLock {
      preemptionPoint(.home, fiber)
      guard fiber.pointee.hasMoved(to: self) else { return .elsewhere }
      return fiber.isUnclaimed ? .unclaimed : .here
    }
  }

  /// The number of the oldest unstarted coroutine here, from any thread.
  package var oldestUnstarted: UInt64? {
    let list = pointee.unstarted
    return list.withLock {
      list.admit()
      return list.pointee.oldest?.pointee.identifier
    }
  }

  /// Calls `body` with each unstarted coroutine here, the newest first, while they can neither begin nor move.
  package func forEachUnstarted(_ body: (UnsafeMutablePointer<Fiber>) -> Void) {
    guard hasUnstarted else { return }
    let list = pointee.unstarted
    list.withLock {
      list.admit()
      var next = list.pointee.newest
      while let fiber = next {
        next = fiber.older
        body(fiber)
      }
    }
  }

  /// Closes the list if it is empty.
  package func closeUnstarted() -> Bool {
    let list = pointee.unstarted
    return list.withLock {
      list.admit()
      list.pointee.isClosed = list.pointee.newest == nil && list.pointee.arrivals.close()
      return list.pointee.isClosed
    }
  }

  /// Opens it again.
  package func reopenUnstarted() {
    let list = pointee.unstarted
    list.withLock {
      list.pointee.isClosed = false
      list.pointee.arrivals.open()
    }
  }
}
