// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A loop that has got short ones more often than this in a row is given the next only after `giftPause`.
private let mostShortTakings = 4
/// Nanoseconds.
private let giftPause: Int64 = 400_000
/// A loop is given something although it is at work if a quarter and so many more have started here than live there.
private let manyMore = 8

// What a loop does not begin itself (P5).
//
// What has started stays, so where a coroutine begins decides where its work will be done, however long it lives; and when it
// begins nobody can tell how much that will be. So coroutines that live on are counted, and each begins where the fewest are.
// One that soon ends does not count for long, and where these come one after the other all begin on one loop.
extension PoolLoop {
  /// Gives others of what has not started here, until what may begin here may (P5).
  ///
  /// - Returns: False if nothing is left.
  func balance() -> Bool {
    while true {
      guard let other = loopToCompare else {
        home.pointee.share = .max
        return true
      }
      let started = home.startedNow
      if started < other.share {
        home.pointee.share = other.share
        return true
      }
      let count = min((started - other.live + 1) / 2, mostTaken)
      guard home.give(to: other.home, limit: count) > 0 else { return false }
      gaveAt = now
      pool.noteGift(to: other.home)
    }
  }

  /// The loop that may have to be given something, how many live there, and how many of this one's may start before it has to.
  private var loopToCompare: (home: UnsafeMutablePointer<Home>, live: Int, share: Int)? {
    guard pool.homes.count > 1 else { return nil }
    compared = (compared + 1) % (pool.homes.count - 1)
    if pool.mayHaveLoopWithoutWork,
      let other = pool.emptiest(
        from: number + 1 + compared,
        where: { $0 != home && isWelcome($0) }
      )
    {
      return (other.home, other.live, other.live + 1)
    }
    let other = pool.homes[(number + 1 + compared) % pool.homes.count]
    let live = other.live
    return (other, live, live + live / 4 + manyMore)
  }

  /// It is worth the while to give another loop something: what it got of late was not all too short for that.
  private func isWelcome(_ other: UnsafeMutablePointer<Home>) -> Bool {
    // As in `noteEndOfTaken`.
    if currentPreemptionObserver() != nil { return true }
    return other.shortTakings < mostShortTakings || lookAtClock() - gaveAt >= giftPause
  }
}
