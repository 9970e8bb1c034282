// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 9: dropping the last way to settle a pending promise rejects it and says where it was made.
@Suite struct AbandonedTests {
  private final class Keeper<Value>: @unchecked Sendable {
    // SAFETY: used by one thread at a time.
    var value: Value?
  }

  @Test func `dropping both closures rejects the promise and names its line (rule 9)`() throws {
    try runBlocking {
      let line: UInt = #line + 1
      let promise = Promise<Int> { _, _ in }
      try letOthersRun()
      #expect(promise.error as? PromiseError == .abandoned)
      let text = promise.error.map { "\($0)" } ?? ""
      #expect(text.contains("AbandonedTests.swift:\(line)"), "\(text)")
      #expect(text.contains("Call one of the two on every path"))
    }
  }

  @Test func `an awaiter learns of it (rule 9)`() throws {
    try runBlocking {
      let keeper = Keeper<Promise<Int>.Fulfill>()
      let promise = Promise<Int> { fulfill, _ in keeper.value = fulfill }
      let awaiter = launch { try promise.await() }
      try letOthersRun()
      #expect(awaiter.state == .suspended)
      keeper.value = nil
      #expect(throws: PromiseError.abandoned) { try awaiter.value() }
    }
  }

  @Test func `one of the two closures is enough to keep it pending`() throws {
    try runBlocking {
      let keeper = Keeper<Promise<Int>.Reject>()
      let promise = Promise<Int> { _, reject in keeper.value = reject }
      try letOthersRun()
      #expect(promise.isPending)
      keeper.value?(Failure(1))
      keeper.value = nil
      #expect(promise.error as? Failure == Failure(1))
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `a callback that goes away elsewhere abandons it too (rule 9)`(place: Elsewhere) throws {
    try runBlocking {
      let scheduler = place.schedulers(1)[0]
      let promise = Promise<Int>(on: scheduler) { fulfill, _ in
        launch {
          try Coroutine.yield()
          if Coroutine.isCancelled { fulfill(1) }
        }
      }
      #expect(throws: PromiseError.abandoned) { try promise.await() }
    }
  }

  @Test func `a promise made by hand that goes away rejects those made from it (rule 9)`() {
    var promise: Promise<Int>? = Promise()
    let derived = promise?.then { $0 + 1 }
    let follower = Promise<Int>()
    if let promise { follower.follow(promise) }
    #expect(derived?.isPending == true)
    promise = nil
    #expect(derived?.error as? PromiseError == .abandoned)
    #expect(follower.error as? PromiseError == .abandoned)
  }

  @Test func `what the constructor throws rejects the promise`() throws {
    try runBlocking {
      let promise = Promise<Int> { _, _ in throw Failure(3) }
      #expect(throws: Failure(3)) { try promise.await() }
      let other = Promise<Int> { throw Failure(4) }
      #expect(throws: Failure(4)) { try other.await() }
    }
  }

  @Test func `an abandoned promise releases what its constructor held`() throws {
    let census = Census()
    try runBlocking {
      let held = Counted(1, census)
      let promise = Promise<Int> { _, _ in _ = held.number }
      try letOthersRun()
      #expect(promise.isRejected)
    }
    #expect(census.alive == 0)
  }

  @Test func `a settled promise is not abandoned afterwards`() throws {
    try runBlocking {
      let promise = Promise<Int> { fulfill, _ in fulfill(5) }
      try letOthersRun()
      #expect(promise.value == 5)
    }
  }
}
