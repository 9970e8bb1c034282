// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What `checkLinearizability` does.
public struct LinearizabilityOptions: Sendable {
  /// Scenarios: random lists of operations for each worker.
  public var scenarios = 100
  /// Workers, each a coroutine.
  public var workers = 3
  /// Operations of each worker.
  public var operations = 3
  /// Orders tried for each scenario, at most.
  public var runs = 300
  /// Another coroutine cancels workers, at moments that depend on the order.
  public var cancels = true
  /// For the scenarios.
  public var seed: UInt64 = 1

  /// A hundred scenarios of three workers with three operations each.
  public init() {}
}

/// What `checkLinearizability` did.
public struct LinearizabilityReport: Sendable, Hashable {
  /// Scenarios.
  public let scenarios: Int
  /// Histories that were checked.
  public let histories: Int
}

/// A history that no order of whole operations explains.
public struct LinearizabilityViolation: Error, CustomStringConvertible {
  /// The calls and returns.
  public let history: String
  /// What happened.
  public var description: String {
    "No order of whole operations does this:\n\(history)\nOne of these calls sees, or leaves behind, what is "
      + "between the beginning and the end of another; or the specification says too little."
  }
}

/// Checks that an object does under concurrent calls what its specification does when they come one after
/// the other: runs random scenarios in many orders, and looks for an order of whole operations that
/// explains each history.
///
/// Operations that wait are part of it: a call that waits for ever though the specification ends it is
/// a violation, as is the opposite. A cancelled call must be as if it had never begun.
///
/// ```swift
/// try checkLinearizability(Flag(), of: [.pass, .open]) { Gate() } perform: { gate, operation in
///   switch operation {
///   case .pass: try gate.pass(); return "passed"
///   case .open: gate.open(); return "opened"
///   }
/// }
/// ```
///
/// - Parameters:
///   - specification: In its initial state.
///   - operations: What workers may call; each scenario draws from these.
///   - options: How much to do.
///   - make: Makes the object.
///   - perform: Calls it; may park. `CancellationError` must come out; other errors are outcomes, to be
///     returned as such.
/// - Returns: What was done.
/// - Throws: `ExplorationFailure` with a `LinearizabilityViolation`, or with what else went wrong.
@discardableResult
public func checkLinearizability<Specification: SequentialSpecification, Subject>(
  _ specification: Specification,
  of operations: [Specification.Operation],
  options: LinearizabilityOptions = LinearizabilityOptions(),
  _ make: @escaping () -> Subject,
  perform: @escaping (Subject, Specification.Operation) throws -> Specification.Outcome
) throws -> LinearizabilityReport {
  var numbers = SplitMix64(seed: options.seed)
  var histories = 0
  for scenario in 0..<options.scenarios {
    let scripts = (0..<options.workers).map { _ in
      (0..<options.operations).compactMap { _ in operations.randomElement(using: &numbers) }
    }
    let victim =
      options.cancels && scenario % 2 == 1
      ? Int.random(in: 0..<options.workers, using: &numbers) : nil
    let patience = Int.random(in: 0..<options.workers * options.operations, using: &numbers)
    let body = { () throws -> Void in
      let history = Recorder<Specification>()
      let subject = make()
      let workers = scripts.enumerated().map { worker, script in
        launch(name: "worker \(worker + 1)") {
          for operation in script {
            let call = history.calls.begin(operation, by: worker)
            do {
              let outcome = try perform(subject, operation)
              history.calls.end(call, outcome)
            } catch is CancellationError where Coroutine.isCancelled {
              if !history.isOver { history.calls.end(call, nil) }
              return
            }
            // Lets the others in between.
            try Coroutine.yield()
          }
        }
      }
      if let victim {
        for _ in 0..<patience { try Coroutine.yield() }
        workers[victim].cancel()
      }
      // The clock jumps when all wait, or have ended.
      try Coroutine.sleep(for: .seconds(1))
      history.isOver = true
      for worker in workers { worker.cancel() }
      for worker in workers {
        try worker.join()
        if let error = worker.error, !(error is CancellationError) { throw error }
      }
      histories += 1
      guard history.calls.isLinearizable(specification) else {
        throw LinearizabilityViolation(history: history.calls.text)
      }
    }
    // Near the usual order first, then anywhere.
    try explore(.exhaustive(delays: 2), runs: options.runs / 2, body)
    try explore(.random(seed: options.seed &+ UInt64(scenario)), runs: options.runs / 2, body)
  }
  return LinearizabilityReport(scenarios: options.scenarios, histories: histories)
}

/// A history that several coroutines write.
private final class Recorder<Specification: SequentialSpecification> {
  var calls = History<Specification>()
  /// From now on cancellations are not part of the scenario.
  var isOver = false
}
