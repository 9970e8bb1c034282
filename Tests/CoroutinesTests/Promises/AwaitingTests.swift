// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct AwaitingTests {
  @Test func `an awaiter is woken by fulfilment, rejection and cancellation (rule 9)`() throws {
    try runBlocking {
      let promises = (0..<3).map { _ in Promise<Int>() }
      let awaiters = promises.map { promise in launch { try promise.await() } }
      try letOthersRun()
      #expect(awaiters.map(\.state) == [.suspended, .suspended, .suspended])
      promises[0].fulfill(1)
      promises[1].reject(Failure(2))
      promises[2].cancel()
      try #expect(awaiters[0].value() == 1)
      #expect(throws: Failure(2)) { try awaiters[1].value() }
      #expect(throws: PromiseError.cancelled) { try awaiters[2].value() }
    }
  }

  @Test func `awaiting a settled promise does not park`() throws {
    try runBlocking {
      let steps = Steps<Int>()
      launch { steps.add(2) }
      try #expect(Promise.fulfilled(1).await() == 1)
      #expect(throws: Failure(3)) { try Promise<Int>.rejected(Failure(3)).await() }
      steps.add(1)
      try letOthersRun()
      #expect(steps.entries == [1, 2])
    }
  }

  @Test func `awaiting a settled promise in cancelled code throws (rule 2)`() throws {
    try runBlocking {
      let coroutine = launch {
        Coroutine.current?.cancel()
        return try Promise.fulfilled(1).await()
      }
      #expect(throws: CancellationError.self) { try coroutine.value() }
    }
  }

  @Test func `settled() hands out errors as values`() throws {
    try runBlocking {
      let promise = Promise<Int>()
      let awaiter = launch { try promise.settled() }
      try letOthersRun()
      promise.reject(Failure(6))
      let outcome = try awaiter.value()
      #expect(throws: Failure(6)) { try outcome.get() }
    }
  }

  @Test func `awaiters go on in the order in which they came, after the observers`() throws {
    let log = SharedLog<Int>()
    try runBlocking {
      let promise = Promise<Int>()
      for index in 1...10 {
        launch {
          _ = try promise.await()
          log.add(index)
        }
      }
      try letOthersRun()
      promise.then { _ in log.add(0) }
      promise.fulfill(1)
      #expect(log.entries == [0])
    }
    #expect(log.entries == Array(0...10))
  }

  @Test(arguments: Elsewhere.allCases)
  func `awaiters on many schedulers all get the value`(place: Elsewhere) throws {
    try runBlocking {
      let promise = Promise<Int>()
      let schedulers = place.schedulers(4)
      let awaiters = (0..<200).map { index in
        launch(on: schedulers[index % 4]) { try promise.await() + index }
      }
      try letOthersRun()
      promise.fulfill(1_000)
      for (index, awaiter) in awaiters.enumerated() {
        try #expect(awaiter.value() == 1_000 + index)
      }
    }
  }

  @Test func `tasks await promises, and are woken by all three ends`() async throws {
    let promises = (0..<3).map { _ in Promise<Int>() }
    let tasks = promises.map { promise in Task { try await promise.value() } }
    await Task.yield()
    promises[0].fulfill(1)
    promises[1].reject(Failure(2))
    promises[2].cancel()
    try #expect(await tasks[0].value == 1)
    await #expect(throws: Failure(2)) { try await tasks[1].value }
    await #expect(throws: PromiseError.cancelled) { try await tasks[2].value }
    try #expect(await promises[0].value() == 1)
  }

  @Test func `a cancelled task stops awaiting and leaves the promise`() async throws {
    let promise = Promise<Int>()
    let task = Task { try await promise.value() }
    await Task.yield()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(promise.isPending)
    promise.fulfill(1)
  }

  @Test func `awaiting outside a coroutine throws and starts nothing (rule 12)`() async throws {
    try await onThread {
      let started = Tally()
      let promise = Promise<Int>.lazy { fulfill, _ in
        started.add()
        fulfill(1)
      }
      let error = #expect(throws: CoroutineError.outsideCoroutine) { try promise.await() }
      #expect(error?.description.contains("Promise.await() parks") == true)
      #expect(throws: CoroutineError.outsideCoroutine) { try promise.settled() }
      #expect(throws: CoroutineError.outsideCoroutine) { try awaitAll([promise]) }
      #expect(throws: CoroutineError.outsideCoroutine) { try awaitAll(promise, promise) }
      #expect(throws: CoroutineError.outsideCoroutine) { try Promise.fulfilled(1).await() }
      #expect(throws: CoroutineError.outsideCoroutine) {
        try promise.await(onCancellation: .cancelPromise)
      }
      #expect(started.value == 0)
      #expect(promise.isPending)
    }
  }
}
