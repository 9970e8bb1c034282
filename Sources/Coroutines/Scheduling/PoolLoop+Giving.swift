// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A loop that has got short ones more often than this in a row is given the next only after `giftPause`.
private let mostShortTakings = 4
/// Nanoseconds.
private let giftPause: Int64 = 400_000
/// While all others are at work, so many begin here before the loop looks at them again.
private let mostUnasked = 8

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
      let started = home.startedNow
      guard let other = emptiestWithoutWork else {
        // What a loop at work was given would be taken back by whoever runs out of work first, and given again.
        home.pointee.share = started + mostUnasked
        return true
      }
      if started <= other.live {
        home.pointee.share = other.live + 1
        return true
      }
      let count = min((started - other.live + 1) / 2, mostTaken)
      guard home.give(to: pool.homes[other.number], limit: count) > 0 else { return false }
      gaveAt = now
      pool.noteGift(to: other.number)
    }
  }

  /// The number of the loop that may have to be given something, and how many live there; nil: all others are at work.
  private var emptiestWithoutWork: (number: Int, live: Int)? {
    guard pool.mayHaveLoopWithoutWork else { return nil }
    compared += 1
    return pool.emptiest(from: number &+ compared, where: { $0 != home && isWelcome($0) })
  }

  /// It is worth the while to give another loop something: what it got of late was not all too short for that.
  private func isWelcome(_ other: UnsafeMutablePointer<Home>) -> Bool {
    // As in `noteEndOfTaken`.
    if currentPreemptionObserver() != nil { return true }
    return other.shortTakings < mostShortTakings || lookAtClock() - gaveAt >= giftPause
  }
}
