// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct PromiseTests {
  @Test func `a promise settles once (2.1-32)`() {
    let promise = Promise<Int>()
    #expect(promise.isPending && !promise.isFulfilled && !promise.isRejected)
    #expect(promise.value == nil && promise.error == nil)
    promise.fulfill(value: 1)
    promise.fulfill(value: 2)
    promise.reject(error: Problem(1))
    promise.cancel()
    #expect(!promise.isPending && promise.isFulfilled && !promise.isRejected)
    #expect(promise.value == 1 && promise.error == nil)

    let rejected = Promise<Int>()
    rejected.reject(error: Problem(2))
    rejected.fulfill(value: 1)
    #expect(!rejected.isPending && !rejected.isFulfilled && rejected.isRejected)
    #expect(rejected.value == nil && rejected.error as? Problem == Problem(2))
  }

  @Test func `a constructor runs when the promise is made (2.1-34)`() throws {
    try inCoroutine { () throws in
      var hasRun = false
      let promise = Promise<Int> { fulfill, _ in
        hasRun = true
        fulfill(1)
      }
      #expect(hasRun)
      #expect(promise.value == 1)
    }
  }

  @Test func `a constructor runs for a given queue on it, and without one inline (3.4-20)`() throws
  {
    try inCoroutine { () throws in
      let queue = DispatchQueue(label: "constructor")
      let elsewhere = Promise<Int>(on: queue) { fulfill, _ in
        dispatchPrecondition(condition: .onQueue(queue))
        fulfill(1)
      }
      #expect(try co_await(promise: elsewhere).get() == 1)
      let here = Promise<Int>(on: nil) { fulfill, _ in fulfill(2) }
      #expect(try co_await(promise: here).get() == 2)
    }
  }

  @Test func `a promise can be made on a thread without a queue (3.3-9)`() throws {
    let promise = Cell<Promise<Int>?>(nil)
    let made = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      promise.value = Promise { fulfill, _ in fulfill(1) }
      made.signal()
    }
    made.wait()
    try inCoroutine { () throws in
      #expect(try promise.value.map { try co_await(promise: $0).get() } == 1)
    }
  }

  @Test func `two promises that are made and then awaited overlap`() throws {
    try inCoroutine { () throws in
      let log = Log()
      func later(_ value: Int) -> Promise<Int> {
        Promise { fulfill, _ in
          log("\(value) begins")
          try co_delay(0.01)
          log("\(value) ends")
          fulfill(value)
        }
      }
      let (a, b) = (later(1), later(2))
      #expect(try co_await(promise: a).get() == 1)
      #expect(try co_await(promise: b).get() == 2)
      #expect(log.entries == ["1 begins", "2 begins", "1 ends", "2 ends"])
    }
  }

  @Test func `a lazy promise begins when somebody looks, on its queue`() throws {
    try inCoroutine { () throws in
      let runs = Cell(0)
      let queue = DispatchQueue(label: "lazy")
      let promise = Promise<Int>.lazy(on: queue) { fulfill, _ in
        dispatchPrecondition(condition: .onQueue(queue))
        runs.update { $0 += 1 }
        fulfill(1)
      }
      try co_delay(0.01)
      #expect(runs.value == 0)
      #expect(try co_await(promise: promise).get() == 1)
      #expect(try co_await(promise: promise).get() == 1)
      #expect(runs.value == 1)
      let here = Promise<Int>.lazy { fulfill, _ in fulfill(2) }
      #expect(here.isPending)
      #expect(try co_await(promise: here).get() == 2)
    }
  }

  @Test func `a constructor may wait, and what it throws rejects`() throws {
    try inCoroutine { () throws in
      let promise = Promise<Int> { fulfill, _ in
        try co_delay(0.001)
        fulfill(1)
      }
      #expect(try co_await(promise: promise).get() == 1)
      let failing = Promise<Int> { _, _ in throw Problem(1) }
      #expect(failing.error as? Problem == Problem(1))
    }
  }

  @Test func `a promise that nobody can settle is rejected`() throws {
    try inCoroutine { () throws in
      let forgotten = Promise<Int> { _, _ in }
      #expect(try co_await(promise: forgotten).error != nil)
      let chained = Promise<Int>().then { $0 + 1 }
      #expect(try co_await(promise: chained).error != nil)
    }
  }

  @Test func `then maps, flattens, passes rejections through, and may throw (2.1-30)`() throws {
    try inCoroutine { () throws in
      let promise = Promise<Int> { fulfill, _ in fulfill(2) }
      #expect(promise.then { $0 * 2 }.value == 4)
      #expect(promise.then { value in Promise { fulfill, _ in fulfill("\(value)") } }.value == "2")
      let failing = promise.then { _ -> Int in throw Problem(1) }
      #expect(failing.error as? Problem == Problem(1))
      var runs = 0
      let passed = failing.then { _ in runs += 1 }.then { runs += 1 }
      #expect(passed.error as? Problem == Problem(1))
      #expect(runs == 0)
      // With a promise that is rejected, and with one that is settled later.
      let rejecting = promise.then { _ in Promise<Int> { _, reject in reject(Problem(2)) } }
      #expect(rejecting.error as? Problem == Problem(2))
      let pending = Promise<Int>()
      let late = promise.then { _ in pending }
      #expect(late.isPending)
      pending.fulfill(value: 3)
      #expect(late.value == 3)
    }
  }

  @Test func `catch looks at the error and keeps it`() {
    let promise = Promise<Int>()
    var seen: [Int] = []
    let caught = promise.catch { seen.append(($0 as? Problem)?.number ?? 0) }
    promise.reject(error: Problem(5))
    #expect(seen == [5])
    #expect(caught.error as? Problem == Problem(5))
    // On a rejected promise at once.
    promise.catch { _ in seen.append(6) }
    #expect(seen == [5, 6])
    let good = Promise<Int>()
    let passed = good.catch { _ in seen.append(7) }
    good.fulfill(value: 1)
    #expect(passed.value == 1)
    #expect(seen == [5, 6])
  }

  @Test func `onCancel runs once, before or after the cancellation, with the promise`() {
    let promise = Promise<Int>()
    var log: [String] = []
    promise.onCancel { log.append($0 === promise ? "first" : "other") }
    promise.cancel()
    promise.cancel()
    promise.onCancel { _ in log.append("late") }
    #expect(log == ["first", "late"])
    #expect(promise.error as? COError == .promiseCancelled)

    let rejected = Promise<Int>()
    rejected.onCancel { _ in log.append("by rejection") }
    rejected.reject(error: COError.promiseCancelled)
    #expect(log.last == "by rejection")
    let failed = Promise<Int>()
    failed.onCancel { _ in log.append("never") }
    failed.reject(error: Problem(1))
    #expect(log.count == 3)
  }

  @Test func `promises are settled from any thread, and settled once`() throws {
    try inCoroutine { () throws in
      for _ in 0..<200 {
        let promise = Promise<Int>()
        for number in 0..<4 { DispatchQueue.global().async { promise.fulfill(value: number) } }
        let seen = Cell<[Int]>([])
        let awaiters = (0..<3).map { _ in
          co_launch(queue: .global()) {
            let value = try co_await(promise: promise).get()
            seen.update { $0.append(value) }
          }
        }
        for awaiter in awaiters { awaiter.join() }
        #expect(seen.value.count == 3 && Set(seen.value).count == 1)
      }
    }
  }
}

extension Resolution {
  /// The error, if it was rejected.
  var error: (any Error)? {
    if case .rejected(let error) = self { error } else { nil }
  }
}
