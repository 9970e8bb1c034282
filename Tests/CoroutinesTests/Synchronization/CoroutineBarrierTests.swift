// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineBarrierTests {
  @Test(arguments: Elsewhere.allCases)
  func `nobody goes on before all have come, round after round`(place: Elsewhere) throws {
    let barrier = CoroutineBarrier(parties: 4)
    let (arrived, lasts) = (Tally(), Tally())
    try runBlocking {
      let schedulers = place.schedulers(4)
      let workers = (0..<4).map { index in
        launch(on: schedulers[index]) {
          for round in 1...50 {
            arrived.add()
            if try barrier.wait() { lasts.add() }
            #expect(arrived.value >= round * 4)
            try barrier.wait()
          }
        }
      }
      for worker in workers { try worker.value() }
    }
    #expect(arrived.value == 200)
    #expect(lasts.value == 50, "one of each round is the last")
  }

  @Test func `the last one runs on, and the others become ready in their order`() throws {
    try runBlocking {
      let barrier = CoroutineBarrier(parties: 3)
      let steps = Steps<String>()
      for n in 1...2 {
        launch {
          let isLast = try barrier.wait()
          steps.add("\(n) \(isLast)")
        }
      }
      try letOthersRun()
      #expect(barrier.waiting == 2)
      try #expect(barrier.wait())
      steps.add("last")
      try letOthersRun()
      #expect(steps.entries == ["last", "1 false", "2 false"])
      #expect(barrier.waiting == 0)
    }
  }

  @Test func `a cancelled party counts as not come (rule 3)`() throws {
    try runBlocking {
      let barrier = CoroutineBarrier(parties: 3)
      let parties = (0..<2).map { _ in launch { try barrier.wait() } }
      try letOthersRun()
      parties[0].cancel()
      let third = launch { try barrier.wait() }
      try letOthersRun()
      #expect(parties[0].error is CancellationError)
      #expect(barrier.waiting == 2)
      #expect(third.state == .suspended)
      try #expect(barrier.wait())
      try #expect(!parties[1].value())
      try #expect(!third.value())
    }
  }

  @Test func `a party cancelled after the round is complete was there (rule 3)`() throws {
    try runBlocking {
      let barrier = CoroutineBarrier(parties: 2)
      let party = launch { try barrier.wait() }
      try letOthersRun()
      try barrier.wait()
      party.cancel()
      try #expect(!party.value())
    }
  }

  @Test func `leaving completes the round of those who are there (rule 13)`() throws {
    try runBlocking {
      let barrier = CoroutineBarrier(parties: 3)
      let parties = (0..<2).map { _ in launch { try barrier.wait() } }
      try letOthersRun()
      barrier.leave()
      for party in parties { try #expect(!party.value()) }
      #expect(barrier.parties == 2)
      launch { try barrier.wait() }
      try letOthersRun()
      try #expect(barrier.wait())
    }
  }

  @Test func `a barrier of one never waits, but is a cancellation point (rule 2)`() throws {
    try runBlocking {
      let barrier = CoroutineBarrier(parties: 1)
      try #expect(barrier.wait())
      try launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try barrier.wait() }
      }.value()
    }
  }

  @Test func `outside a coroutine a wait is refused (rule 12)`() {
    onPlainThread {
      let barrier = CoroutineBarrier(parties: 1)
      #expect(throws: CoroutineError.outsideCoroutine) { try barrier.wait() }
    }
  }

  @Test func `waiting after all have left stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try blocking {
        let barrier = CoroutineBarrier(parties: 1)
        barrier.leave()
        try barrier.wait()
      }
    }
    #expect(result.text.contains("Do not wait after leave()"))
  }

  @Test func `leaving too often stops with a message (rule 12)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let barrier = CoroutineBarrier(parties: 1)
      barrier.leave()
      barrier.leave()
    }
    #expect(result.text.contains("Each party leaves once"))
  }
}
