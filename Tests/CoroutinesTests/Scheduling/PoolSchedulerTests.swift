// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30)))
struct PoolSchedulerTests {
  @Test(arguments: [1, 2, 5])
  func `values come back from all threads`(threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    #expect(pool.threadCount == threads)
    try runBlocking {
      let squares = (0..<1000).map { number in launch(on: pool) { number * number } }
      for (number, square) in squares.enumerated() {
        try #expect(square.value() == number * number)
      }
    }
  }

  @Test func `a coroutine that has started stays on its thread`() throws {
    let pool = PoolScheduler(threads: 3)
    let changes = Counter()
    try runBlocking {
      let workers = (0..<60).map { _ in
        launch(on: pool) {
          let thread = currentThread()
          for _ in 0..<50 {
            try Coroutine.yield()
            if currentThread() != thread { changes.add() }
          }
        }
      }
      for worker in workers { try worker.value() }
    }
    #expect(changes.value == 0)
  }

  @Test func `what has not started is taken over from a thread that is busy`() throws {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let answer = Channel<Int>(capacity: 2)
      // Never parks, and lets no child run, until both have run elsewhere.
      let busy = launch(on: pool) {
        let own = UInt(bitPattern: currentThread())
        let children = (0..<2).map { number in
          launch(on: pool) {
            #expect(UInt(bitPattern: currentThread()) != own)
            _ = answer.sendIfReady(number)
          }
        }
        while !children.allSatisfy(\.isFinished) {}
      }
      try busy.value()
      try #expect(Set(answer.receive(count: 2)) == [0, 1])
    }
  }

  @Test func `a thread that takes over none that are short takes over one that waits`() throws {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let rounds = launch(on: pool) {
        let own = UInt(bitPattern: currentThread())
        for _ in 0..<20 {
          // So short that the other thread leaves them alone after a while.
          try withCoroutineScope { scope in
            for _ in 0..<2000 { scope.launch(on: .current) {} }
          }
          // Only the other thread can run this, without being called: nothing is launched any more.
          let other = launch(on: .current) { #expect(UInt(bitPattern: currentThread()) != own) }
          while !other.isFinished {}
        }
      }
      try rounds.value()
    }
  }

  @Test func `a launch on a pool thread's current scheduler is one on the pool`() throws {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let busy = launch(on: pool) {
        let own = UInt(bitPattern: currentThread())
        let children = (0..<2).map { _ in
          launch(on: .current) { UInt(bitPattern: currentThread()) != own }
        }
        // The same by an object.
        let others = (0..<2).map { _ in
          launch(on: Scheduler.current) { UInt(bitPattern: currentThread()) != own }
        }
        let all = children + others
        while !all.allSatisfy(\.isFinished) {}
        return try all.allSatisfy { try $0.value() } && Scheduler.current === Scheduler.current
      }
      try #expect(busy.value())
    }
  }

  @Test func `a launch of a scope on a pool thread's current scheduler is one on the pool`() throws
  {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let busy = launch(on: pool) {
        try withCoroutineScope { scope in
          let own = UInt(bitPattern: currentThread())
          let child = scope.launch(on: .current, name: "elsewhere") {
            (UInt(bitPattern: currentThread()) != own, Coroutine.current?.name)
          }
          while !child.isFinished {}
          return try child.value()
        }
      }
      try #expect(busy.value() == (true, "elsewhere"))
    }
  }

  @Test func `a launch on the current scheduler that is no pool is one on the caller's`() throws {
    let service = SerialScheduler(name: "service")
    let isSame = try runBlocking {
      try launch(on: service) {
        let own = UInt(bitPattern: currentThread())
        let child = launch(on: .current, name: "child") {
          UInt(bitPattern: currentThread()) == own && Coroutine.current?.name == "child"
        }
        let scoped = try withCoroutineScope { scope in
          try scope.launch(on: .current) { UInt(bitPattern: currentThread()) == own }.value()
        }
        return try child.value() && scoped
      }.value()
    }
    #expect(isSame)
  }

  @Test func `small lists of two busy threads are both emptied by the third`() throws {
    let pool = PoolScheduler(threads: 3)
    try runBlocking {
      let busy = (0..<2).map { _ in
        launch(on: pool) {
          let children = (0..<2).map { number in launch(on: pool) { number } }
          // Never parks, so none of them can begin here.
          while !children.allSatisfy(\.isFinished) {}
        }
      }
      for one in busy { try one.value() }
    }
  }

  @Test func `two threads really work at the same time`() throws {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let met = Counter()
      let two = (0..<2).map { _ in
        launch(on: pool) {
          met.add()
          // Each needs the other to be running, and neither parks.
          while met.value < 2 {}
        }
      }
      for one in two { try one.value() }
    }
  }

  @Test func `one that is joined before it has started is started next`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let order = launch(on: pool) {
        let order = Channel<Int>(capacity: .max)
        let children = (0..<4).map { number in
          launch(on: pool) { _ = order.sendIfReady(number) }
        }
        for child in children { try child.join() }
        return try order.receive(count: 4)
      }
      try #expect(order.value() == [0, 1, 2, 3])
    }
  }

  @Test func `without a join the newest starts first`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let order = launch(on: pool) {
        let order = Channel<Int>(capacity: .max)
        try withCoroutineScope { scope in
          for number in 0..<3 { scope.launch(on: pool) { _ = order.sendIfReady(number) } }
        }
        return try order.receive(count: 3)
      }
      try #expect(order.value() == [2, 1, 0])
    }
  }

  @Test
  func `without a scheduler named, a child stays on its parent's thread, first come first served`()
    throws
  {
    let pool = PoolScheduler(threads: 3)
    try runBlocking {
      let parents = (0..<20).map { _ in
        launch(on: pool) {
          let own = currentThread()
          // No `Sendable` in sight, and no lock.
          var order: [Int] = []
          let children = (0..<50).map { number in
            launch {
              #expect(currentThread() == own)
              try Coroutine.yield()
              order.append(number)
            }
          }
          for child in children.reversed() { try child.value() }
          return order
        }
      }
      for parent in parents { try #expect(parent.value() == Array(0..<50)) }
    }
  }

  @Test func `immediately means at once, up to the first wait`() throws {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let order = launch(on: pool) {
        var order = [0]
        let child = launch(start: .immediately) {
          order.append(1)
          try Coroutine.yield()
          order.append(3)
        }
        order.append(2)
        try child.value()
        return order
      }
      try #expect(order.value() == [0, 1, 2, 3])
    }
  }

  @Test(arguments: [1, 2])
  func `a tree of a hundred thousand launches gives its sum`(threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    @Sendable func sum(_ first: Int, _ count: Int) throws -> Int {
      if count == 1 { return first }
      let part = count / 10
      let children = (0..<10).map { index in
        launch(on: pool) { try sum(first + index * part, part) }
      }
      return try children.reduce(0) { try $0 + $1.value() }
    }
    try runBlocking {
      let total = launch(on: pool) { try sum(0, 100_000) }
      try #expect(total.value() == 99_999 * 50_000)
    }
  }

  @Test func `cancelling a parent reaches children on every thread (rule 8)`() throws {
    let pool = PoolScheduler(threads: 3)
    try runBlocking {
      let running = Channel<Void>(capacity: .max)
      let ended = Counter()
      let parent = launch(on: pool) {
        for _ in 0..<50 {
          launch(on: pool) {
            defer { ended.add() }
            _ = running.sendIfReady(())
            try waitForEver()
          }
        }
        try waitForEver()
      }
      for _ in 0..<50 { try running.receive() }
      try parent.cancelAndJoin()
      while ended.value < 50 { try Coroutine.yield() }
    }
  }

  @Test func `one that is cancelled before it starts never runs`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let outcome = launch(on: pool) {
        var hasRun = false
        let child = launch { hasRun = true }
        child.cancel()
        try child.join()
        let shared = launch(on: pool) { Issue.record("it ran") }
        shared.cancel()
        try shared.join()
        return (hasRun, [child, shared].allSatisfy { $0.error is CancellationError })
      }
      let (hasRun, isCancelled) = try outcome.value()
      #expect(!hasRun)
      #expect(isCancelled)
    }
  }

  @Test func `the errors of children reach their scope (rule 6)`() throws {
    struct Failure: Error {}
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let parent = launch(on: pool) {
        try withCoroutineScope { scope in
          for number in 0..<20 {
            scope.launch(on: pool) {
              if number == 7 { throw Failure() }
              try waitForEver()
            }
          }
        }
      }
      #expect(throws: Failure.self) { try parent.value() }
    }
  }

  @Test func `sleepers and wake-ups are served though launches never end`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let isOver = Counter()
      // Each launches the next, for as long as it takes.
      @Sendable func flood() {
        if isOver.value == 0 { launch(on: pool) { flood() } }
      }
      let sleeper = launch(on: pool) {
        try Coroutine.sleep(for: .milliseconds(2))
      }
      let mail = Channel<Int>()
      let reader = launch(on: pool) { try mail.receive() }
      launch(on: pool) { flood() }
      try sleeper.value()
      try mail.send(1)
      try #expect(reader.value() == 1)
      isOver.add()
    }
  }

  @Test func `two that talk for ever do not keep a third from starting`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let isOver = Counter()
      let ball = Channel<Int>()
      let talkers = launch(on: pool) {
        let partner = launch {
          while isOver.value == 0 { try ball.send(1) }; ball.close()
        }
        launch(on: pool) { isOver.add() }
        for _ in ball {}
        try partner.join()
      }
      try talkers.value()
    }
  }

  @Test func `code of a pool's coroutine knows its scheduler, and may launch on it from elsewhere`()
    throws
  {
    let pool = PoolScheduler(threads: 2, name: "workers")
    #expect("\(pool)" == "workers")
    try runBlocking {
      let known = launch(on: pool) { Scheduler.current }
      let scheduler = try known.value()
      #expect("\(scheduler)" == "workers")
      try #expect(launch(on: scheduler) { 5 }.value() == 5)
    }
  }

  @Test func `a pool that is let go of ends after its coroutines, and takes no more`() throws {
    try runBlocking {
      let gate = Channel<Void>()
      var pool: PoolScheduler? = PoolScheduler(threads: 2)
      weak let weakPool = pool
      let last = pool.map { launch(on: $0) { (try gate.receive(), Scheduler.current).1 } }
      pool = nil
      #expect(weakPool == nil)
      try gate.send(())
      let kept = try #require(try last?.value())
      // Its threads end as soon as they have seen that nobody lives.
      while true {
        let late = launch(on: kept) {}
        do { try late.value() } catch CoroutineError.schedulerShutDown { break }
        try Coroutine.yield()
      }
    }
  }

  @Test func `a pool of no threads stops the program and says why (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PoolScheduler(threads: 0)
    }
    #expect(result.text.contains("would never run anything"))
  }
}
