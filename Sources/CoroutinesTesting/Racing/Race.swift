// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Something was to be explored that needs to see inside the library, in a build that does not let it.
public struct NoPreemptionPoints: Error, CustomStringConvertible {
  /// What needs it, and what for.
  let purpose: String

  /// What happened, and what to do.
  public var description: String {
    "\(purpose), which only checked builds allow. Build with the package "
      + "trait CheckedPrimitives: `swift test --traits CheckedPrimitives`, or "
      + "`.package(url: …, traits: [\"CheckedPrimitives\"])`."
  }
}

/// Threads that are run against one another again and again, each time with other moments at which one is
/// held up inside the library and others go on.
///
/// ```swift
/// try Race { Channel<Int>() }
///   .thread { channel in try runBlocking { try channel.send(1) } }
///   .thread { channel in try runBlocking { _ = try channel.receive() } }
///   .explore { channel in try #require(channel.count == 0) }
/// ```
///
/// Each body runs on a thread of its own, with an event loop of its own if it calls `runBlocking`; only one
/// goes at a time. What orders of coroutines on one loop do, `explore` shows; this shows what loops do to one
/// another. Threads are switched before each access to memory of the library's that several threads share:
/// locks, inboxes, the places where loops sleep, flags. Time is virtual, and jumps when all threads sleep.
///
/// A run fails when a body or the check throws, or when no thread can go on: a lost wake-up, or a deadlock. In
/// that case its threads are left behind.
///
/// The exhaustive search leaves out orders that differ only in steps that touch nothing in common (dynamic
/// partial-order reduction: Flanagan, Godefroid, POPL 2005). It knows what the library shares; memory of
/// yours that the bodies share may be read and written, but orders that differ only there may be left out.
/// Bodies must not wait for one another by other means than this library's, nor poll without a park.
public struct Race<State> {
  private let makeState: () throws -> State
  private var bodies: [(State) throws -> Void] = []

  /// A race without threads yet.
  ///
  /// - Parameter makeState: Makes what the bodies share, for each run.
  public init(_ makeState: @escaping () throws -> State) { self.makeState = makeState }

  /// The race with one more thread.
  ///
  /// - Parameter body: What it does. It may share the state, unsynchronised: threads take turns.
  /// - Returns: The race.
  public func thread(_ body: @escaping (State) throws -> Void) -> Race {
    var race = self
    race.bodies.append(body)
    return race
  }

  /// Runs the threads in many orders.
  ///
  /// - Parameters:
  ///   - strategy: How to go through the orders. Of the delays of an exhaustive search each takes a thread's
  ///     turn away, or gives it to another than the next in line.
  ///   - runs: At most so many.
  ///   - replay: The order of an earlier report: only that one is run.
  ///   - check: Called after each run.
  /// - Returns: What was done.
  /// - Throws: `ExplorationFailure`, with the fewest detours that still fail; `ExplorationError` if the bodies
  ///   do not do the same each time; `NoPreemptionPoints` in a build that is not checked.
  @discardableResult
  public func explore(
    _ strategy: ExplorationStrategy = .exhaustive(),
    runs: Int = 50_000,
    replay: String? = nil,
    check: @escaping (State) throws -> Void = { _ in }
  ) throws -> Exploration {
    guard hasPreemptionPoints else {
      throw NoPreemptionPoints(purpose: "A Race holds threads up inside the library")
    }
    var steps: [RaceStep] = []
    var search: RaceSearch?
    let explorer = Explorer { chooser, isTraced in
      let run = RaceRun(chooser)
      func table() -> String { isTraced ? Self.table(of: run.steps) : "" }
      do {
        let state = try makeState()
        run.perform(bodies.map { body in { try body(state) } })
        steps = run.steps
        if let difference = search?.difference(of: steps) { throw difference }
        if let error = run.failure { throw error }
        try check(state)
        return (nil, table())
      } catch {
        return (error, table())
      }
    }
    if let replay {
      try explorer.run(Schedule(replay).choices, then: FirstComeChooser())
    } else if case .exhaustive(let delays) = strategy {
      search = RaceSearch(delays: delays)
      while let prefix = search?.next, explorer.runs < runs {
        try explorer.run(
          prefix.map(\.choice),
          among: prefix.map(\.count),
          then: FirstComeChooser()
        )
        search?.add(steps)
      }
      if search?.next == nil { explorer.complete() }
    } else {
      try explorer.sample(strategy, runs)
    }
    return explorer.report
  }

  private static func table(of steps: [RaceStep]) -> String {
    var table = StepTable(heading: "step")
    let count = (steps.map(\.thread).max() ?? 0) + 1
    table.names = (1...count).map { "thread \($0)" }
    table.rows = steps.enumerated().map { index, step in
      .init(head: "\(index + 1)", column: step.thread, text: step.text)
    }
    return table.text
  }
}
