// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct PromiseCancellationTests {
  @Test func `onCancel runs when the promise is cancelled, once`() {
    let log = SharedLog<String>()
    let promise = Promise<Int>()
    promise.onCancel { _ in log.add("first") }.onCancel { _ in log.add("second") }
    promise.catch { _ in log.add("catch") }
    promise.cancel()
    promise.cancel()
    #expect(log.entries == ["first", "second", "catch"])
  }

  @Test func `onCancel on a cancelled promise runs at once`() {
    let log = SharedLog<Bool>()
    let promise = Promise<Int>()
    promise.cancel()
    promise.onCancel { log.add($0 === promise) }
    #expect(log.entries == [true])
  }

  @Test func `onCancel does not run for a promise that ends otherwise`() {
    let log = SharedLog<Int>()
    let (one, other) = (Promise<Int>(), Promise<Int>())
    for promise in [one, other] { promise.onCancel { _ in log.add(1) } }
    one.fulfill(1)
    other.reject(Failure())
    for promise in [one, other] {
      promise.cancel()
      promise.onCancel { _ in log.add(2) }
    }
    #expect(log.entries == [])
  }

  @Test func `a cancelled awaiter leaves the promise (rule 3)`() throws {
    try runBlocking {
      let promise = Promise<Int>()
      let awaiters = (0..<2).map { _ in launch { try promise.await() } }
      try letOthersRun()
      try awaiters[0].cancelAndJoin()
      #expect(awaiters[0].error is CancellationError)
      #expect(promise.isPending)
      promise.fulfill(4)
      try #expect(awaiters[1].value() == 4)
    }
  }

  @Test func `with cancelPromise the last awaiter that is cancelled cancels it`() throws {
    try runBlocking {
      let log = SharedLog<String>()
      let promise = Promise<Int>()
      promise.onCancel { _ in log.add("stopped") }
      let awaiters = (0..<3).map { _ in
        launch { try promise.await(onCancellation: .cancelPromise) }
      }
      try letOthersRun()
      for awaiter in awaiters {
        #expect(promise.isPending)
        try awaiter.cancelAndJoin()
        #expect(awaiter.error is CancellationError)
      }
      #expect(promise.error as? PromiseError == .cancelled)
      #expect(log.entries == ["stopped"])
    }
  }

  @Test func `with cancelPromise a settled promise stays as it is`() throws {
    try runBlocking {
      let promise = Promise<Int>()
      let awaiter = launch { try promise.await(onCancellation: .cancelPromise) }
      try letOthersRun()
      promise.fulfill(1)
      awaiter.cancel()
      try #expect(awaiter.value() == 1)
      #expect(promise.value == 1)
    }
  }

  @Test func `an await entered in cancelled code leaves the promise untouched`() throws {
    try runBlocking {
      let started = Tally()
      let lazy = Promise<Int>.lazy { fulfill, _ in
        started.add()
        fulfill(1)
      }
      let pending = Promise<Int>()
      let awaiter = launch {
        Coroutine.current?.cancel()
        for promise in [lazy, pending] {
          for way in [AwaitCancellation.leavePromise, .cancelPromise] {
            #expect(throws: CancellationError.self) { try promise.await(onCancellation: way) }
          }
        }
      }
      try awaiter.value()
      #expect(started.value == 0)
      #expect(lazy.isPending && pending.isPending)
    }
  }

  @Test func `an await that times out leaves the promise (rule 3)`() throws {
    try runBlocking {
      let promise = Promise<Int>()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) { try promise.await() }
      }
      #expect(promise.isPending)
      promise.fulfill(2)
      try #expect(promise.await() == 2)
    }
  }

  @Test func `cancelling wakes every awaiter, everywhere (rule 9)`() async throws {
    let promise = Promise<Int>()
    let schedulers = Elsewhere.both.schedulers(4)
    let awaiters = (0..<100).map { index in
      launch(on: schedulers[index % 4]) { try promise.await() }
    }
    let tasks = (0..<20).map { _ in Task { try await promise.value() } }
    try await onThread { promise.cancel() }
    for awaiter in awaiters {
      await #expect(throws: PromiseError.cancelled) { try await awaiter.value() }
    }
    for task in tasks {
      await #expect(throws: PromiseError.cancelled) { try await task.value }
    }
  }
}
