// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

/// Pools on real threads, in masses: nothing is lost, nothing runs twice, and everybody ends.
@Suite(.timeLimit(.minutes(30)))
struct PoolStressTests {
  @Test(arguments: [2, 3, 4])
  func `launches from inside and outside at once all run, once`(threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    let (launchers, each) = (4, 500)
    let runs = Counter()
    try runBlocking {
      let outside = (0..<launchers).map { _ in
        let done = Gate()
        startThread {
          for _ in 0..<each {
            launch(on: pool) {
              runs.add()
              launch { runs.add() }
            }
          }
          done.open()
        }
        return done
      }
      let inside = (0..<launchers).map { _ in
        launch(on: pool) {
          for number in 0..<each {
            launch { runs.add() }
            if number % 64 == 0 { try Coroutine.yield() }
          }
        }
      }
      for launcher in inside { try launcher.value() }
      for done in outside { try done.wait() }
      while runs.value < 3 * launchers * each { try Coroutine.sleep(for: .microseconds(100)) }
    }
    #expect(runs.value == 3 * launchers * each)
  }

  @Test(arguments: [2, 4])
  func `values of a tree that is joined while it is being taken add up (rule 6)`(threads: Int)
    throws
  {
    func sum(_ first: Int, _ count: Int) throws -> Int {
      if count <= 3 { return (first..<first + count).reduce(0, +) }
      let half = count / 2
      let left = launch { try sum(first, half) }
      let right = launch { try sum(first + half, count - half) }
      // Sometimes the newer first, sometimes the one that lies deeper in the list.
      return count % 2 == 0
        ? try left.value() + right.value() : try right.value() + left.value()
    }
    let pool = PoolScheduler(threads: threads)
    try runBlocking {
      for _ in 0..<10 {
        let total = launch(on: pool) { try sum(0, 4_000) }
        try #expect(total.value() == 3_999 * 2_000)
      }
    }
  }

  @Test(arguments: [2, 4])
  func `one that several join from several threads runs once`(threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    let (runs, joined) = (Counter(), Counter())
    try runBlocking {
      for _ in 0..<50 {
        let round = launch(on: pool) {
          let wanted = (0..<10).map { _ in launch { runs.add() } }
          let joiners = (0..<4).map { _ in
            launch {
              for one in wanted { try one.join() }
              joined.add()
            }
          }
          for joiner in joiners { try joiner.value() }
        }
        try round.value()
      }
    }
    #expect(runs.value == 500)
    #expect(joined.value == 200)
  }

  @Test(arguments: [2, 4])
  func `each one that is cancelled ends, whether it was waiting, taken, or in a list (rule 2)`(
    threads: Int
  ) throws {
    let pool = PoolScheduler(threads: threads)
    let (begun, unwound) = (Counter(), Counter())
    try runBlocking {
      for round in 0..<40 {
        let parent = launch(on: pool) {
          let children = (0..<40).map { _ in
            launch {
              begun.add()
              defer { unwound.add() }
              try waitForEver()
            }
          }
          if round % 4 == 0 {
            // By themselves, some before they start.
            for child in children { child.cancel() }
          } else if round % 4 == 1 {
            for child in children { child.cancel() }
            try Coroutine.yield()
          } else {
            try Coroutine.yield()
            // With their parent, from another thread.
            try waitForEver()
          }
          for child in children { try child.join() }
        }
        if round % 4 == 3 { try Coroutine.yield() }
        if round % 4 >= 2 { parent.cancel() }
        try parent.join()
      }
      while unwound.value < begun.value { try Coroutine.sleep(for: .microseconds(100)) }
    }
    #expect(unwound.value == begun.value)
  }

  @Test(arguments: [2, 3, 4])
  func `values through channels between threads of a pool add up (rule 4)`(threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    try runBlocking {
      for capacity in [0, 1, 16] {
        let (work, results) = (Channel<Int>(capacity: capacity), Channel<Int>())
        let total = launch(on: pool) {
          try withCoroutineScope { scope in
            for sender in 0..<4 {
              scope.launch { for number in 0..<250 { try work.send(sender * 250 + number) } }
            }
            for _ in 0..<4 {
              scope.launch { for number in work { try results.send(number * 2) } }
            }
            var total = 0
            for _ in 0..<1_000 { total += try results.receive() }
            work.close()
            return total
          }
        }
        try #expect(total.value() == 999 * 1_000)
      }
    }
  }

  @Test(arguments: [2, 4])
  func `scopes wait for all their children, and fail with the first (rule 6)`(threads: Int) throws {
    struct Failure: Error {}
    let pool = PoolScheduler(threads: threads)
    let alive = Counter()
    try runBlocking {
      let rounds = (0..<100).map { round in
        launch(on: pool) {
          do {
            try withCoroutineScope { scope in
              for number in 0..<20 {
                scope.launch {
                  alive.add()
                  defer { alive.add(-1) }
                  if round % 2 == 0, number == round % 20 { throw Failure() }
                  if round % 2 == 0 { try waitForEver() }
                  try Coroutine.yield()
                }
              }
            }
            return 0
          } catch is Failure {
            return 1
          }
        }
      }
      var failures = 0
      for round in rounds { failures += try round.value() }
      #expect(failures == 50)
    }
    #expect(alive.value == 0)
  }

  @Test func `pools come and go, with launches up to their end`() throws {
    let (bodies, children) = (Counter(), Counter())
    var accepted = 0
    try runBlocking {
      for round in 0..<100 {
        var pool: PoolScheduler? = PoolScheduler(threads: 2 + round % 3)
        let kept = pool.map { launch(on: $0) { Scheduler.current } }
        let scheduler = try #require(try kept?.value())
        let (done, launched) = (Gate(), Bag<Coroutine>())
        startThread {
          for _ in 0..<20 {
            launched.add(
              launch(on: scheduler) {
                bodies.add()
                // Whoever lives keeps the pool, so this one is not refused.
                try launch { _ = children.add() }.value()
              }
            )
          }
          done.open()
        }
        pool = nil
        try done.wait()
        for coroutine in launched.contents {
          try coroutine.join()
          if coroutine.error == nil { accepted += 1 }
        }
      }
    }
    #expect(bodies.value == accepted)
    #expect(children.value == accepted)
  }
}
