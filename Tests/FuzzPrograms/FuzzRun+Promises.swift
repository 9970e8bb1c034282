// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Promises: those that are settled by steps, and those that do some work.
extension FuzzRun {
  func settle(_ index: Int, fulfilling: Bool) {
    _ = tick()
    let model = promises[index]
    let wasPending = model.state == .pending
    let number = freshNumber()
    // Before the call: observers are called in it.
    if wasPending {
      model.state = fulfilling ? .fulfilled(number) : .rejected(FuzzFailure(number: number))
    }
    let isFirst =
      fulfilling
      ? model.promise.fulfill(number) : model.promise.reject(FuzzFailure(number: number))
    if isFirst != wasPending { complain("promise \(index) is wrong about who came first") }
    checkOutcome(of: index)
  }

  func cancelPromise(_ index: Int) {
    _ = tick()
    let model = promises[index]
    if model.state == .pending { model.state = .cancelled }
    model.promise.cancel()
    checkOutcome(of: index)
  }

  func awaitPromise(_ index: Int, cancelsPromise: Bool, _ member: FuzzMember) throws {
    let model = promises[index]
    let isCounted = cancelsPromise && model.state == .pending && !Coroutine.isCancelled
    if isCounted { model.interested += 1 }
    do {
      let outcome = try park(
        member,
        FuzzWait(operation: "await \(index)", promise: index),
        isInstant: model.state != .pending
      ) {
        try model.promise.settled(
          onCancellation: cancelsPromise ? .cancelPromise : .leavePromise
        )
      }
      if isCounted { model.interested -= 1 }
      if !model.agrees(with: outcome) {
        complain("promise \(index) came to \(outcome), not \(model.state)")
      }
    } catch {
      if isCounted {
        model.interested -= 1
        if model.interested == 0, model.state == .pending { model.state = .cancelled }
      }
      checkOutcome(of: index)
      throw error
    }
  }

  func observe(_ index: Int) {
    _ = tick()
    let model = promises[index]
    model.observers += 1
    let observed = model.observed
    _ = model.promise.then { value in observed.add(value) }
  }

  private func checkOutcome(of index: Int) {
    let model = promises[index]
    let isRight = model.promise.outcome.map(model.agrees) ?? (model.state == .pending)
    if !isRight {
      complain("promise \(index) came to \(model.promise.outcome.map { "\($0)" } ?? "nothing")")
    }
  }

  /// Each observer has been called once with what there was to see.
  func checkObservers(of model: PromiseModel, _ index: Int) {
    checkOutcome(of: index)
    var expected: [Int] = []
    if case .fulfilled(let value) = model.state {
      expected = Array(repeating: value, count: model.observers)
    }
    if model.observed.values != expected {
      complain("observers of promise \(index) saw \(model.observed.values), not \(expected)")
    }
  }

  /// Promises whose work takes these times, awaited together.
  func work(_ times: [Int], _ combination: FuzzCombination, _ member: FuzzMember) throws {
    guard !Coroutine.isCancelled else { return }
    let began = now
    let promises = times.map { time in
      Promise<Int> {
        try Coroutine.sleep(for: .microseconds(time))
        return time
      }
    }
    let wait = FuzzWait(operation: "\(combination)", isTimed: true)
    let (longest, shortest) = (times.max() ?? 0, times.min() ?? 0)
    func check(_ seen: [Int], _ expected: [Int], after time: Int) {
      if seen != expected { complain("\(combination) of \(times) came to \(seen)") }
      if now != began + Int64(time) * 1000 {
        complain("\(combination) of \(times) took \(now - began) ns")
      }
    }
    do {
      switch combination {
      case .awaitAll:
        let values = try park(member, wait, isLoose: true) {
          try awaitAll(promises).map { try $0.get() }
        }
        check(values, times, after: longest)
      case .all:
        let values = try park(member, wait, isLoose: true) { try Promise.all(promises).await() }
        check(values, times, after: longest)
      case .race:
        let value = try park(member, wait, isLoose: true) { try Promise.race(promises).await() }
        check([value], [shortest], after: shortest)
      case .any:
        let value = try park(member, wait, isLoose: true) { try Promise.any(promises).await() }
        check([value], [shortest], after: shortest)
      }
    } catch let error as PromiseError {
      // Those that do the work can be cancelled before the one that waits for it.
      letTimePass()
      if !member.mayBeCancelled {
        complain("\(combination) of \(times) failed: \(error)")
      }
    }
  }
}
