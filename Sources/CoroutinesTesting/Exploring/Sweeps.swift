// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Coroutines

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
    "With \(action) \(place): \(error)\n\(table)\nThe body must hold wherever that happens: look at what was "
      + "half done at that moment."
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

/// Runs `body` once for each timer that fires in it, and lets that one fire late: what should come after it comes
/// first.
///
/// Timers are what ends `Coroutine.sleep`, `withTimeout`, `After`, and the sleepers of a clock that follows the
/// scheduler. Being late is a timer's good right, and happens whenever a machine is busy.
///
/// ```swift
/// try sweepLateTimers {
///   let answer = Promise<Int>()
///   launch { try Coroutine.sleep(for: .seconds(1)); answer.fulfill(1) }
///   launch { try Coroutine.sleep(for: .seconds(2)); answer.fulfill(2) }
///   let first = try answer.await()
///   try #require([1, 2].contains(first))  // the first sleeper need not be the first to wake
/// }
/// ```
///
/// - Parameters:
///   - lateness: How late, in virtual time; more than what lies between the timers that are to change places.
///   - body: What to do; as for `explore`.
/// - Returns: How many timers there were.
/// - Throws: `SweepFailure`.
@discardableResult
public func sweepLateTimers(
  by lateness: Duration = .seconds(3600),
  _ body: @escaping () throws -> Void
) throws -> Sweep {
  demand(
    lateness > .zero,
    "A timer was to be late by \(lateness); it must be more than zero."
  )
  let nanoseconds = lateness.saturatedNanoseconds
  return try sweep("\(lateness) of lateness for timer") { scheduler, place in
    var fired = 0
    scheduler.steppedLoop.lateness = {
      fired += 1
      return fired == place ? nanoseconds : 0
    }
    return { fired >= place }
  } body: {
    try body()
  }
}

/// Runs `body` once for each point at which one of its coroutines parks, and closes there a channel that the body
/// does not expect to be closed.
///
/// ```swift
/// try sweepCloses { victim in
///   let jobs = victim(Channel<Int>())
///   let producer = launch { try jobs.send(1) { kept.append($0) } }
///   launch { while let job = try? jobs.receive() { done.append(job) } }
///   try? producer.value()
///   try #require(kept + done == [1])  // wherever the channel was closed
/// }
/// ```
///
/// Points count from the first call of `victim`, over all coroutines. Several channels are closed together.
///
/// - Parameter body: What to do, given what makes a channel a victim; as for `explore`.
/// - Returns: How many places there were.
/// - Throws: `SweepFailure`.
@discardableResult
public func sweepCloses(_ body: @escaping (SweptChannels) throws -> Void) throws -> Sweep {
  var channels = SweptChannels()
  return try sweep("the channel closed at park point") { scheduler, place in
    let current = SweptChannels()
    channels = current
    var parks = 0
    scheduler.steppedLoop.afterStep = { coroutine in
      guard !current.closes.isEmpty, coroutine.state != .finished else { return }
      parks += 1
      if parks == place { for close in current.closes { close() } }
    }
    return { parks >= place }
  } body: {
    try body(channels)
  }
}

/// What makes channels the victims of `sweepCloses`.
public final class SweptChannels {
  fileprivate var closes: [() -> Void] = []

  fileprivate init() {}

  /// Lets the sweep close a channel.
  ///
  /// - Parameter channel: The channel.
  /// - Returns: The same one.
  public func callAsFunction<Element>(_ channel: Channel<Element>) -> Channel<Element> {
    closes.append { channel.close() }
    return channel
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
