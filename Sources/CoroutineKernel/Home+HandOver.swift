// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Synchronization

// How coroutines that have not started change from one loop of a pool to another.
//
// A loop that has nothing to do takes them (`steal`); a loop that has more than one without work hands them over (`give`, P5).
// Both are one thing: they leave one list, under its lock, with their new home, and enter the other, under its lock.

extension UnsafeMutablePointer where Pointee == Home {
  // MARK: - What loops know of each other

  /// Coroutines that have started here and not ended; with the turn, under the list's lock after `admit`.
  var startedCount: Int { live &- pointee.unstarted.pointee.count.load(ordering: .relaxed) }

  /// The same, with the turn.
  package var startedNow: Int {
    let list = pointee.unstarted
    return list.withLock {
      list.admit()
      return startedCount
    }
  }

  /// The loop looks around or sleeps; from another thread a hint.
  package var isWithoutWork: Bool {
    get { pointee.unstarted.pointee.isWithoutWork.load(ordering: .relaxed) }
    nonmutating set { pointee.unstarted.pointee.isWithoutWork.store(newValue, ordering: .relaxed) }
  }

  /// The loop, which is about to wake up, is to have what lies in its list, and not another, whose home is not emptier; from
  /// another thread a hint.
  ///
  /// Taken by that one it would come back, and all be on one loop (P5).
  package func isAwaited(beside other: UnsafeMutablePointer<Home>) -> Bool {
    self != other && isWithoutWork && live <= other.live
  }

  /// How often in a row what the loop got from others has ended sooner than it could change loops; from another thread a hint.
  package var shortTakings: Int {
    get { pointee.unstarted.pointee.shortTakings.load(ordering: .relaxed) }
    nonmutating set { pointee.unstarted.pointee.shortTakings.store(newValue, ordering: .relaxed) }
  }

  /// How many others have handed over since this was asked last; with the turn.
  package func takeGiftCount() -> Int {
    let gifts = pointee.unstarted.pointee.gifts.load(ordering: .relaxed)
    guard gifts > 0 else { return 0 }
    pointee.unstarted.pointee.gifts.wrappingSubtract(gifts, ordering: .relaxed)
    pointee.share = 0
    return gifts
  }

  /// So many more have come here from other loops than have gone there.
  func noteMoved(_ count: Int) {
    pointee.unstarted.pointee.moved.wrappingAdd(count, ordering: .relaxed)
  }

  // MARK: - Taking and giving

  /// Takes up to half of another loop's unstarted coroutines, the oldest, with the turn.
  ///
  /// - Parameters:
  ///   - victim: A loop of the same pool.
  ///   - limit: At most so many; the victim's lock is held for as long as it takes to go through them.
  /// - Returns: The number taken.
  package func steal(from victim: UnsafeMutablePointer<Home>, limit: Int) -> Int {
    pointee.share = 0
    return Self.move(from: victim, to: self) { min(limit, ($0 + 1) / 2) }
  }

  /// Gives another loop unstarted coroutines of this one, the oldest, with the turn.
  ///
  /// - Parameters:
  ///   - other: A loop of the same pool; whoever calls this wakes it.
  ///   - limit: At most so many.
  /// - Returns: The number given.
  package func give(to other: UnsafeMutablePointer<Home>, limit: Int) -> Int {
    Self.move(from: self, to: other) { min(limit, $0) }
  }

  /// Moves the oldest of one list to another.
  ///
  /// - Parameters:
  ///   - giver: Whose list they leave.
  ///   - taker: Whose they enter.
  ///   - choose: How many of so many.
  /// - Returns: How many they were.
  private static func move(
    from giver: UnsafeMutablePointer<Home>,
    to taker: UnsafeMutablePointer<Home>,
    _ choose: (Int) -> Int
  ) -> Int {
    let list = giver.pointee.unstarted
    var first: UnsafeMutablePointer<Fiber>?
    let count = list.withLock {
      list.admit()
      let count = choose(list.pointee.count.load(ordering: .relaxed))
      var last: UnsafeMutablePointer<Fiber>?
      for _ in 0..<count {
        guard let fiber = list.pointee.oldest else { break }
        list.remove(fiber)
        preemptionPoint(.home, fiber)
        fiber.pointee.move(to: taker)
        // In no list: the link leads to the next that was taken.
        fiber.newer = nil
        if let last { last.newer = fiber } else { first = fiber }
        last = fiber
      }
      giver.noteMoved(-count)
      return count
    }
    guard let first else { return 0 }
    unbias(first, count: count)
    taker.noteMoved(count)
    let other = taker.pointee.unstarted
    // Before they can be seen: what its taker has found out about the others no longer holds.
    if taker != currentThread().currentHome {
      other.pointee.gifts.wrappingAdd(count, ordering: .relaxed)
    }
    other.withLock {
      var next: UnsafeMutablePointer<Fiber>? = first
      while let fiber = next {
        next = fiber.newer
        other.append(fiber)
      }
    }
    return count
  }

  /// Ends the bias of the locks of coroutines that will not run where they were made.
  ///
  /// Of locks that are the caller's own that costs nothing; else a barrier, which takes microseconds.
  static func unbias(_ first: UnsafeMutablePointer<Fiber>, count: Int) {
    let thread = currentThread()
    // Who has changed loops before, or was launched from elsewhere, has none.
    var isBiased = false
    var isForeign = false
    forEach(first, count) {
      guard cck_lock_is_shared($0.joinLock) == 0 else { return }
      isBiased = true
      if cck_lock_is_biased_to($0.joinLock, thread) == 0 { isForeign = true }
    }
    guard isBiased else { return }
    forEach(first, count) { cck_lock_begin_unbias($0.joinLock) }
    // L4: the barrier is for the owner, who is not inside if it is here.
    if isForeign { cck_lock_revocation_barrier() }
    forEach(first, count) { cck_lock_end_unbias($0.joinLock) }
  }

  private static func forEach(
    _ first: UnsafeMutablePointer<Fiber>,
    _ count: Int,
    _ body: (UnsafeMutablePointer<Fiber>) -> Void
  ) {
    var next: UnsafeMutablePointer<Fiber>? = first
    for _ in 0..<count {
      guard let fiber = next else { return }
      next = fiber.newer
      body(fiber)
    }
  }
}
