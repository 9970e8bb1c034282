// SPDX-License-Identifier: Apache-2.0
// The names are those of the document.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import Testing
import coswift

/// "Learning coobjc", sections "Await", "COPromise" and "Back to await".
@Suite(.timeLimit(.minutes(30))) struct LearningAwaitTests {
  // "What is COPromise?": co_fetchSomethingAsynchronous; "it runs at once when it is made" (C1).
  @Test(arguments: [true, false])
  func `a promise is fulfilled or rejected by work on another queue`(_ isGood: Bool) throws {
    let someQueue = DispatchQueue(label: "some")
    func co_fetchSomethingAsynchronous() -> COPromise<String> {
      COPromise { resolve, reject in
        someQueue.async {
          let ret: String? = isGood ? "something" : nil
          let error: (any Error)? = isGood ? nil : NSError(domain: "error", code: 1)
          if let error { reject(error) } else { resolve(ret ?? "") }
        }
      }
    }
    let log = Log()
    try inCoroutine {
      switch try co_await(promise: co_fetchSomethingAsynchronous()) {
      case .fulfilled(let value): log(value)
      case .rejected(let error): log("error \((error as NSError).code)")
      }
    }
    #expect(log.entries == [isGood ? "something" : "error 1"])
  }

  // testForAwaitPromise: the document's coin says whether it fails; here both sides come.
  private static func awaitPromise(_ number: Int, expected: [String]) -> Scenario {
    Scenario("Learning coobjc, testForAwaitPromise", expected: expected) { play in
      func co_fetchSomethingAsynchronous() -> COPromise<Int> {
        COPromise(on: .global()) { fullfill, reject in
          if number != 0 {
            play.log("result is \(number), spend some time to deal it..")
            play.queue.asyncAfter(deadline: .now() + 0.002) { fullfill(number) }
          } else {
            play.log("result is \(number), throw out an error.")
            reject(NSError(domain: "error", code: 10000))
          }
        }
      }
      let coroutine = co_launch {
        let ret = try co_await(promise: co_fetchSomethingAsynchronous())
        if let error = co_getError() as NSError? {
          play.log("get an error in testForAwait, error: \(error.domain) \(error.code)")
        } else {
          play.log("get the result in testForAwait, value: \(try ret.get())")
        }
      }
      play.finish(after: coroutine)
    }
  }

  static let fulfilled = awaitPromise(
    1,
    expected: [
      "result is 1, spend some time to deal it..", "get the result in testForAwait, value: 1",
    ]
  )
  static let rejected = awaitPromise(
    0,
    expected: [
      "result is 0, throw out an error.", "get an error in testForAwait, error: error 10000",
    ]
  )

  @Test func `an await gives the value that comes later, or the error that came at once`() {
    check(Self.fulfilled)
    check(Self.rejected)
  }

  // co_await's source: the three ways in which it ends without a value
  @Test func `an await outside a coroutine is an error`() {
    #expect(throws: COError.invalidCoroutine) { try co_await(promise: COPromise<Int>()) }
    #expect(throws: COError.invalidCoroutine) { try co_await(channel: COChan<Int>()) }
  }

  @Test func `an await of a cancelled coroutine leaves the promise alone`() throws {
    let log = Log()
    try inCoroutine {
      let promise = COPromise<Int>()
      let coroutine = co_launch {
        Coroutine.current()?.cancel()
        do {
          try co_await(promise: promise)
        } catch {
          log("\(error), pending \(promise.isPending)")
        }
      }
      coroutine.join()
    }
    #expect(log.entries == ["coroutineCancelled, pending true"])
  }

  @Test func `cancelling a coroutine that awaits cancels the promise`() throws {
    let log = Log()
    try inCoroutine {
      let promise = COPromise<Int>()
      promise.onCancel { _ in log("promise cancelled") }
      let coroutine = co_launch { try co_await(promise: promise) }
      try co_delay(0)
      coroutine.cancelAndJoin()
      #expect(promise.isRejected)
    }
    #expect(log.entries == ["promise cancelled"])
  }
}
