// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Ends, outcomes and locks that one loop waits for and another brings about.
@Suite(.timeLimit(.minutes(30))) struct CrossLoopWakeTests {
  private final class Shared {
    let promise = Promise<Int>()
    let mutex = CoroutineMutex()
    let semaphore = CoroutineSemaphore(permits: 1)
    let group = CoroutineWaitGroup()
    var coroutine: Coroutine?
    var values: [Int] = []
    var inside = 0
    var most = 0
  }

  @Test func `everybody who awaits a promise is woken, however it is settled (rule 9)`() throws {
    let ways: [(Shared) -> Void] = [
      { $0.promise.fulfill(7) }, { $0.promise.reject(CancellationError()) },
      { $0.promise.cancel() },
    ]
    for settle in ways {
      let report = try Race { Shared() }
        .thread { shared in
          try runBlocking { shared.values.append((try? shared.promise.await()) ?? 0) }
        }
        .thread { shared in
          try runBlocking { shared.values.append((try? shared.promise.await()) ?? 0) }
        }
        .thread { shared in settle(shared) }
        .explore(.exhaustive(delays: 4), runs: 2_000) { shared in
          try #require(shared.values.count == 2 && shared.values[0] == shared.values[1])
        }
      #expect(report.runs > 10)
    }
  }

  @Test func `two who settle a promise: one wins, and all see that outcome (rule 9)`() throws {
    let report = try Race { Shared() }
      .thread { shared in if shared.promise.fulfill(1) { shared.values.append(1) } }
      .thread { shared in if shared.promise.fulfill(2) { shared.values.append(2) } }
      .explore { shared in
        try #require(shared.values.count == 1 && shared.promise.value == shared.values[0])
      }
    #expect(report.isComplete)
  }

  /// A thread whose coroutine ends, having noted 1.
  private static func threadThatEnds(_ shared: Shared) throws {
    try runBlocking {
      shared.coroutine = Coroutine.current
      try Coroutine.yield()
      shared.values.append(1)
    }
  }

  @Test func `a join on another loop sees the end (rule 6)`() throws {
    try Race { Shared() }
      .thread(Self.threadThatEnds)
      .thread { shared in
        try runBlocking {
          guard let coroutine = shared.coroutine else { return }
          try coroutine.join()
          try #require(coroutine.isFinished && shared.values == [1])
        }
      }
      .explore(.exhaustive(delays: 4), runs: 2_000)
  }

  @Test func `a hook from another thread runs once, after the body`() throws {
    let report = try Race { Shared() }
      .thread(Self.threadThatEnds)
      .thread { shared in
        guard let coroutine = shared.coroutine else { return }
        shared.inside = 1
        coroutine.onFinish { shared.values.append(2) }
      }
      .explore(.exhaustive(delays: 4), runs: 2_000) { shared in
        try #require(shared.values == (shared.inside == 1 ? [1, 2] : [1]))
      }
    #expect(report.runs > 10)
  }

  @Test func `a hook from another thread has run when a join after it goes on`() throws {
    let report = try Race { Shared() }
      .thread(Self.threadThatEnds)
      .thread { shared in
        guard let coroutine = shared.coroutine else { return }
        shared.inside = 1
        coroutine.onFinish { shared.promise.fulfill(2) }
        try runBlocking {
          try coroutine.join()
          shared.values.append(shared.promise.value ?? 0)
        }
      }
      .explore(.exhaustive(delays: 4), runs: 2_000) { shared in
        try #require(shared.values == (shared.inside == 1 ? [1, 2] : [1]))
      }
    #expect(report.runs > 10)
  }

  @Test func `a cancellation from another loop ends a wait, or comes too late (rules 2 and 3)`()
    throws
  {
    try Race { Shared() }
      .thread { shared in
        do {
          try runBlocking {
            shared.coroutine = Coroutine.current
            shared.values.append(try shared.promise.await())
          }
        } catch is CancellationError {
          shared.values.append(-1)
        }
      }
      .thread { shared in
        // Cancelled or not, the promise is settled in the end, so nobody may sleep.
        shared.coroutine?.cancel()
        shared.promise.fulfill(1)
      }
      .explore(.exhaustive(delays: 4), runs: 3_000) { shared in
        try #require(shared.values == [1] || shared.values == [-1])
      }
  }

  @Test func `a mutex lets one in at a time, and everybody in the end (rule 4)`() throws {
    let enter: (Shared) throws -> Void = { shared in
      try runBlocking {
        try shared.mutex.withLock {
          shared.inside += 1
          shared.most = max(shared.most, shared.inside)
          try Coroutine.yield()
          shared.inside -= 1
        }
      }
    }
    try Race { Shared() }
      .thread(enter)
      .thread(enter)
      .explore(.exhaustive(delays: 3), runs: 3_000) {
        shared in
        try #require(shared.most == 1 && shared.inside == 0)
      }
  }

  @Test func `a semaphore of one loses no permit to a cancelled waiter (rule 3)`() throws {
    try Race { Shared() }
      .thread { shared in
        try? runBlocking {
          shared.coroutine = Coroutine.current
          try shared.semaphore.withPermit {}
        }
      }
      .thread { shared in
        try runBlocking { try shared.semaphore.withPermit { try Coroutine.yield() } }
      }
      .thread { shared in shared.coroutine?.cancel() }
      .explore(.exhaustive(delays: 3), runs: 3_000) { shared in
        try #require(shared.semaphore.available == 1)
      }
  }

  @Test func `a wait group opens when the last one is done`() throws {
    try Race {
      let shared = Shared()
      shared.group.add(2)
      return shared
    }
    .thread { shared in
      try runBlocking {
        try shared.group.wait()
        try #require(shared.values.count == 2)
      }
    }
    .thread { shared in
      shared.values.append(1)
      shared.group.done()
    }
    .thread { shared in
      shared.values.append(2)
      shared.group.done()
    }
    .explore(.exhaustive(delays: 3), runs: 3_000)
  }

  @Test
  func `a scope cancelled from another loop ends its children, or they have ended (rules 6 and 8)`()
    throws
  {
    final class Loops {
      let channel = Channel<Int>()
      var scope: CoroutineScope?
      var outcome = ""
    }
    try Race { Loops() }
      .thread { loops in
        try runBlocking {
          do {
            try withCoroutineScope { scope in
              scope.launch { _ = try loops.channel.receive() }
              loops.scope = scope
              try Coroutine.yield()
              loops.scope = nil
            }
            loops.outcome = "received"
          } catch is CancellationError {
            loops.outcome = "cancelled"
          } catch ChannelError.closed {
            loops.outcome = "closed"
          }
        }
      }
      .thread { loops in
        loops.scope?.cancel()
        _ = loops.channel.sendIfReady(1)
        loops.channel.close()
      }
      .explore(.exhaustive(delays: 3), runs: 3_000) { loops in
        try #require(!loops.outcome.isEmpty)
      }
  }

  /// Two that wait on one loop, of which the loop watches the one that ran last, and what they did.
  private final class Watched {
    let promises = [Promise<Int>(), Promise<Int>()]
    var waiters: [Coroutine?] = [nil, nil]
    var bothWaited = false
    var order: [Int] = []

    func wait(_ number: Int) throws {
      waiters[number] = Coroutine.current
      _ = try promises[number].await()
      order.append(number)
    }

    func wake(_ first: Int) {
      bothWaited = waiters.allSatisfy { $0?.state == .suspended }
      promises[first].fulfill(0)
      promises[1 - first].fulfill(0)
    }
  }

  @Test(arguments: [0, 1])
  func `those who are woken from elsewhere go on in the order of it (W4)`(_ first: Int) throws {
    var orders: Set<[Int]> = []
    try Race { Watched() }
      .thread { watched in
        try runBlocking {
          let other = launch { try watched.wait(0) }
          try watched.wait(1)
          try other.value()
        }
      }
      .thread { watched in watched.wake(first) }
      .explore(.exhaustive(delays: 5), runs: 6_000) { watched in
        try #require(watched.order.count == 2)
        guard watched.bothWaited else { return }
        orders.insert(watched.order)
        try #require(watched.order == [first, 1 - first])
      }
    #expect(orders == [[first, 1 - first]])
  }

  @Test func `who is woken from elsewhere while its limit passes goes on once (W4)`() throws {
    try Race { Shared() }
      .thread { shared in
        try runBlocking {
          let value = try? withTimeout(.milliseconds(1)) { try shared.promise.await() }
          shared.values.append(value ?? -1)
        }
      }
      .thread { shared in shared.promise.fulfill(7) }
      .explore(.exhaustive(delays: 4), runs: 3_000) { shared in
        try #require(shared.values == [7] || shared.values == [-1])
      }
  }
}

#endif
