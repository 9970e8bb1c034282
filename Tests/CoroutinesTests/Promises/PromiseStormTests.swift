// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 9 under fire from several threads.
@Suite struct PromiseStormTests {
  @Test(arguments: Elsewhere.allCases)
  func `of many who settle exactly one wins (rule 9)`(place: Elsewhere) throws {
    let census = Census()
    try runBlocking {
      let schedulers = place.schedulers(4)
      for _ in 0..<100 {
        let promise = Promise<Counted>()
        let (wins, observed) = (Tally(), Tally())
        promise.finally { _ = observed.add() }
        let awaiter = launch(on: schedulers[3]) { try promise.settled() }
        let settlers = (0..<8).map { index in
          launch(on: schedulers[index % 4]) {
            let won =
              index % 2 == 0
              ? promise.fulfill(Counted(index, census)) : promise.reject(Failure(index))
            if won { wins.add() }
          }
        }
        for settler in settlers { try settler.join() }
        _ = try awaiter.value()
        #expect(wins.value == 1)
        #expect(observed.value == 1)
      }
    }
    // The awaiters' values are in coroutines of other threads.
    #expect(census.becomesEmpty())
  }

  @Test(arguments: Elsewhere.allCases)
  func `awaiting, cancelling and settling race without loss`(place: Elsewhere) throws {
    try runBlocking {
      let schedulers = place.schedulers(3)
      for round in 0..<100 {
        let promise = Promise<Int>()
        let awaiters = (0..<6).map { index in
          launch(on: schedulers[index % 3]) {
            try promise.await(onCancellation: index % 2 == 0 ? .leavePromise : .cancelPromise)
          }
        }
        let settler = launch(on: schedulers[round % 3]) { promise.fulfill(round) }
        awaiters[round % 6].cancel()
        for (index, awaiter) in awaiters.enumerated() {
          do {
            try #expect(awaiter.value() == round)
          } catch is CancellationError {
            #expect(index == round % 6)
          } catch let error as PromiseError where error == .cancelled {
            // The only interested one was cancelled first.
          }
        }
        try settler.join()
        #expect(!promise.isPending)
      }
    }
  }

  @Test func `observers registered while it settles are all called, once`() async throws {
    for _ in 0..<50 {
      let promise = Promise<Int>()
      let calls = Tally()
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            try await onThread { for _ in 0..<50 { promise.then { _ in _ = calls.add() } } }
          }
        }
        group.addTask { try await onThread { _ = promise.fulfill(1) } }
        try await group.waitForAll()
      }
      #expect(calls.value == 200)
    }
  }

  @Test func `a lazy promise that many await at once starts once`() throws {
    try runBlocking {
      let schedulers = Elsewhere.both.schedulers(4)
      for _ in 0..<50 {
        let started = Tally()
        let promise = Promise<Int>.lazy(on: schedulers[0]) { fulfill, _ in fulfill(started.add()) }
        let awaiters = (0..<8).map { index in
          launch(on: schedulers[index % 4]) { try promise.await() }
        }
        for awaiter in awaiters { try #expect(awaiter.value() == 1) }
      }
    }
  }

  @Test func `dropping the closures on many threads abandons once`() throws {
    try runBlocking {
      let schedulers = Elsewhere.both.schedulers(4)
      for _ in 0..<50 {
        let promise = Promise<Int> { fulfill, reject in
          for index in 0..<8 {
            launch(on: schedulers[index % 4]) {
              if Coroutine.isCancelled { index % 2 == 0 ? fulfill(1) : reject(Failure()) }
            }
          }
        }
        #expect(throws: PromiseError.abandoned) { try promise.await() }
      }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `of many calls of a then-able's resolver exactly one counts (rule 9)`(place: Elsewhere)
    throws
  {
    /// Lets others call while it is asked, and after that.
    struct Contended: Thenable {
      let callers: @Sendable (CallbackResolver<Int>) -> Void
      func whenSettled(_ resolver: CallbackResolver<Int>) { callers(resolver) }
    }
    try runBlocking {
      let schedulers = place.schedulers(3)
      for _ in 0..<100 {
        let (wins, calls, observed) = (Tally(), Tally(), Tally())
        let followed = Promise<Int>()
        let promise = Promise(
          following: Contended { resolver in
            for index in 0..<6 {
              launch(on: schedulers[index % 3]) {
                let won =
                  switch index % 3 {
                  case 0: resolver(index)
                  case 1: resolver(throwing: Failure(index))
                  default: resolver.follow(Contended { $0.follow(followed) })
                  }
                if won { wins.add() }
                if calls.add() == 6 { followed.fulfill(-1) }
              }
            }
          }
        )
        promise.finally { _ = observed.add() }
        _ = try promise.settled()
        _ = try followed.await()
        #expect(wins.value == 1)
        #expect(observed.value == 1)
      }
    }
  }
}
