// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(30))) struct ProgressMakingTests {
  @Test func `the work begins when the promise is made, up to where it first parks`() throws {
    try runBlocking {
      let steps = Steps<Int>()
      let promise = ProgressPromise<Int> { progress in
        steps.add(1)
        progress.report(0.5)
        try Coroutine.yield()
        steps.add(3)
        return 9
      }
      steps.add(2)
      #expect(promise.fraction == 0.5)
      try #expect(promise.await() == 9)
      #expect(steps.entries == [1, 2, 3])
    }
  }

  @Test func `a constructor settles from callbacks on other threads`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int> { progress, fulfill, _ in
        DispatchQueue.global().async {
          progress.report(0.5)
          progress.report(1)
          fulfill(4)
        }
      }
      #expect(Array(promise).last == 1)
      try #expect(promise.await() == 4)
    }
  }

  @Test func `what the work throws rejects`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int> { progress in
        progress.report(0.25)
        throw Failure(3)
      }
      #expect(Array(promise) == [0.25])
      #expect(throws: Failure(3)) { try promise.await() }
      #expect(promise.isRejected)
      #expect(promise.error as? Failure == Failure(3))
      #expect(promise.value == nil)
    }
  }

  @Test func `the work runs on the scheduler that is named`() throws {
    try runBlocking {
      let queue = DispatchQueue(label: "work")
      let key = DispatchSpecificKey<Int>()
      queue.setSpecific(key: key, value: 1)
      let onQueue = ProgressPromise<Bool>(on: queue) { _, fulfill, _ in
        fulfill(DispatchQueue.getSpecific(key: key) == 1)
      }
      let lazily = ProgressPromise<Bool>.lazy(on: .queue(queue)) { _, fulfill, _ in
        fulfill(DispatchQueue.getSpecific(key: key) == 1)
      }
      try #expect(onQueue.await())
      try #expect(lazily.await())
    }
  }

  @Test func `cancelling calls the hooks, and tells the awaiter`() throws {
    try runBlocking {
      let steps = Steps<String>()
      let promise = ProgressPromise<Int>()
      let log = SharedLog<String>()
      promise.onCancel { log.add("stopped") }
      let awaiter = launch { try promise.await() }
      try Coroutine.yield()
      promise.cancel()
      #expect(throws: PromiseError.cancelled) { try awaiter.value() }
      steps.add("told")
      #expect(log.entries + steps.entries == ["stopped", "told"])
    }
  }

  @Test func `await can cancel the promise with the last awaiter`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let awaiter = launch { try promise.await(onCancellation: .cancelPromise) }
      try Coroutine.yield()
      try awaiter.cancelAndJoin()
      #expect(promise.error as? PromiseError == .cancelled)
    }
  }

  @Test func `it chains and combines by its promise`() throws {
    try runBlocking {
      let one = ProgressPromise<Int> { _ in 1 }
      let two = ProgressPromise<Int> { _ in 2 }
      let all = Promise.all([one.promise.then { $0 * 10 }, two.promise])
      try #expect(all.await() == [10, 2])
      try #expect(one.settled().get() == 1)
    }
  }

  @Test func `neither the promise nor its value outlives those who hold them`() throws {
    let census = Census()
    try runBlocking {
      let promise = ProgressPromise<Counted> { progress in
        progress.report(1)
        return Counted(1, census)
      }
      for _ in promise {}
      try #expect(promise.await().number == 1)
    }
    #expect(census.alive == 0)
  }
}
