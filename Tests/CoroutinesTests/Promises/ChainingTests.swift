// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct ChainingTests {
  @Test func `then makes a promise for what it returns`() {
    let promise = Promise<Int>()
    let text = promise.then { $0 + 1 }.then { "\($0)" }
    #expect(text.isPending)
    promise.fulfill(1)
    #expect(text.value == "2")
  }

  @Test func `then that returns a promise follows it`() {
    let (first, second) = (Promise<Int>(), Promise<String>())
    let chained = first.then { _ in second }
    first.fulfill(1)
    #expect(chained.isPending)
    second.fulfill("end")
    #expect(chained.value == "end")
    let failing = first.then { _ in Promise<String>.rejected(Failure(3)) }
    #expect(failing.error as? Failure == Failure(3))
  }

  @Test func `map makes a promise for what it returns, in chains of any length`() {
    let promise = Promise<Int>()
    // With `then` the compiler would give up.
    let text = promise.map { $0 + 1 }.map { $0 * 2 }.map { $0 - 1 }.map { "\($0)" }.map { $0 + "!" }
    promise.fulfill(1)
    #expect(text.value == "3!")
    #expect(promise.map { _ -> Int in throw Failure(1) }.error as? Failure == Failure(1))
    let failed = Promise<Int>.rejected(Failure(2))
    #expect(failed.map { $0 + 1 }.error as? Failure == Failure(2))
  }

  @Test func `map follows no promise that it gets`() {
    let inner = Promise<Int>()
    let outer = Promise.fulfilled(1).map { _ in inner }
    #expect(outer.value === inner)
  }

  @Test func `an error passes by then and reaches catch`() {
    let log = SharedLog<String>()
    let promise = Promise<Int>()
    let end =
      promise
      .then { value -> Int in
        log.add("then \(value)")
        return value
      }
      .catch { log.add("catch \(($0 as? Failure)?.code ?? 0)") }
      .finally { log.add("finally") }
    promise.reject(Failure(5))
    #expect(log.entries == ["catch 5", "finally"])
    #expect(end.error as? Failure == Failure(5))
  }

  @Test func `what a handler throws rejects the next promise`() {
    let promise = Promise.fulfilled(1)
    #expect(promise.then { _ -> Int in throw Failure(1) }.error as? Failure == Failure(1))
    #expect(promise.then { _ -> Promise<Int> in throw Failure(2) }.error as? Failure == Failure(2))
    #expect(promise.finally { throw Failure(3) }.error as? Failure == Failure(3))
    let failed = Promise<Int>.rejected(Failure(0))
    #expect(failed.recover { _ in throw Failure(4) }.error as? Failure == Failure(4))
    #expect(failed.finally { throw Failure(5) }.error as? Failure == Failure(5))
  }

  @Test func `recover puts a value in place of an error`() {
    let failed = Promise<Int>.rejected(Failure(7))
    #expect(failed.recover { ($0 as? Failure)?.code ?? 0 }.value == 7)
    #expect(Promise.fulfilled(1).recover { _ in 2 }.value == 1)
    #expect(failed.recover { _ in 1 }.then { $0 + 1 }.value == 2)
  }

  @Test func `catch and finally let a value through`() {
    let log = SharedLog<String>()
    let end = Promise.fulfilled(4)
      .catch { _ in log.add("catch") }
      .finally { log.add("finally") }
    #expect(end.value == 4)
    #expect(log.entries == ["finally"])
  }

  @Test func `cancelling a promise rejects those made from it`() {
    let promise = Promise<Int>()
    let derived = promise.then { $0 + 1 }
    promise.cancel()
    #expect(derived.error as? PromiseError == .cancelled)
  }

  @Test func `cancelling a derived promise leaves its origin`() {
    let promise = Promise<Int>()
    let derived = promise.then { $0 + 1 }
    derived.cancel()
    #expect(promise.isPending)
    promise.fulfill(1)
    #expect(derived.error as? PromiseError == .cancelled)
  }

  @Test func `branches of a promise are independent`() {
    let promise = Promise<Int>()
    let one = promise.then { _ -> Int in throw Failure(1) }
    let other = promise.then { $0 * 2 }
    promise.fulfill(4)
    #expect(one.isRejected)
    #expect(other.value == 8)
  }

  @Test func `a chain is awaited like any promise`() throws {
    try runBlocking {
      let promise = Promise<Int> {
        try Coroutine.yield()
        return 20
      }
      let chain = promise.then { value in
        Promise<Int> {
          try Coroutine.yield()
          return value + 1
        }
      }
      .then { $0 * 2 }
      try #expect(chain.await() == 42)
    }
  }
}
