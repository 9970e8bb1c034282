// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineSemaphoreTests {
  @Test(arguments: [1, 2, 5])
  func `at most so many are inside at a time (rule 13)`(permits: Int) throws {
    try runBlocking {
      let semaphore = CoroutineSemaphore(permits: permits, limit: permits)
      var (inside, most) = (0, 0)
      try withCoroutineScope { scope in
        for _ in 0..<12 {
          scope.launch {
            try semaphore.withPermit {
              inside += 1
              most = max(most, inside)
              try Coroutine.yield()
              inside -= 1
            }
          }
        }
      }
      #expect(most == permits)
      #expect(semaphore.available == permits)
    }
  }

  @Test func `who asks for many is not overtaken by those who ask for few (rule 4)`() throws {
    try runBlocking {
      let semaphore = CoroutineSemaphore(permits: 2)
      let steps = Steps<String>()
      launch { try semaphore.withPermits(3) { steps.add("three") } }
      launch { try semaphore.withPermit { steps.add("one") } }
      try letOthersRun()
      #expect(steps.entries == [])
      #expect(!semaphore.acquireIfReady(), "somebody waits")
      semaphore.release()
      try letOthersRun()
      #expect(steps.entries == ["three", "one"])
      #expect(semaphore.available == 3)
    }
  }

  @Test func `those behind a cancelled waiter go on if there is enough for them (rule 3)`() throws {
    try runBlocking {
      let semaphore = CoroutineSemaphore(permits: 2)
      let steps = Steps<Int>()
      let big = launch { try semaphore.acquire(3) }
      let small = (1...2).map { n in
        launch {
          try semaphore.acquire()
          steps.add(n)
        }
      }
      try letOthersRun()
      #expect(steps.entries == [])
      try big.cancelAndJoin()
      for coroutine in small { try coroutine.value() }
      #expect(steps.entries == [1, 2])
      #expect(semaphore.available == 0)
    }
  }

  @Test func `permits that were handed over before a cancellation are taken (rule 3)`() throws {
    try runBlocking {
      let semaphore = CoroutineSemaphore(permits: 0)
      let first = launch { try semaphore.acquire(2) }
      let second = launch { try semaphore.acquire(2) }
      try letOthersRun()
      semaphore.release(2)
      first.cancel()
      try first.value()
      #expect(second.state == .suspended)
      semaphore.release(2)
      try second.value()
      #expect(semaphore.available == 0)
    }
  }

  @Test func `a release without an acquire is a signal, from any thread`() throws {
    let semaphore = CoroutineSemaphore(permits: 0)
    try runBlocking {
      startThread { semaphore.release(3) }
      try semaphore.acquire(3)
    }
    #expect(semaphore.available == 0)
  }

  @Test func `acquiring is a cancellation point even when permits are left (rule 2)`() throws {
    try runBlocking {
      let semaphore = CoroutineSemaphore(permits: 1)
      try launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try semaphore.acquire() }
      }.value()
      #expect(semaphore.available == 1)
    }
  }

  @Test func `an error inside gives the permits back`() throws {
    try runBlocking {
      let semaphore = CoroutineSemaphore(permits: 3)
      #expect(throws: Failure(2)) { try semaphore.withPermits(2) { throw Failure(2) } }
      #expect(semaphore.available == 3)
    }
  }

  @Test func `outside a coroutine only the variant that never waits works (rule 12)`() {
    let semaphore = CoroutineSemaphore(permits: 2)
    onPlainThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try semaphore.acquire() }
      #expect(semaphore.acquireIfReady(2))
      #expect(!semaphore.acquireIfReady())
    }
    #expect(semaphore.available == 0)
  }

  @Test func `releasing more than the limit stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CoroutineSemaphore(permits: 1, limit: 2).release(2)
    }
    #expect(result.text.contains("Release only what was acquired"))
  }

  @Test func `asking for more than the limit stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CoroutineSemaphore(permits: 1, limit: 2).acquireIfReady(3)
    }
    #expect(result.text.contains("from 1 to its limit, 2"))
  }

  @Test func `a task waits in the same line`() async throws {
    let semaphore = CoroutineSemaphore(permits: 0)
    let task = Task { try await semaphore.acquire(2) }
    let coroutine = launch(on: SerialScheduler()) { try semaphore.acquire() }
    semaphore.release(3)
    try await task.value
    try await coroutine.value()
    #expect(semaphore.available == 0)
  }

  @Test func `a cancelled task takes none and lets others go on (rule 3)`() async throws {
    let semaphore = CoroutineSemaphore(permits: 1)
    let task = Task { try await semaphore.acquire(2) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await semaphore.acquire()
    #expect(semaphore.available == 0)
  }

  @Test(arguments: Elsewhere.allCases)
  func `no permit is lost or doubled among threads (rule 3)`(place: Elsewhere) throws {
    let semaphore = CoroutineSemaphore(permits: 3, limit: 3)
    let inside = Tally()
    try runBlocking {
      let schedulers = place.schedulers(4)
      for round in 0..<100 {
        let workers = (0..<6).map { index in
          launch(on: schedulers[index % 4]) {
            let count = index % 3 + 1
            for _ in 0..<4 {
              try semaphore.withPermits(count) {
                #expect(inside.add(count) <= 3)
                defer { inside.add(-count) }
                try Coroutine.yield()
              }
            }
          }
        }
        workers[round % 6].cancel()
        if round % 2 == 0 { try Coroutine.yield() }
        workers[(round + 3) % 6].cancel()
        for worker in workers { try worker.join() }
        #expect(semaphore.available == 3)
      }
    }
  }
}
