// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Foundation
import Testing
import coswift

/// "User guide", section 3, "COPromise".
@Suite(.timeLimit(.minutes(30))) struct GuidePromiseTests {
  // testPromiseFullfill; the document's main queue is the one that the sample is played on.
  private static func testPromiseFullfill(
    _ play: Play,
    _ value: String = "Hello coobjc!"
  ) -> COPromise<String> {
    let promise = COPromise<String>()
    play.queue.async { promise.fulfill(value: value) }
    return promise
  }

  static let fulfill = Scenario(
    "User guide 3, fulfill",
    expected: ["result = Hello coobjc!"]
  ) { play in
    let coroutine = co_launch {
      let result = try co_await(promise: testPromiseFullfill(play)).get()
      play.log("result = \(result)")
    }
    play.finish(after: coroutine)
  }

  @Test func `an await gives what a later block fulfils`() {
    check(Self.fulfill)
  }

  // testPromiseReject
  static let reject = Scenario(
    "User guide 3, reject",
    expected: ["Error = COPromise -100"]
  ) { play in
    func testPromiseReject() -> COPromise<String> {
      let promise = COPromise<String>()
      play.queue.async { promise.reject(error: NSError(domain: "COPromise", code: -100)) }
      return promise
    }
    let coroutine = co_launch {
      let result = try co_await(promise: testPromiseReject())
      if let error = co_getError() as NSError? {
        play.log("Error = \(error.domain) \(error.code)")
      } else {
        play.log("result = \(result)")
      }
    }
    play.finish(after: coroutine)
  }

  @Test func `an await of a rejected promise leaves its error in co_getError`() {
    check(Self.reject)
  }

  // testPromiseRejectFullfile: a constructor, with dispatch_after
  static let constructor = Scenario(
    "User guide 3, fulfill and reject",
    expected: ["result = Say Hello To Coobjc"]
  ) { play in
    func testPromiseRejectFullfile() -> COPromise<String> {
      COPromise { fullfill, reject in
        play.queue.asyncAfter(deadline: .now() + 0.002) { fullfill("Say Hello To Coobjc") }
      }
    }
    let coroutine = co_launch {
      let res = try co_await(promise: testPromiseRejectFullfile()).get()
      play.log("result = \(res)")
    }
    play.finish(after: coroutine)
  }

  @Test func `a constructor gets the two ways to settle, and uses one later`() {
    check(Self.constructor)
  }

  // testPromiseCancel. In coswift the awaiter slept for ever; it gets an error (C5).
  static let cancel = Scenario(
    "User guide 3, cancel",
    expected: ["isCancel", "NSError", "isPromiseCancel true"]
  ) { play in
    func testPromiseCancel() -> COPromise<String> {
      let promise = COPromise<String>()
      play.queue.async { promise.cancel() }
      return promise
    }
    let coroutine = co_launch {
      let promise = testPromiseCancel()
      promise.onCancel { _ in play.log("isCancel") }
      promise.catch { _ in play.log("NSError") }
      let res = try co_await(promise: promise)
      if case .rejected = res {
        let error = co_getError()
        let isPromiseCancel = isPromiseCancelled(error)
        play.log("isPromiseCancel \(isPromiseCancel)")
        return
      }
      play.log("result = \(res)")
    }
    play.finish(after: coroutine)
  }

  @Test
  func `cancelling a promise calls onCancel, then catch, then wakes its awaiter with an error`() {
    check(Self.cancel)
  }

  // then, whose work returns a promise
  static let then = Scenario(
    "User guide 3, then",
    expected: ["first Hello coobjc!", "result = and then"]
  ) { play in
    let coroutine = co_launch {
      let promise = testPromiseFullfill(play)
      let thenPromise = promise.then { value -> COPromise<String> in
        play.log("first \(value)")
        return testPromiseFullfill(play, "and then")
      }
      let res = try co_await(promise: thenPromise)
      if case .rejected(let error) = res {
        play.log("isPromiseCancel \(isPromiseCancelled(error))")
        return
      }
      play.log("result = \(try res.get())")
    }
    play.finish(after: coroutine)
  }

  @Test
  func `a promise that follows another one, made from the first one's value, gives its value`() {
    check(Self.then)
  }

  // batch_await
  static let batch = Scenario(
    "User guide 3, waiting for a batch",
    expected: ["third", "first", "second", "[\"1\", \"2\", \"3\"]"]
  ) { play in
    func fulfilling(_ value: String, _ name: String, after blocks: Int) -> COPromise<String> {
      let promise = COPromise<String>()
      @Sendable func later(_ blocks: Int) {
        play.queue.async {
          if blocks > 0 { return later(blocks - 1) }
          play.log(name)
          promise.fulfill(value: value)
        }
      }
      later(blocks)
      return promise
    }
    let coroutine = co_launch {
      let batchFullfile = try batch_await([
        fulfilling("1", "first", after: 1), fulfilling("2", "second", after: 2),
        fulfilling("3", "third", after: 0),
      ])
      play.log("\(try batchFullfile.map { try $0.get() })")
    }
    play.finish(after: coroutine)
  }

  @Test
  func `a batch of promises is awaited at once, and its values come in the order of the promises`()
  {
    check(Self.batch)
  }

  // isPending, isFulfilled, isRejected, value, error
  @Test func `a promise is pending, and then fulfilled or rejected for good`() {
    let promise = COPromise<Int>()
    #expect(promise.isPending)
    #expect(promise.value == nil)
    promise.fulfill(value: 1)
    promise.reject(error: COError.promiseCancelled)
    promise.cancel()
    #expect(!promise.isPending && promise.isFulfilled && !promise.isRejected)
    #expect(promise.value == 1)
    #expect(promise.error == nil)

    let other = COPromise<Int>()
    other.reject(error: NSError(domain: "COPromise", code: -100))
    other.fulfill(value: 1)
    #expect(!other.isPending && !other.isFulfilled && other.isRejected)
    #expect((other.error as NSError?)?.code == -100)
    #expect(other.value == nil)
  }

  // promise, promise:, promise:onQueue:. The header says that the job begins when someone observes; the third
  // document, and the code, say at once. At once it is, and `lazy` is the header's (C1).
  @Test func `the job of a promise begins at once, that of a lazy one when it is awaited`() throws {
    let log = Log()
    let queue = DispatchQueue(label: "job")
    try inCoroutine {
      let eager = COPromise<String> { fulfill, _ in
        log("eager begins")
        fulfill("eager")
      }
      let lazy = COPromise<String>.lazy { fulfill, _ in
        log("lazy begins")
        fulfill("lazy")
      }
      let elsewhere = COPromise<String>(on: queue) { fulfill, _ in
        dispatchPrecondition(condition: .onQueue(queue))
        fulfill("elsewhere")
      }
      log("made")
      for promise in [lazy, eager, elsewhere] { log(try co_await(promise: promise).get()) }
    }
    #expect(
      log.entries == ["eager begins", "made", "lazy begins", "lazy", "eager", "elsewhere"]
    )
  }

  // cancel: "you must make the job cancel in onCancel:"
  @Test func `onCancel stops the job behind a promise`() {
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .distantFuture)
    timer.resume()
    let promise = COPromise<Int>()
    promise.onCancel { _ in timer.cancel() }
    promise.cancel()
    #expect(timer.isCancelled)
    #expect(isPromiseCancelled(promise.error))
    #expect(!isPromiseCancelled(NSError(domain: "COPromise", code: -100)))
    #expect(!isPromiseCancelled(nil))
  }
}
