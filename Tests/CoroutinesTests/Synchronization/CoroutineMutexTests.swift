// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineMutexTests {
  @Test(arguments: Place.allCases)
  func `one at a time is inside, also across waits (rule 13)`(place: Place) throws {
    let most = try place.run {
      let mutex = CoroutineMutex()
      var (inside, most) = (0, 0)
      try withCoroutineScope { scope in
        for _ in 0..<8 {
          scope.launch {
            try mutex.withLock {
              inside += 1
              most = max(most, inside)
              try Coroutine.yield()
              inside -= 1
            }
          }
        }
      }
      #expect(!mutex.isLocked)
      return most
    }
    #expect(most == 1)
  }

  @Test func `it is handed over first come, first served (rule 4)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let steps = Steps<Int>()
      try mutex.lock()
      let waiters = (0..<6).map { number in
        launch { try mutex.withLock { steps.add(number) } }
      }
      try letOthersRun()
      #expect(steps.entries == [])
      mutex.unlock()
      #expect(mutex.isLocked, "it was handed over, not freed")
      #expect(!mutex.lockIfReady())
      for waiter in waiters { try waiter.value() }
      #expect(steps.entries == Array(0..<6))
    }
  }

  @Test func `unlocking runs on; the next one becomes ready (rule 13)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let steps = Steps<String>()
      try mutex.lock()
      let next = launch { try mutex.withLock { steps.add("next") } }
      try letOthersRun()
      #expect(next.state == .suspended)
      mutex.unlock()
      steps.add("unlocked")
      #expect(next.state == .ready)
      try next.value()
      #expect(steps.entries == ["unlocked", "next"])
    }
  }

  @Test func `a cancelled waiter leaves the line as it was (rule 3)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let steps = Steps<Int>()
      try mutex.lock()
      let waiters = (0..<4).map { n in launch { try mutex.withLock { steps.add(n) } } }
      try letOthersRun()
      try waiters[1].cancelAndJoin()
      #expect(waiters[1].error is CancellationError)
      mutex.unlock()
      try letOthersRun()
      #expect(steps.entries == [0, 2, 3])
      #expect(!mutex.isLocked)
    }
  }

  @Test func `a waiter cancelled after it was handed the mutex has it (rule 3)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let steps = Steps<Int>()
      try mutex.lock()
      let waiters = (0..<3).map { n in launch { try mutex.withLock { steps.add(n) } } }
      try letOthersRun()
      mutex.unlock()
      waiters[0].cancel()
      try letOthersRun()
      #expect(waiters[0].error == nil)
      #expect(steps.entries == [0, 1, 2])
      #expect(!mutex.isLocked)
    }
  }

  @Test func `a wait that times out leaves the line as it was (rule 3)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let holder = launch {
        try mutex.withLock { try waitForEver() }
      }
      try letOthersRun()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) { try mutex.withLock {} }
      }
      try holder.cancelAndJoin()
      #expect(mutex.withLockIfReady { true } == true)
    }
  }

  @Test func `an error and a cancellation inside unlock it`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      #expect(throws: Failure(1)) { try mutex.withLock { throw Failure(1) } }
      #expect(!mutex.isLocked)
      let inside = launch { try mutex.withLock { try waitForEver() } }
      try letOthersRun()
      #expect(mutex.isLocked)
      try inside.cancelAndJoin()
      #expect(!mutex.isLocked)
    }
  }

  @Test func `locking it is a cancellation point even when it is free (rule 2)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let coroutine = launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try mutex.withLock {} }
        #expect(throws: CancellationError.self) { try mutex.lock() }
        try withCancellationShield { try mutex.withLock {} }
      }
      try coroutine.value()
    }
  }

  @Test func `whoever holds it cannot lock it again, and is told so (rule 12)`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let coroutine = launch(name: "careless") {
        try mutex.withLock {
          #expect(mutex.isHeldByCaller)
          #expect(!mutex.lockIfReady())
          try mutex.withLock {}
        }
      }
      try coroutine.join()
      let error = coroutine.error as? SynchronizationError
      #expect(error == .heldByCaller)
      #expect(error?.description.contains("\"careless\"") == true)
      #expect(error?.description.contains("#\(coroutine.id)") == true)
      #expect(!mutex.isLocked)
    }
  }

  @Test func `a holder that has ended is an error for those who come, not a hang (rule 12)`() throws
  {
    try runBlocking {
      let mutex = CoroutineMutex()
      try launch(name: "forgetful") { try mutex.lock() }.value()
      do {
        try mutex.withLock {}
        Issue.record("it was locked")
      } catch SynchronizationError.holderFinished {
        #expect(!mutex.isHeldByCaller)
      }
      do {
        try mutex.lock()
      } catch {
        #expect("\(error)".contains("\"forgetful\""))
      }
    }
  }

  @Test func `what lock and unlock keep goes away`() throws {
    let census = Census()
    try runBlocking {
      let mutex = CoroutineMutex()
      let forgotten = CoroutineMutex()
      try launch {
        try mutex.lock()
        mutex.unlock()
        try forgotten.lock()
        return Counted(1, census)
      }.join()
      #expect(census.alive == 1, "kept by the mutex that was not unlocked")
    }
    #expect(census.alive == 0)
  }

  /// Mutexes that only this holds.
  private final class Shelf: @unchecked Sendable {
    // SAFETY: the test's order of events.
    private var mutexes = (0..<3).map { _ in CoroutineMutex() }

    @inline(never)
    func lockAll() throws {
      for mutex in mutexes { try mutex.lock() }
      mutexes[0].unlock()
      #expect(mutexes[0].lockIfReady())
    }

    func drop(_ count: Int) { mutexes.removeFirst(count) }

    func expectHolderFinished() {
      for mutex in mutexes {
        #expect(throws: SynchronizationError.holderFinished) { try mutex.lock() }
      }
    }
  }

  @Test(arguments: Elsewhere.allCases, 0...3)
  func `mutexes that go away locked keep no holder, before its end or after it`(
    place: Elsewhere,
    early: Int
  ) throws {
    let census = Census()
    let shelf = Shelf()
    try runBlocking {
      let (isLocked, mayEnd) = (Gate(), Gate())
      let holder = launch(on: place.schedulers(1)[0]) {
        try shelf.lockAll()
        isLocked.open()
        try mayEnd.wait()
        return Counted(1, census)
      }
      try isLocked.wait()
      shelf.drop(early)
      mayEnd.open()
      try holder.join()
    }
    shelf.drop(early < 2 ? 1 : 0)
    #expect(early == 3 || census.alive == 1, "kept by the mutexes that are left")
    try runBlocking { shelf.expectHolderFinished() }
    shelf.drop(early < 2 ? 2 - early : 3 - early)
    #expect(census.becomesEmpty())
  }

  @Test func `unlocking what another coroutine holds stops with both names (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try blocking {
        let mutex = CoroutineMutex()
        launch(name: "owner") { try mutex.withLock { try waitForEver() } }
        try letOthersRun()
        try launch(name: "thief") { mutex.unlock() }.join()
      }
    }
    #expect(result.text.contains("\"owner\""))
    #expect(result.text.contains("\"thief\""))
    #expect(result.text.contains("Unlock in the coroutine that locked"))
  }

  @Test func `unlocking what nobody holds stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CoroutineMutex().unlock()
    }
    #expect(result.text.contains("held by nobody"))
  }

  @Test func `outside a coroutine only the variant that never waits works (rule 12)`() {
    let mutex = CoroutineMutex()
    onPlainThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try mutex.withLock {} }
      #expect(throws: CoroutineError.outsideCoroutine) { try mutex.lock() }
      #expect(mutex.withLockIfReady { mutex.isHeldByCaller } == true)
      #expect(mutex.lockIfReady())
      #expect(!mutex.lockIfReady())
    }
    #expect(!mutex.isHeldByCaller, "another thread holds it")
    #expect(mutex.isLocked)
  }

  @Test func `a plain thread unlocks for a coroutine that waits`() throws {
    let mutex = CoroutineMutex()
    try runBlocking {
      let (isLocked, mayUnlock) = (Gate(), DispatchSemaphore(value: 0))
      startThread {
        let locked = mutex.lockIfReady()
        #expect(locked)
        isLocked.open()
        mayUnlock.wait()
        mutex.unlock()
      }
      try isLocked.wait()
      let waiter = launch { try mutex.withLock { 7 } }
      try letOthersRun()
      #expect(waiter.state == .suspended)
      mayUnlock.signal()
      try #expect(waiter.value() == 7)
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `it protects what several threads change`(place: Elsewhere) throws {
    let mutex = CoroutineMutex()
    // SAFETY: only touched under the mutex.
    nonisolated(unsafe) var count = 0
    try runBlocking {
      let schedulers = place.schedulers(4)
      let workers = (0..<8).map { index in
        launch(on: schedulers[index % 4]) {
          for round in 0..<200 {
            try mutex.withLock {
              let seen = count
              if round % 16 == index { try Coroutine.yield() }
              count = seen + 1
            }
          }
        }
      }
      for worker in workers { try worker.value() }
      try mutex.withLock { #expect(count == 8 * 200) }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `cancelling while it changes hands loses it never (rule 3)`(place: Elsewhere) throws {
    let mutex = CoroutineMutex()
    let inside = Tally()
    try runBlocking {
      let schedulers = place.schedulers(3)
      for round in 0..<150 {
        let workers = (0..<3).map { index in
          launch(on: schedulers[index]) {
            for _ in 0..<4 {
              try mutex.withLock {
                defer { inside.add(-1) }
                #expect(inside.add() == 1)
                try Coroutine.yield()
              }
            }
          }
        }
        if round % 2 == 0 { try Coroutine.yield() }
        workers[round % 3].cancel()
        for worker in workers { try worker.join() }
        #expect(!mutex.isLocked)
      }
    }
  }
}
