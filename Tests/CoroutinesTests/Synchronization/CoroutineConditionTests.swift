// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineConditionTests {
  @Test(arguments: Elsewhere.allCases)
  func `a bounded buffer made of two conditions loses nothing`(place: Elsewhere) throws {
    let mutex = CoroutineMutex()
    let (isFilled, hasRoom) = (CoroutineCondition(mutex), CoroutineCondition(mutex))
    // SAFETY: only touched under the mutex.
    nonisolated(unsafe) var items: [Int] = []
    let sum = Tally()
    try runBlocking {
      let schedulers = place.schedulers(4)
      let workers = (0..<4).map { index in
        launch(on: schedulers[index]) {
          for number in 0..<200 {
            try mutex.withLock {
              if index % 2 == 0 {
                try hasRoom.wait { items.count < 3 }
                items.append(number)
                isFilled.signal()
              } else {
                try isFilled.wait { !items.isEmpty }
                sum.add(items.removeFirst())
                hasRoom.signal()
              }
            }
          }
        }
      }
      for worker in workers { try worker.value() }
    }
    #expect(sum.value == 2 * 200 * 199 / 2)
    #expect(items.isEmpty)
  }

  @Test func `a signal wakes the one who has waited longest (rule 4)`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      let steps = Steps<Int>()
      for number in 0..<3 {
        launch {
          try condition.mutex.withLock {
            try condition.wait()
            steps.add(number)
          }
        }
      }
      try letOthersRun()
      #expect(!condition.mutex.isLocked)
      condition.signal()
      try letOthersRun()
      #expect(steps.entries == [0])
      condition.broadcast()
      try letOthersRun()
      #expect(steps.entries == [0, 1, 2])
      condition.signal()
    }
  }

  @Test func `a cancelled wait holds the mutex again when it throws (rule 3)`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      var heldAtEnd = false
      let waiter = launch {
        try condition.mutex.withLock {
          defer { heldAtEnd = condition.mutex.isHeldByCaller }
          try condition.wait()
        }
      }
      try letOthersRun()
      try condition.mutex.lock()
      waiter.cancel()
      try letOthersRun()
      #expect(waiter.state == .suspended, "it waits for the mutex, cancelled or not")
      condition.mutex.unlock()
      try waiter.join()
      #expect(waiter.error is CancellationError)
      #expect(heldAtEnd)
      #expect(!condition.mutex.isLocked)
    }
  }

  @Test func `a signal that came before the cancellation ends the wait (rule 3)`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      let waiters = (0..<2).map { _ in
        launch { try condition.mutex.withLock { try condition.wait() } }
      }
      try letOthersRun()
      condition.signal()
      waiters[0].cancel()
      try waiters[0].value()
      #expect(waiters[1].state == .suspended)
      try waiters[1].cancelAndJoin()
      #expect(waiters[1].error is CancellationError)
    }
  }

  @Test func `a broadcast ends the waits there are, and no later one`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      let first = launch { try condition.mutex.withLock { try condition.wait() } }
      try letOthersRun()
      condition.broadcast()
      first.cancel()
      let late = launch(start: .immediately) {
        try condition.mutex.withLock { try condition.wait() }
      }
      try letOthersRun()
      try first.value()
      #expect(late.state == .suspended)
      try late.cancelAndJoin()
    }
  }

  @Test func `a mutex locked by hand is held by hand again after the wait`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      try launch(name: "forgetful") {
        launch { condition.signal() }
        try condition.mutex.lock()
        try condition.wait()
      }.value()
      #expect(throws: SynchronizationError.holderFinished) { try condition.mutex.withLock {} }
    }
  }

  @Test func `waiting without the mutex is an error that names the holder (rule 12)`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      #expect(throws: SynchronizationError.notHeldByCaller) { try condition.wait() }
      launch(name: "owner") { try condition.mutex.withLock { try waitForEver() } }
      try letOthersRun()
      do {
        try condition.wait { false }
        Issue.record("it waited")
      } catch {
        #expect("\(error)".contains("\"owner\""))
      }
      Coroutine.current?.cancel()
    }
  }

  @Test func `a state that is there already needs no wait, but is a park point (rule 2)`() throws {
    try runBlocking {
      let condition = CoroutineCondition(CoroutineMutex())
      try condition.mutex.withLock { try condition.wait { true } }
      try launch {
        try condition.mutex.withLock {
          Coroutine.current?.cancel()
          #expect(throws: CancellationError.self) { try condition.wait { true } }
        }
      }.value()
    }
  }

  @Test func `outside a coroutine a wait is refused; a signal is not (rule 12)`() {
    onPlainThread {
      let condition = CoroutineCondition(CoroutineMutex())
      #expect(throws: CoroutineError.outsideCoroutine) { try condition.wait() }
      condition.signal()
      condition.broadcast()
    }
  }
}
