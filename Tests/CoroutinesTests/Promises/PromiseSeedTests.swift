// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

/// What the ancestors' documents say of promises, by the number of the behaviour.
@Suite struct PromiseSeedTests {
  @Test func `25, one promise after another, and the caller goes on at once`() throws {
    let steps = Steps<String>()
    try runBlocking {
      let queue = DispatchQueue(label: "work")
      steps.add("before")
      launch {
        let data = try Promise<Int>(on: queue) { fulfill, _ in fulfill(20) }.await()
        steps.add("downloaded")
        let image = try Promise<Int>(on: queue) { fulfill, _ in fulfill(data + 1) }.await()
        steps.add("image \(image)")
      }
      steps.add("after")
    }
    #expect(steps.entries == ["before", "after", "downloaded", "image 21"])
  }

  @Test func `26 and 27, a later fulfilment or rejection reaches the awaiter`() throws {
    try runBlocking {
      let (good, bad) = (Promise<String>(), Promise<String>())
      launch { good.fulfill("Hello coobjc!") }
      launch { bad.reject(Failure(-100)) }
      try #expect(good.await() == "Hello coobjc!")
      #expect(throws: Failure(-100)) { try bad.await() }
    }
  }

  @Test func `28, a constructor may wait before it fulfils`() throws {
    try runBlocking {
      let promise = Promise<String> { fulfill, _ in
        try Coroutine.sleep(for: .milliseconds(1))
        fulfill("Say Hello To Coobjc")
      }
      try #expect(promise.await() == "Say Hello To Coobjc")
    }
  }

  @Test func `29, cancelling: onCancel, then catch, then the awaiter`() throws {
    let log = SharedLog<String>()
    try runBlocking {
      let promise = Promise<Int>()
      promise.onCancel { _ in log.add("onCancel") }
      promise.catch { log.add("catch \($0 as? PromiseError == .cancelled)") }
      launch { promise.cancel() }
      #expect(throws: PromiseError.cancelled) { try promise.await() }
      log.add("awaiter")
    }
    #expect(log.entries == ["onCancel", "catch true", "awaiter"])
  }

  @Test func `30, then with a promise is awaited for that promise's value`() throws {
    try runBlocking {
      let chained = Promise<Int> { 1 }.then { value in Promise<String> { "q\(value)" } }
      try #expect(chained.await() == "q1")
    }
  }

  @Test func `31, a batch gives its values in order`() throws {
    try runBlocking {
      let promises = [3, 1, 2].map { turns in
        Promise<Int> {
          for _ in 0..<turns { try Coroutine.yield() }
          return turns
        }
      }
      try #expect(awaitAll(promises).map { try $0.get() } == [3, 1, 2])
    }
  }

  @Test func `32, value and error are readable once settled, and do not change`() {
    let promise = Promise<Int>()
    promise.fulfill(1)
    promise.reject(Failure())
    #expect(promise.value == 1)
    #expect(promise.error == nil)
  }

  @Test func `33, a rejection before the await is seen`() throws {
    try runBlocking {
      let promise = Promise<Int>(on: DispatchQueue.global()) { _, reject in reject(Failure(10_000))
      }
      while promise.isPending { try Coroutine.yield() }
      #expect(throws: Failure(10_000)) { try promise.await() }
    }
  }

  @Test func `34, the constructor runs at creation`() throws {
    try runBlocking {
      var hasRun = false
      let promise = Promise<Int> { fulfill, _ in
        hasRun = true
        fulfill(1)
      }
      #expect(hasRun)
      #expect(promise.value == 1)
    }
  }

  @Test func `35, a failed request takes the early way out`() throws {
    func handle(_ response: Promise<Int>) -> String {
      do {
        return "response \(try response.await())"
      } catch {
        return "failed \((error as? Failure)?.code ?? 0)"
      }
    }
    try runBlocking {
      let promise = Promise<Int>()
      let handler = launch { handle(promise) }
      promise.reject(Failure(404))
      try #expect(handler.value() == "failed 404")
    }
  }

  @Test func `37, awaiting outside a coroutine says so`() async throws {
    try await onThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try Promise<Int>().await() }
    }
  }
}
