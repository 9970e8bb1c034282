// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct CombiningTests {
  private func promises(_ count: Int) -> [Promise<Int>] { (0..<count).map { _ in Promise() } }

  @Test func `all gathers the values in order, whatever order they come in`() {
    let promises = promises(4)
    let all = Promise.all(promises)
    for index in [2, 0, 3] { promises[index].fulfill(index) }
    #expect(all.isPending)
    promises[1].fulfill(1)
    #expect(all.value == [0, 1, 2, 3])
  }

  @Test func `all is rejected by the first error`() {
    let promises = promises(3)
    let all = Promise.all(promises)
    promises[1].reject(Failure(1))
    #expect(all.error as? Failure == Failure(1))
    promises[0].reject(Failure(0))
    promises[2].fulfill(2)
    #expect(all.error as? Failure == Failure(1))
  }

  @Test func `allSettled gathers values and errors in order`() throws {
    let promises = promises(3)
    let all = Promise.allSettled(promises)
    promises[2].fulfill(2)
    promises[1].reject(Failure(1))
    #expect(all.isPending)
    promises[0].cancel()
    let outcomes = try #require(all.value)
    #expect(throws: PromiseError.cancelled) { try outcomes[0].get() }
    #expect(throws: Failure(1)) { try outcomes[1].get() }
    try #expect(outcomes[2].get() == 2)
  }

  @Test func `any takes the first value and skips errors`() {
    let promises = promises(3)
    let any = Promise.any(promises)
    promises[2].reject(Failure(2))
    #expect(any.isPending)
    promises[1].fulfill(1)
    promises[0].fulfill(0)
    #expect(any.value == 1)
  }

  @Test func `any is rejected with all reasons when nobody fulfils`() {
    let promises = promises(2)
    let any = Promise.any(promises)
    promises[1].reject(Failure(1))
    promises[0].reject(Failure(0))
    let error = any.error as? PromiseError
    #expect(error == .noneFulfilled)
    #expect(error?.reasons == ["Failure(code: 0)", "Failure(code: 1)"])
    #expect(error?.description.contains("None of 2 promises") == true)
  }

  @Test func `race takes the first outcome of any kind`() {
    let first = promises(2)
    let race = Promise.race(first)
    first[1].reject(Failure(1))
    first[0].fulfill(0)
    #expect(race.error as? Failure == Failure(1))
    let second = promises(2)
    let again = Promise.race(second)
    second[0].fulfill(0)
    #expect(again.value == 0)
    // Dropped earlier, the other one would be the first to have an outcome: abandoned.
    withExtendedLifetime(second) {}
  }

  @Test func `of no promises: all and allSettled fulfil, any and race reject`() {
    #expect(Promise.all([Promise<Int>]()).value == [])
    #expect(Promise.allSettled([Promise<Int>]()).value?.count == 0)
    #expect(Promise<Int>.any([]).error as? PromiseError == .noneFulfilled)
    #expect(Promise<Int>.race([]).error as? PromiseError == .noneFulfilled)
  }

  @Test func `combining settled promises settles at once`() {
    let settled = [Promise.fulfilled(1), .fulfilled(2)]
    #expect(Promise.all(settled).value == [1, 2])
    #expect(Promise.any(settled).value == 1)
    #expect(Promise.race(settled).value == 1)
  }

  @Test func `one promise may stand in several places`() {
    let promise = Promise<Int>()
    let all = Promise.all([promise, promise, promise])
    promise.fulfill(3)
    #expect(all.value == [3, 3, 3])
  }

  @Test func `awaitAll returns outcomes in the order of the promises`() throws {
    try runBlocking {
      let promises = (0..<4).map { index in
        Promise<Int> {
          for _ in index..<4 { try Coroutine.yield() }
          if index == 2 { throw Failure(2) }
          return index
        }
      }
      let outcomes = try awaitAll(promises)
      #expect(outcomes.map { try? $0.get() } == [0, 1, nil, 3])
      try #expect(awaitAll([Promise<Int>]()).isEmpty)
    }
  }

  @Test func `awaitAll takes promises of several types`() throws {
    try runBlocking {
      let (number, text, flag) = try awaitAll(
        Promise { 1 },
        Promise<String> { throw Failure(5) },
        Promise<Bool> {
          try Coroutine.yield()
          return true
        }
      )
      try #expect(number.get() == 1)
      #expect(throws: Failure(5)) { try text.get() }
      try #expect(flag.get())
    }
  }

  @Test func `promises that are awaited together work at the same time`() throws {
    try runBlocking {
      let running = Tally()
      let seen = SharedLog<Int>()
      func work() -> Promise<Int> {
        Promise.lazy { fulfill, _ in
          seen.add(running.add())
          try Coroutine.sleep(for: .milliseconds(2))
          running.add(-1)
          fulfill(1)
        }
      }
      _ = try awaitAll([work(), work(), work()])
      _ = try awaitAll(work(), work())
      #expect(seen.entries == [1, 2, 3, 1, 2])
    }
  }

  @Test func `cancelling awaitAll leaves the promises (rule 3)`() throws {
    try runBlocking {
      let promises = promises(2)
      let awaiter = launch { _ = try awaitAll(promises) }
      try letOthersRun()
      promises[0].fulfill(0)
      try awaiter.cancelAndJoin()
      #expect(awaiter.error is CancellationError)
      #expect(promises[1].isPending)
      promises[1].fulfill(1)
    }
  }

  @Test func `combined promises release their values`() {
    let census = Census()
    do {
      let promises = (0..<3).map { _ in Promise<Counted>() }
      let all = Promise.all(promises)
      _ = Promise.race(promises)
      _ = Promise.any(promises)
      for (index, promise) in promises.enumerated() { promise.fulfill(Counted(index, census)) }
      #expect(all.value?.count == 3)
    }
    #expect(census.alive == 0)
  }
}
