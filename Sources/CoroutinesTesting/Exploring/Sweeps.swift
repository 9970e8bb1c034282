// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What a sweep did.
public struct Sweep: Sendable, Hashable {
  /// Places that were hit, one in each run.
  public let places: Int
}

/// A run of a sweep that failed.
public struct SweepFailure: Error, CustomStringConvertible {
  /// What the body threw; a `Deadlock`; what nobody looked at.
  public let error: any Error
  /// The place that was hit in this run, from 1.
  public let place: Int
  /// What ran when.
  public let table: String
  let action: String

  /// All of this.
  public var description: String {
    "With \(action) \(place): \(error)\n\(table)"
  }
}

/// Runs `body` once for each park point of its victims, and cancels the victim there: at the first in the first
/// run, at the second in the second, until a run has no more of them.
///
/// ```swift
/// try sweepCancellation { victim in
///   let channel = Channel<Int>()
///   let sender = launch(name: victim) { try channel.send(1) }
///   launch { _ = channel.receiveIfReady() }
///   try sender.join()
///   try #require(channel.count == 0)  // holds wherever the sender was cancelled
/// }
/// ```
///
/// - Parameter body: What to do, given the name that makes a coroutine a victim; as for `explore`.
/// - Returns: How many places there were.
/// - Throws: `SweepFailure`.
@discardableResult
public func sweepCancellation(_ body: @escaping (String) throws -> Void) throws -> Sweep {
  try sweep("the victim cancelled at park point") { scheduler, place in
    var parks = 0
    scheduler.steppedLoop.afterStep = { coroutine in
      guard coroutine.name == sweepVictim, coroutine.state != .finished else { return }
      parks += 1
      if parks == place { coroutine.cancel() }
    }
    return { parks >= place }
  } body: {
    try body(sweepVictim)
  }
}

/// Runs `body` once for each coroutine that it starts, and lets that one find no memory for its stack.
///
/// - Parameter body: What to do; as for `explore`. The coroutine that runs it always has a stack.
/// - Returns: How many places there were.
/// - Throws: `SweepFailure`.
@discardableResult
public func sweepStackFailures(_ body: @escaping () throws -> Void) throws -> Sweep {
  try sweep("no memory for the stack of coroutine") { scheduler, place in
    var starts = -1
    scheduler.steppedLoop.failsToStart = { _ in
      starts += 1
      return starts == place
    }
    return { starts >= place }
  } body: {
    try body()
  }
}

private let sweepVictim = "victim"

private func sweep(
  _ action: String,
  _ prepare: (TestScheduler, Int) -> () -> Bool,
  body: @escaping () throws -> Void
) throws -> Sweep {
  var place = 1
  while true {
    let scheduler = TestScheduler(name: "sweep")
    let wasHit = prepare(scheduler, place)
    let loop = scheduler.steppedLoop
    let inner = loop.afterStep
    var interleaving = Interleaving()
    loop.afterStep = { [unowned loop] coroutine in
      interleaving.add(coroutine, at: loop.clock)
      inner?(coroutine)
    }
    do {
      try scheduler.run(body)
    } catch {
      throw SweepFailure(error: error, place: place, table: interleaving.table, action: action)
    }
    guard wasHit() else { return Sweep(places: place - 1) }
    place += 1
  }
}
