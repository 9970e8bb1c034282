// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// A counter that is read, and written after a park: two increments can become one.
private final class Racy {
  var count = 0

  func increment() throws {
    let old = count
    try Coroutine.yield()
    count = old + 1
  }
}

private struct Lost: Error {}

private let lostUpdate: @Sendable () throws -> Void = {
  let racy = Racy()
  let children = (0..<2).map { number in
    launch(name: "child \(number)") {
      try Coroutine.yield()
      if number == 1 { try Coroutine.yield() }
      try racy.increment()
    }
  }
  for child in children { try child.join() }
  if racy.count != 2 { throw Lost() }
}

@Suite(.timeLimit(.minutes(30))) struct ExploreTests {
  @Test func `all orders of three coroutines are six`() throws {
    let seen = Numbers()
    let exploration = try explore {
      let order = Numbers()
      let children = (1...3).map { number in launch { order.add(number) } }
      for child in children { try child.join() }
      seen.add(order.entries.reduce(0) { $0 * 10 + $1 })
    }
    #expect(exploration.isComplete)
    #expect(Set(seen.entries) == [123, 132, 213, 231, 312, 321])
  }

  @Test func `a lost update is found, shown and replayed, by every strategy`() throws {
    let strategies: [ExplorationStrategy] = [
      .exhaustive(), .exhaustive(delays: 2), .random(), .priorities(depth: 2),
    ]
    for strategy in strategies {
      let failure = try #require(
        #expect(throws: ExplorationFailure.self) { try explore(strategy, lostUpdate) }
      )
      #expect(failure.error is Lost)
      #expect(failure.table.contains("child 0"))
      #expect(failure.table.contains("gives way"))
      let again = #expect(throws: ExplorationFailure.self) {
        try explore(replay: failure.replay, lostUpdate)
      }
      #expect(again?.error is Lost)
      #expect(again?.table == failure.table)
      let once = TestScheduler(order: .replay(failure.replay))
      #expect(throws: Lost.self) { try once.run(lostUpdate) }
    }
  }

  @Test func `a select among ready clauses chooses the same in each run`() throws {
    let exploration = try explore {
      let (left, right) = (Channel<Int>(capacity: 8), Channel<Int>(capacity: 8))
      for number in 0..<4 {
        left.sendIfReady(number)
        right.sendIfReady(number)
      }
      for _ in 0..<4 {
        let isLeft = try select {
          Receive(from: left) { _ in true }
          Receive(from: right) { _ in false }
        }
        // What is chosen changes who can run next.
        if isLeft { launch {} }
        try Coroutine.yield()
      }
    }
    #expect(exploration.isComplete)
  }

  @Test func `with a mutex the update is not lost in any order`() throws {
    let exploration = try explore {
      let (racy, mutex) = (Racy(), CoroutineMutex())
      let children = (0..<3).map { _ in launch { try mutex.withLock { try racy.increment() } } }
      for child in children { try child.join() }
      if racy.count != 3 { throw Lost() }
    }
    #expect(exploration.isComplete)
    #expect(exploration.runs > 6)
  }

  #if !COROUTINES_CHECKED
  @Test func `to leave orders out says which build it needs, and tries none (rule 12)`() throws {
    let runs = Numbers()
    let error = #expect(throws: NoPreemptionPoints.self) {
      try explore(sharing: .libraryObjectsOnly) { runs.add(1) }
    }
    #expect("\(try #require(error))".hasPrefix("explore(sharing: .libraryObjectsOnly)"))
    #expect("\(try #require(error))".contains("--traits CheckedPrimitives"))
    #expect(runs.entries.isEmpty)
  }
  #endif

  @Test func `an order that ends in a deadlock is found`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try explore {
        let (left, right) = (CoroutineMutex(), CoroutineMutex())
        launch(name: "A") { try left.withLock { try right.withLock {} } }
        launch(name: "B") {
          try right.withLock {
            try Coroutine.yield()
            try left.withLock {}
          }
        }
        // Makes the yield above matter in some orders only.
        launch(name: "C") { try left.withLock { try Coroutine.yield() } }
      }
    }
    #expect(failure?.error is Deadlock)
  }

  @Test func `a body that is not the same each time is found out`() {
    let runs = Numbers()
    let error = #expect(throws: ExplorationError.self) {
      try explore {
        runs.add(1)
        let count = runs.entries.count > 1 ? 1 : 5
        let children = (0..<count).map { _ in launch { try Coroutine.yield() } }
        for child in children { try child.join() }
      }
    }
    #expect("\(error as Any)".contains("something else under the same order"))
  }

  @Test func `a sent value is never lost, wherever the sender is cancelled`() throws {
    let sweep = try sweepCancellation { victim in
      let channel = Channel<Int>()
      let kept = Numbers()
      let sender = launch(name: victim) {
        for number in 0..<3 {
          try channel.send(number) { kept.add($0) }
        }
      }
      let received = Numbers()
      let receiver = launch {
        while let number = try? channel.receive() { received.add(number) }
      }
      try sender.join()
      channel.close()
      try receiver.join()
      let whole = received.entries + kept.entries
      try #require(whole == Array(0..<whole.count))
    }
    #expect(sweep.places == 2)
  }

  @Test func `a sweep tells where it fails`() {
    let failure = #expect(throws: SweepFailure.self) {
      try sweepCancellation { victim in
        let steps = Numbers()
        try launch(name: victim) {
          for step in 0..<4 {
            try Coroutine.yield()
            steps.add(step)
          }
        }.join()
        if steps.entries.count == 2 { throw Lost() }
      }
    }
    #expect(failure?.place == 3)
  }

  @Test func `every coroutine may find no memory for its stack`() throws {
    let sweep = try sweepStackFailures {
      let children = (0..<4).map { number in launch { number } }
      var sum = 0
      for child in children {
        do { sum += try child.value() } catch CoroutineError.noMemoryForStack { sum += 0 }
      }
      try #require(sum >= 3)
    }
    #expect(sweep.places == 4)
  }
}

