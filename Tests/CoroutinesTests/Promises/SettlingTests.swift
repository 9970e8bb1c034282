// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 9: a promise settles once.
@Suite struct SettlingTests {
  enum Way: CaseIterable {
    case fulfill
    case reject
    case cancel

    func settle(_ promise: Promise<Int>) {
      switch self {
      case .fulfill: promise.fulfill(1)
      case .reject: promise.reject(Failure(1))
      case .cancel: promise.cancel()
      }
    }
  }

  private func describe(_ promise: Promise<Int>) -> String {
    switch promise.outcome {
    case nil: "pending"
    case .success(let value)?: "value \(value)"
    case .failure(let error as Failure)?: "failure \(error.code)"
    case .failure(let error)?: "\(error as? PromiseError == .cancelled ? "cancelled" : "other")"
    }
  }

  @Test(arguments: Way.allCases, Way.allCases)
  func `what comes later is ignored (rule 9)`(first: Way, second: Way) {
    let promise = Promise<Int>()
    #expect(promise.isPending)
    first.settle(promise)
    let outcome = describe(promise)
    #expect(!promise.isPending)
    second.settle(promise)
    #expect(promise.fulfill(2) == false)
    #expect(promise.reject(Failure(2)) == false)
    #expect(describe(promise) == outcome)
  }

  @Test func `a promise shows what it has come to`() {
    let promise = Promise<Int>()
    #expect(promise.value == nil && promise.error == nil && promise.outcome == nil)
    #expect(!promise.isFulfilled && !promise.isRejected)
    #expect(promise.fulfill(3))
    #expect(promise.isFulfilled && !promise.isRejected)
    #expect(promise.value == 3 && promise.error == nil)
    let failed = Promise<Int>.rejected(Failure(4))
    #expect(failed.isRejected && !failed.isFulfilled)
    #expect(failed.value == nil && failed.error as? Failure == Failure(4))
    #expect(Promise.fulfilled(5).value == 5)
  }

  @Test func `observers are called once, in the order of their registration`() {
    let log = SharedLog<String>()
    let promise = Promise<Int>()
    promise.then { log.add("1: \($0)") }
    promise.catch { _ in log.add("never") }
    promise.then { log.add("2: \($0)") }
    promise.finally { log.add("3") }
    promise.fulfill(7)
    promise.fulfill(8)
    promise.then { log.add("4: \($0)") }
    #expect(log.entries == ["1: 7", "2: 7", "3", "4: 7"])
  }

  @Test func `a promise follows another, whatever comes of it`() {
    for way in Way.allCases {
      let (one, other) = (Promise<Int>(), Promise<Int>())
      one.follow(other)
      #expect(one.isPending)
      way.settle(other)
      #expect(describe(one) == describe(other))
    }
    let late = Promise<Int>()
    late.follow(.fulfilled(4))
    #expect(late.value == 4)
  }

  @Test func `a promise that follows itself is rejected`() {
    let promise = Promise<Int>()
    promise.follow(promise)
    #expect(promise.error as? PromiseError == .adoptsItself)
    #expect(promise.error.map { "\($0)" }?.contains("Fulfil it with another one") == true)
  }

  @Test func `an observer may settle, observe and cancel the same promise (rule 7)`() {
    let log = SharedLog<Int>()
    let promise = Promise<Int>()
    promise.then { [weak promise] value in
      promise?.fulfill(99)
      promise?.cancel()
      promise?.then { log.add($0 + 1) }
      log.add(value)
    }
    promise.fulfill(1)
    #expect(log.entries == [2, 1])
  }

  @Test func `values and closures are released when the promise is`() {
    let census = Census()
    do {
      let promise = Promise<Counted>()
      let held = Counted(0, census)
      promise.then { _ in _ = held.number }
      promise.onCancel { _ in _ = held.number }
      promise.fulfill(Counted(1, census))
      promise.fulfill(Counted(2, census))
      promise.reject(Failure())
      #expect(census.alive == 2)
    }
    #expect(census.alive == 0)
  }

  @Test func `closures are released as soon as the promise is settled`() {
    let census = Census()
    let promise = Promise<Int>()
    do {
      let held = Counted(0, census)
      promise.then { _ in _ = held.number }
      promise.onCancel { _ in _ = held.number }
    }
    #expect(census.alive == 1)
    promise.fulfill(1)
    #expect(census.alive == 0)
  }

  @Test func `a long chain goes away without recursion`() {
    let census = Census()
    do {
      let first = Promise<Counted>()
      var last = first
      for _ in 0..<2_000 { last = last.then { $0 } }
      first.fulfill(Counted(1, census))
      #expect(last.value?.number == 1)
    }
    #expect(census.alive == 0)
  }
}
