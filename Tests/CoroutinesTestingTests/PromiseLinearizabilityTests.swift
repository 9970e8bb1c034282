// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// A promise with all the ways to settle it.
private struct PromiseSpecification: SequentialSpecification {
  enum Operation: Hashable {
    case await, settled, fulfill(Int), reject(Int), cancel, isPending, isFulfilled, isRejected
  }

  enum Outcome: Hashable {
    case value(Int), rejected(Int), cancelled
    case truth(Bool)
    case done
  }

  private var end: Outcome?
  private var waiting: [Int] = []

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Outcome>] {
    switch operation {
    case .await, .settled:
      if let end { return [Completion(caller, end)] }
      waiting.append(caller)
      return []
    case .fulfill(let value): return settle(.value(value), caller)
    case .reject(let number): return settle(.rejected(number), caller)
    case .cancel: return [Completion(caller, .done)] + settle(.cancelled, caller).dropFirst()
    case .isPending: return [Completion(caller, .truth(end == nil))]
    case .isFulfilled:
      if case .value = end { return [Completion(caller, .truth(true))] }
      return [Completion(caller, .truth(false))]
    case .isRejected:
      switch end {
      case .rejected, .cancelled: return [Completion(caller, .truth(true))]
      default: return [Completion(caller, .truth(false))]
      }
    }
  }

  private mutating func settle(_ outcome: Outcome, _ caller: Int) -> [Completion<Outcome>] {
    guard end == nil else { return [Completion(caller, .truth(false))] }
    end = outcome
    defer { waiting = [] }
    return [Completion(caller, .truth(true))] + waiting.map { Completion($0, outcome) }
  }
}

private struct Rejection: Error { let number: Int }

extension Promise<Int> {
  fileprivate func perform(
    _ operation: PromiseSpecification.Operation
  ) throws -> PromiseSpecification.Outcome {
    func outcome(of body: () throws -> Int) throws -> PromiseSpecification.Outcome {
      do { return .value(try body()) } catch let error as Rejection {
        return .rejected(error.number)
      } catch PromiseError.cancelled { return .cancelled }
    }
    switch operation {
    case .await: return try outcome { try self.await() }
    case .settled:
      let settled = try self.settled()
      return try outcome { try settled.get() }
    case .fulfill(let value): return .truth(fulfill(value))
    case .reject(let number): return .truth(reject(Rejection(number: number)))
    case .cancel:
      cancel()
      return .done
    case .isPending: return .truth(isPending)
    case .isFulfilled: return .truth(isFulfilled)
    case .isRejected: return .truth(isRejected)
    }
  }
}

@Suite(.timeLimit(.minutes(30))) struct PromiseLinearizabilityTests {
  private static let options: LinearizabilityOptions = {
    var options = LinearizabilityOptions()
    options.scenarios = 24
    options.runs = 80
    options.operations = 4
    return options
  }()

  @Test func `a promise settles once, and wakes all who await it (rule 9)`() throws {
    let report = try checkLinearizability(
      PromiseSpecification(),
      of: [
        .await, .await, .settled, .fulfill(1), .reject(2), .cancel, .isPending, .isFulfilled,
        .isRejected,
      ],
      options: Self.options
    ) {
      Promise<Int>()
    } perform: {
      try $0.perform($1)
    }
    #expect(report.histories > 500)
  }

  /// Lets go of an awaiter when it is cancelled, as the ancestors did.
  private final class Forgetful {
    private let promise = Promise<Int>()
    private var isCancelled = false

    func perform(_ operation: PromiseSpecification.Operation) throws
      -> PromiseSpecification.Outcome
    {
      switch operation {
      case .cancel:
        isCancelled = true
        return .done
      case .isPending where isCancelled: return .truth(false)
      default: return try promise.perform(operation)
      }
    }
  }

  @Test func `a cancelled promise that leaves its awaiter asleep is found out`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try checkLinearizability(PromiseSpecification(), of: [.await, .cancel, .isPending]) {
        Forgetful()
      } perform: {
        try $0.perform($1)
      }
    }
    #expect(failure?.error is LinearizabilityViolation)
  }
}
