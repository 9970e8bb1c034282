// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

/// Eager and lazy promises, with and without a scheduler.
@Suite struct PromiseMakingTests {
  @Test func `an eager promise begins at once, up to where it parks`() throws {
    try runBlocking {
      let steps = Steps<Int>()
      let promise = Promise<Int> {
        steps.add(1)
        try Coroutine.yield()
        steps.add(3)
        return 5
      }
      steps.add(2)
      try #expect(promise.await() == 5)
      #expect(steps.entries == [1, 2, 3])
    }
  }

  @Test func `two promises that are made and then awaited overlap`() throws {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      // Each waits for the other: one after the other they would never end.
      let first = Promise<Int> {
        try one.send(1)
        return try other.receive()
      }
      let second = Promise<Int> {
        let value = try one.receive()
        try other.send(2)
        return value
      }
      try #expect(first.await() == 2)
      try #expect(second.await() == 1)
    }
  }

  @Test func `a promise on a queue runs its constructor there, never inline`() throws {
    let key = DispatchSpecificKey<Int>()
    let queue = DispatchQueue(label: "promise")
    queue.setSpecific(key: key, value: 9)
    try runBlocking {
      let promise = Promise<Int?>(on: queue) { fulfill, _ in
        fulfill(DispatchQueue.getSpecific(key: key))
      }
      try #expect(promise.await() == 9)
    }
  }

  @Test func `a promise on a scheduler runs its constructor as a coroutine there`() throws {
    try runBlocking {
      let promise = Promise<Bool>(on: SerialScheduler(name: "away")) { fulfill, _ in
        try Coroutine.yield()
        fulfill(Scheduler.current.description == "away")
      }
      try #expect(promise.await())
    }
  }

  @Test func `a promise made outside any scheduler works on the shared queue`() async throws {
    let promise = try await onThread { Promise<Int> { 11 } }
    try #expect(await promise.value() == 11)
  }

  @Test func `a lazy promise starts at the first await, and once`() throws {
    try runBlocking {
      let started = Tally()
      let promise = Promise<Int>.lazy { fulfill, _ in
        started.add()
        try Coroutine.yield()
        fulfill(1)
      }
      try letOthersRun()
      #expect(started.value == 0)
      let awaiters = (0..<3).map { _ in launch { try promise.await() } }
      for awaiter in awaiters { try #expect(awaiter.value() == 1) }
      #expect(started.value == 1)
    }
  }

  @Test func `observing, starting and a task's look start a lazy promise`() async throws {
    let started = Tally()
    func make() -> Promise<Int> {
      .lazy(on: .shared) { fulfill, _ in
        started.add()
        fulfill(3)
      }
    }
    let observed = make()
    try #expect(await observed.then { $0 + 1 }.value() == 4)
    let begun = make()
    begun.start()
    begun.start()
    try #expect(await begun.value() == 3)
    try #expect(await make().value() == 3)
    try #expect(await Promise.all([make(), make()]).value() == [3, 3])
    #expect(started.value == 5)
  }

  @Test func `a lazy promise that is settled by hand never starts`() throws {
    let started = Tally()
    let promise = Promise<Int>.lazy { _, _ in started.add() }
    promise.cancel()
    try runBlocking {
      _ = #expect(throws: PromiseError.cancelled) { try promise.await() }
    }
    #expect(started.value == 0)
  }

  @Test func `a lazy promise that nobody looks at goes away with its closure`() {
    let census = Census()
    do {
      let held = Counted(1, census)
      _ = Promise<Int>.lazy { _, _ in _ = held.number }
    }
    #expect(census.alive == 0)
  }

  @Test func `a lazy promise whose constructor drops its closures is abandoned`() throws {
    try runBlocking {
      let promise = Promise<Int>.lazy { _, _ in }
      #expect(throws: PromiseError.abandoned) { try promise.await() }
    }
  }
}
