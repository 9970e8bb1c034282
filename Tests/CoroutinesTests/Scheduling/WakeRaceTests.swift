// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// Wake-ups that come while their coroutine is on its way to sleep, in masses.
@Suite struct WakeRaceTests {
  /// Loops, serial queues and a concurrent one.
  private func makeSchedulers() -> [Scheduler] {
    [
      SerialScheduler(), SerialScheduler(),
      .queue(DispatchQueue(label: "one")), .queue(DispatchQueue(label: "two")),
      .queue(DispatchQueue(label: "many", attributes: .concurrent)),
    ]
  }

  @Test func `gates opened while their waiters come let everybody through, once (3.4-2)`() throws {
    let schedulers = makeSchedulers()
    let passed = Counter()
    try runBlocking {
      for _ in 0..<40 {
        let gates = (0..<schedulers.count).map { _ in Gate() }
        let waiters = schedulers.indices.flatMap { place in
          gates.map { gate in
            launch(on: schedulers[place]) {
              try gate.wait()
              passed.add()
            }
          }
        }
        for gate in gates { startThread { gate.open() } }
        for waiter in waiters { try waiter.value() }
      }
    }
    #expect(passed.value == 40 * 25)
  }

  @Test func `2,000 coroutines wake one another across queues and loops`() throws {
    let schedulers = makeSchedulers()
    let hops = 20
    let passed = Counter()
    try runBlocking {
      // Rings of coroutines: each waits for its left neighbour and wakes its right one.
      let rings = (0..<100).map { ring in
        (gates: (0..<20 * hops).map { _ in Gate() }, ring: ring)
      }
      var all: [Coroutine] = []
      for (gates, ring) in rings {
        for member in 0..<20 {
          let scheduler = schedulers[(ring + member) % schedulers.count]
          all.append(
            launch(on: scheduler, stackSize: .small) {
              for hop in 0..<hops {
                let turn = hop * 20 + member
                try gates[turn].wait()
                passed.add()
                if turn + 1 < gates.count { gates[turn + 1].open() }
              }
            }
          )
        }
        gates[0].open()
      }
      for coroutine in all {
        try coroutine.join()
        #expect(coroutine.error == nil)
      }
    }
    #expect(passed.value == 2_000 * hops)
  }

  @Test func `joins that race with the end are all woken`() throws {
    let schedulers = makeSchedulers()
    let joined = Counter()
    try runBlocking {
      for round in 0..<60 {
        let target = launch(on: schedulers[round % schedulers.count]) { round }
        let joiners = schedulers.flatMap { scheduler in
          (0..<4).map { _ in
            launch(on: scheduler) { if try target.value() == round { joined.add() } }
          }
        }
        for joiner in joiners { try joiner.value() }
      }
    }
    #expect(joined.value == 60 * 20)
  }

  @Test func `cancellation and wake-up race: each wait ends exactly one way`() throws {
    let schedulers = makeSchedulers()
    let passed = Counter()
    let cancelled = Counter()
    let rounds = 300
    try runBlocking {
      for round in 0..<rounds {
        let gate = Gate()
        let waiter = launch(on: schedulers[round % schedulers.count]) {
          do {
            try gate.wait()
            passed.add()
          } catch {
            cancelled.add()
          }
        }
        startThread { gate.open() }
        startThread { waiter.cancel() }
        try waiter.join()
        // Cancelled before its start, the body has not run.
        if waiter.error is CancellationError { cancelled.add() }
      }
    }
    #expect(passed.value + cancelled.value == rounds)
  }

  @Test func `cancellation and timer race: each sleep ends exactly one way`() throws {
    let schedulers = makeSchedulers()
    let ended = Counter()
    try runBlocking {
      for round in 0..<200 {
        let sleeper = launch(on: schedulers[round % schedulers.count]) {
          defer { ended.add() }
          try Coroutine.sleep(for: .microseconds(round % 50))
        }
        let canceller = launch(on: schedulers[(round + 1) % schedulers.count]) {
          try Coroutine.sleep(for: .microseconds(round % 50))
          sleeper.cancel()
        }
        try sleeper.join()
        try canceller.join()
        if sleeper.isCancelled, ended.value == round { ended.add() }
      }
    }
    #expect(ended.value == 200)
  }

  @Test func `launches storm every scheduler from plain threads`() throws {
    let schedulers = makeSchedulers()
    let ran = Counter()
    let threads = DispatchGroup()
    for _ in 0..<4 {
      threads.enter()
      startThread {
        for index in 0..<500 {
          launch(on: schedulers[index % schedulers.count], stackSize: .small) {
            try Coroutine.yield()
            ran.add()
          }
        }
        threads.leave()
      }
    }
    threads.wait()
    try runBlocking {
      while ran.value < 2_000 { try Coroutine.sleep(for: .microseconds(200)) }
    }
    #expect(ran.value == 2_000)
  }

  @Test func `tokens let through one at a time are neither lost nor doubled`() throws {
    let schedulers = makeSchedulers()
    let passed = Counter()
    let gate = Gate()
    try runBlocking {
      let waiters = (0..<500).map { index in
        launch(on: schedulers[index % schedulers.count], stackSize: .small) {
          try gate.wait()
          passed.add()
        }
      }
      let granted = Counter()
      for _ in 0..<3 {
        startThread {
          while granted.value < 500 {
            if gate.openForOne() { granted.add() }
          }
        }
      }
      for waiter in waiters { try waiter.value() }
      #expect(granted.value <= 502)
    }
    #expect(passed.value == 500)
  }
}