@Suite(.timeLimit(.minutes(30))) struct SequencerTests {
  @Test func `steps are passed in the order of their numbers, in any order of running`() throws {
    try explore {
      let sequencer = Sequencer()
      let order = Numbers()
      let children = [2, 0, 1].map { number in
        launch { try sequencer.step(number) { order.add(number) } }
      }
      for child in children { try child.join() }
      try #require(order.entries == [0, 1, 2])
    }
  }
}

/// Which ready clause of a `select` wins is a decision like any other.
@Suite(.timeLimit(.minutes(30))) struct ExploredSelectTests {
  /// Selects from three of which two are ready; returns which one won.
  private func winner() throws -> Int {
    let channels = (0..<3).map { _ in Channel<Int>(capacity: 1) }
    for index in [0, 2] { _ = channels[index].sendIfReady(index) }
    return try select {
      Receive(from: channels[0]) { $0 }
      Receive(from: channels[1]) { $0 }
      Receive(from: channels[2]) { $0 }
    }
  }

  @Test func `an exhaustive exploration sees each ready clause win, once`() throws {
    final class Seen {
      var winners: [Int] = []
    }
    let seen = Seen()
    let report = try explore { seen.winners.append(try self.winner()) }
    #expect(report.isComplete)
    #expect(seen.winners.sorted() == [0, 2])
  }

  @Test func `seeds of a test scheduler choose both, and each the same again`() throws {
    let first = try (0..<64).map { seed in
      try TestScheduler(order: .random(seed: seed)).run { try self.winner() }
    }
    let second = try (0..<64).map { seed in
      try TestScheduler(order: .random(seed: seed)).run { try self.winner() }
    }
    #expect(first == second)
    #expect(Set(first) == [0, 2])
  }

  @Test func `a failure that depends on a clause is shown again`() throws {
    struct Problem: Error {}
    let body: () throws -> Void = { if try self.winner() == 2 { throw Problem() } }
    let failure = try #require(
      #expect(throws: ExplorationFailure.self) { try explore(.random(), body) }
    )
    #expect(throws: ExplorationFailure.self) { try explore(replay: failure.replay, body) }
  }
}
