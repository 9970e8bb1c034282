// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// A loop that has got short ones more often than this in a row is given the next only after `giftPause`.
private let mostShortTakings = 4
/// Nanoseconds.
private let giftPause: Int64 = 400_000
/// While all others are at work, and do not come for what is here, so many begin here before the loop looks at them again.
private let mostUnasked = 8
/// For how long at most a loop leaves to others that are at work what is more than its part.
private let courtesy: Int64 = 300_000
/// For how long it does not, once nobody has come for them.
private let disappointment: Int64 = 30_000_000

// What a loop does not begin itself (P5).
//
// What has started stays, so where a coroutine begins decides where its work will be done, however long it lives; and when it
// begins nobody can tell how much that will be. So coroutines that live on are counted, and each begins where the fewest are.
// One that soon ends does not count for long, and where these come one after the other all begin on one loop.
//
// Of many that are launched at once the loops begin some, come for more, and are at work and without work by turns, each for less
// than a microsecond. So a loop that has begun more than its share leaves the rest in its list for a moment, where the others
// will come for them.
extension PoolLoop {
  /// Gives others of what has not started here, until what may begin here may (P5).
  ///
  /// - Returns: False if nothing is left.
  func balance() -> Bool {
    while true {
      let started = home.startedNow
      guard let other = emptiestWithoutWork else {
        // What a loop at work was given would be taken back by whoever runs out of work first, and given again.
        switch leaveToOthers(started) {
        case .taken: return false
        case .withoutWork: continue
        case .share(let share): home.pointee.share = share
        }
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

  /// How it ended that a loop left something to the others.
  private enum Courtesy {
    /// There is nothing left, or something else to do.
    case taken
    /// Somebody is without work.
    case withoutWork
    /// So many may begin here.
    case share(Int)
  }

  /// Waits for the others, which are all at work, to come for what has not started here, if more has started than is this
  /// loop's part.
  private func leaveToOthers(_ started: Int) -> Courtesy {
    // The time of an explored race stands still while anybody looks.
    guard currentPreemptionObserver() == nil else { return .share(started + mostUnasked) }
    // One that comes alone is not put off for that.
    let extra = home.unstartedCount < fewestAtOnce ? mostUnasked / 2 : 0
    var part = pool.livePerLoop(from: number) + extra
    guard started > part else { return .share(part + 1) }
    let began = lookAtClock()
    repeat {
      guard now >= courteousFrom else { return .share(started + mostUnasked) }
      if now - began >= courtesy { courteousFrom = now + disappointment }
      let isOver = IdleSpin.looks {
        home.hasPost || !home.hasUnstarted || emptiestWithoutWork != nil
      }
      if isOver { return home.hasPost || !home.hasUnstarted ? .taken : .withoutWork }
      if AwakeLoops.count > processors { cck_processor_yield() }
      lookAtClock()
      part = pool.livePerLoop(from: number) + extra
    } while started > part
    return .share(part + 1)
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
