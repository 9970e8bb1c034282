// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineWaitGroupTests {
  @Test(arguments: Elsewhere.allCases)
  func `a wait ends when everything is done`(place: Elsewhere) throws {
    let group = CoroutineWaitGroup()
    let done = Tally()
    try runBlocking {
      let schedulers = place.schedulers(3)
      for index in 0..<30 {
        group.add()
        launch(on: schedulers[index % 3]) {
          defer { group.done() }
          try Coroutine.yield()
          done.add()
        }
      }
      let others = (0..<3).map { index in
        launch(on: schedulers[index]) {
          try group.wait()
          return done.value
        }
      }
      try group.wait()
      #expect(done.value == 30)
      for other in others { try #expect(other.value() == 30) }
      #expect(group.count == 0)
    }
  }

  @Test func `with nothing to do a wait returns at once`() throws {
    try runBlocking {
      let group = CoroutineWaitGroup()
      try group.wait()
      group.add(0)
      try group.wait()
      #expect(group.count == 0)
    }
  }

  @Test func `those who waited go on although the group is used again (rule 13)`() throws {
    try runBlocking {
      let group = CoroutineWaitGroup(count: 1)
      let first = launch { try group.wait() }
      try letOthersRun()
      group.done()
      group.add()
      let second = launch { try group.wait() }
      try first.value()
      try letOthersRun()
      #expect(second.state == .suspended)
      group.done()
      try second.value()
    }
  }

  @Test func `a cancelled wait changes nothing (rule 3)`() throws {
    try runBlocking {
      let group = CoroutineWaitGroup(count: 2)
      let waiter = launch { try group.wait() }
      try letOthersRun()
      try waiter.cancelAndJoin()
      #expect(waiter.error is CancellationError)
      #expect(group.count == 2)
    }
  }

  @Test func `waiting is a cancellation point even when nothing is left (rule 2)`() throws {
    try runBlocking {
      try launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try CoroutineWaitGroup().wait() }
      }.value()
    }
  }

  @Test func `outside a coroutine a wait is refused (rule 12)`() {
    _ = onPlainThread {
      #expect(throws: CoroutineError.outsideCoroutine) { try CoroutineWaitGroup().wait() }
    }
  }

  @Test func `a task waits, and threads are done`() async throws {
    let group = CoroutineWaitGroup(count: 4)
    for _ in 0..<4 { startThread { group.done() } }
    try await group.wait()
    #expect(group.count == 0)
  }

  @Test func `being done more often than there is to do stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CoroutineWaitGroup().done()
    }
    #expect(result.text.contains("called more often than things were added"))
  }
}
