// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// The explorer of races itself: it finds what is planted, and shows it again.
@Suite(.timeLimit(.minutes(30))) struct RaceExplorerTests {
  /// Forgets a wake-up if it comes between the look and the wait.
  private final class CarelessGate {
    var isOpen = false
    let wakes = Channel<Void>()

    func pass() throws {
      if !isOpen { try wakes.receive() }
    }

    func open() {
      isOpen = true
      _ = wakes.sendIfReady(())
    }
  }

  private func explorePlant(_ strategy: ExplorationStrategy, replay: String? = nil) throws {
    try Race { CarelessGate() }
      .thread { gate in try runBlocking { try gate.pass() } }
      .thread { gate in gate.open() }
      .explore(strategy, replay: replay)
  }

  @Test(arguments: [
    ExplorationStrategy.exhaustive(), .exhaustive(delays: 2), .random(), .priorities(),
  ])
  func `a lost wake-up is found, told, and shown again`(_ strategy: ExplorationStrategy) throws {
    let failure = try #require(
      #expect(throws: ExplorationFailure.self) { try explorePlant(strategy) }
    )
    #expect("\(failure.error)".contains("thread 1 sleeps, and nobody will wake it"))
    #expect(failure.table.contains("thread 2"))
    let again = try #require(
      #expect(throws: ExplorationFailure.self) {
        try explorePlant(strategy, replay: failure.replay)
      }
    )
    #expect("\(again.error)" == "\(failure.error)")
    #expect(again.table == failure.table)
  }

  @Test func `orders that differ in a flag which is read without a lock are all tried`() throws {
    final class Shared {
      let (told, own) = (Promise<Int>(), Promise<Int>())
      var seen: Bool?
    }
    var outcomes: Set<Bool?> = []
    let report = try Race { Shared() }
      .thread { shared in shared.told.fulfill(1) }
      .thread { shared in
        // A point of its own, behind which the flag is read: nothing that the first thread touches by name.
        shared.own.fulfill(1)
        shared.seen = shared.told.isFulfilled
      }
      .explore { shared in outcomes.insert(shared.seen) }
    #expect(report.isComplete && outcomes == [true, false])
  }

  @Test func `what a body or the check throws fails the run`() throws {
    struct Problem: Error {}
    let thrown = try #require(
      #expect(throws: ExplorationFailure.self) {
        try Race { Channel<Int>(capacity: 1) }
          .thread { channel in if !channel.sendIfReady(1).isSent { throw Problem() } }
          .thread { channel in if !channel.sendIfReady(2).isSent { throw Problem() } }
          .explore()
      }
    )
    #expect(thrown.error is Problem)
    let checked = try #require(
      #expect(throws: ExplorationFailure.self) {
        try Race { Channel<Int>(capacity: 1) }
          .thread { channel in _ = channel.sendIfReady(1) }
          .thread { channel in _ = channel.sendIfReady(2) }
          .explore { channel in
            if case .received(2) = channel.receiveIfReady() { throw Problem() }
          }
      }
    )
    #expect(checked.error is Problem)
  }

  @Test func `bodies that are not the same each time are found out, and told`() throws {
    let runs = Results()
    let error = try #require(
      #expect(throws: ExplorationError.self) {
        try Race { Channel<Int>(capacity: 4) }
          .thread { channel in
            runs.orders.insert([runs.orders.count])
            if runs.orders.count != 2 { _ = channel.count }
            _ = channel.sendIfReady(1)
          }
          .thread { channel in _ = channel.sendIfReady(2) }
          .explore()
      }
    )
    #expect("\(error)".contains("did something else under the same order: at step"))
    #expect("\(error)".contains("; before, thread"))
  }

  @Test func `orders of steps that have nothing in common are left out`() throws {
    // Each of two threads sends three times into a channel of its own: 20 orders, all alike.
    let apart = try Race { (Channel<Int>(capacity: 3), Channel<Int>(capacity: 3)) }
      .thread { channels in for value in 1...3 { _ = channels.0.sendIfReady(value) } }
      .thread { channels in for value in 1...3 { _ = channels.1.sendIfReady(value) } }
      .explore()
    #expect(apart.isComplete)
    #expect(apart.runs == 1)
    let results = Results()
    let together = try Race { Channel<Int>(capacity: 6) }
      .thread { channel in for value in 1...3 { _ = channel.sendIfReady(value) } }
      .thread { channel in for value in 4...6 { _ = channel.sendIfReady(value) } }
      .explore { channel in
        var order: [Int] = []
        while case .received(let value) = channel.receiveIfReady() { order.append(value) }
        results.orders.insert(order)
      }
    #expect(together.isComplete)
    // All ways to merge three and three.
    #expect(results.orders.count == 20)
    #expect(together.runs < 200)
  }

  private final class Results {
    var orders: Set<[Int]> = []
  }

  @Test func `no home serves twice in a run, in which somebody may be about to wake it`() throws {
    final class Homes { var all: [UnsafeMutablePointer<Home>] = [] }
    @Sendable func serve(_ homes: Homes) throws {
      for _ in 1...3 {
        try runBlocking { homes.all.append(try #require(currentThread().currentHome)) }
      }
    }
    try Race { Homes() }.thread(serve).thread(serve)
      .explore(runs: 50) { homes in try #require(Set(homes.all).count == 6) }
  }

  @Test func `time passes when all threads sleep`() throws {
    let report = try Race { Channel<Int>() }
      .thread { channel in
        try runBlocking {
          let start = CoroutineClock().now
          #expect(throws: TimeoutError.self) {
            try withTimeout(.seconds(3600)) { _ = try channel.receive() }
          }
          #expect(start.duration(to: CoroutineClock().now) >= .seconds(3600))
        }
      }
      .thread { _ in try runBlocking { try Coroutine.sleep(for: .seconds(60)) } }
      .explore()
    #expect(report.isComplete)
  }

  @Test func `threads that never end are an error`() throws {
    let channel = Channel<Int>()
    let failure = try #require(
      #expect(throws: ExplorationFailure.self) {
        try Race { channel }
          .thread { channel in while !channel.isClosed {} }
          .thread { _ in }
          .explore()
      }
    )
    #expect("\(failure.error)".contains("have not ended"))
    channel.close()
  }
}

#endif
