// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct AwaitTests {
  @Test func `await has four forms under both names (2.1-36, 3.3-16)`() throws {
    try inCoroutine { () throws in
      func channel() -> Chan<Int> {
        let channel = Chan<Int>(buffCount: 1)
        channel.send_nonblock(val: 2)
        return channel
      }
      func promise() -> Promise<Int> { Promise { fulfill, _ in fulfill(1) } }
      #expect(try co_await(promise: promise()).get() == 1)
      #expect(try co_await(channel: channel()) == 2)
      #expect(try co_await { promise() }.get() == 1)
      #expect(try co_await { channel() } == 2)
      #expect(try `await`(promise: promise()).get() == 1)
      #expect(try `await`(channel: channel()) == 2)
      #expect(try `await` { promise() }.get() == 1)
      #expect(try `await` { channel() } == 2)
      #expect(try co_await(closure: promise).get() == 1)
    }
  }

  @Test func `a promise that others cancel gives its awaiters an error (3.3-3)`() throws {
    try inCoroutine { () throws in
      let promise = Promise<Int>()
      let outcomes = Cell<[COError?]>([])
      let awaiters = (0..<2).map { _ in
        co_launch_now {
          let error = try co_await(promise: promise).error
          outcomes.update { $0.append(error as? COError) }
          #expect(co_getError() as? COError == .promiseCancelled)
          #expect(!co_isCancelled)
        }
      }
      promise.cancel()
      for awaiter in awaiters { awaiter.join() }
      #expect(outcomes.value == [.promiseCancelled, .promiseCancelled])
    }
  }

  @Test func `the last of several awaiters that is cancelled cancels the promise`() throws {
    try inCoroutine { () throws in
      let promise = Promise<Int>()
      let awaiters = (0..<3).map { _ in co_launch_now { _ = try co_await(promise: promise) } }
      awaiters[0].cancelAndJoin()
      awaiters[2].cancelAndJoin()
      #expect(promise.isPending)
      awaiters[1].cancelAndJoin()
      #expect(promise.error as? COError == .promiseCancelled)
      #expect(awaiters.allSatisfy { $0.lastError as? COError == .coroutineCancelled })
    }
  }

  @Test func `a promise that was settled before is not lost`() throws {
    try inCoroutine { () throws in
      let promise = Promise<Int>()
      promise.reject(error: Problem(1))
      #expect(try co_await(promise: promise).error as? Problem == Problem(1))
      let good = Promise<Int>()
      good.fulfill(value: 1)
      #expect(try co_await(promise: good).get() == 1)
    }
  }

  @Test func `co_getError is of the last await, and of this coroutine`() throws {
    try inCoroutine { () throws in
      let failing = Promise<Int> { _, reject in reject(Problem(1)) }
      let good = Promise<Int> { fulfill, _ in fulfill(1) }
      #expect(co_getError() == nil)
      try co_await(promise: failing)
      #expect(co_getError() as? Problem == Problem(1))
      let other = co_launch_now {
        #expect(co_getError() == nil)
        try co_await(promise: failing)
        #expect(co_getError() as? Problem == Problem(1))
      }
      other.join()
      #expect(other.lastError == nil)
      try co_await(promise: good)
      #expect(co_getError() == nil)
      #expect(try batch_await([failing, good]).count == 2)
      #expect(co_getError() == nil)
    }
  }

  @Test func `the promises of batch_await overlap (2.1-31, 3.4-10)`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let promises = [0.03, 0.02, 0.01].map { delay in
        Promise<Double>.lazy { fulfill, _ in
          log("begins")
          try co_delay(delay)
          log("ends")
          fulfill(delay)
        }
      }
      #expect(try batch_await(promises).map { try $0.get() } == [0.03, 0.02, 0.01])
      // All had begun before the first ended.
      #expect(
        log.entries == Array(repeating: "begins", count: 3) + Array(repeating: "ends", count: 3)
      )
      #expect(try batch_await([Promise<Int>]()).isEmpty)
    }
  }

  @Test func `a cancelled batch_await cancels what is pending (3.4-10)`() throws {
    try inCoroutine { () throws in
      let settled = Promise<Int> { fulfill, _ in fulfill(1) }
      let pending = (0..<3).map { _ in Promise<Int>() }
      let shared = Promise<Int>()
      let other = co_launch_now { _ = try co_await(promise: shared) }
      let batch = co_launch_now { _ = try batch_await([settled] + pending + [shared]) }
      batch.cancelAndJoin()
      #expect(batch.lastError as? COError == .coroutineCancelled)
      #expect(pending.allSatisfy { $0.error as? COError == .promiseCancelled })
      #expect(settled.value == 1)
      #expect(shared.isPending)
      shared.fulfill(value: 1)
      other.join()
      // Late settlements are harmless.
      for promise in pending { promise.fulfill(value: 1) }
    }
  }

  @Test func `closures are not called where nobody can wait`() throws {
    let calls = Cell(0)
    #expect(
      cancellation {
        try co_await { () -> Promise<Int> in
          calls.update { $0 += 1 }
          return Promise()
        }
      } == .invalidCoroutine
    )
    #expect(calls.value == 0)
  }

  @Test func `waits work in the constructor of a promise, and its cancellation is the maker's`()
    throws
  {
    try inCoroutine { () throws in
      let log = Log()
      let maker = co_launch_now {
        let promise = Promise<Int> { fulfill, _ in
          defer { log("constructor unwound") }
          try co_delay(60)
          fulfill(1)
        }
        _ = try co_await(promise: promise)
      }
      maker.cancelAndJoin()
      #expect(log.entries == ["constructor unwound"])
    }
  }
}
