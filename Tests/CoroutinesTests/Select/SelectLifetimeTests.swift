// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Synchronization
import Testing

/// How long a select keeps its channels: while it may look at them (B1), and not for much longer (B3).
@Suite struct SelectLifetimeTests {
  /// A channel that holds one value.
  private func filled(_ census: Census, _ number: Int = 1) -> Channel<Counted> {
    let channel = Channel<Counted>(capacity: 1)
    channel.sendIfReady(Counted(number, census))
    return channel
  }

  @Test func `a channel that only its clause holds is received from`() throws {
    let census = Census()
    try runBlocking {
      for number in 0..<1000 {
        let received = try select {
          Receive(from: filled(census, number)) { $0.number }
          Receive(from: Channel<Counted>()) { $0.number }
        }
        #expect(received == number)
      }
    }
    #expect(census.alive == 0)
  }

  @Test func `channels that only a parked select holds live until it goes on`() throws {
    weak var held: Channel<Int>?
    try runBlocking {
      func waiting() -> Channel<Int> {
        let channel = Channel<Int>()
        held = channel
        return channel
      }
      let end = Channel<Void>(capacity: 1)
      let selecting = launch {
        try select {
          Receive(from: waiting()) { "\($0)" }
          Receive(from: end) { "ended" }
        }
      }
      try letOthersRun()
      #expect(held != nil)
      // The loop has slept, and others have selected.
      try Coroutine.sleep(for: .milliseconds(1))
      for number in 0..<500 {
        let channel = Channel<Int>(capacity: 1)
        channel.sendIfReady(number)
        try #expect(select { Receive(from: channel) { $0 } } == number)
      }
      #expect(held != nil)
      try end.send(())
      try #expect(selecting.value() == "ended")
      try Coroutine.sleep(for: .milliseconds(1))
      #expect(held == nil)
    }
  }

  @Test func `a channel is released when its loop has nothing ready`() throws {
    let census = Census()
    try runBlocking {
      var channel: Channel<Counted>? = Channel(capacity: 2)
      channel?.sendIfReady(Counted(1, census))
      channel?.sendIfReady(Counted(2, census))
      if let channel { try #expect(select { Receive(from: channel) { $0.number } } == 1) }
      channel = nil
      try Coroutine.sleep(for: .milliseconds(1))
      #expect(census.alive == 0)
    }
  }

  @Test func `a channel is released while its loop goes on being busy`() throws {
    let census = Census()
    try runBlocking {
      let neighbour = launch { while true { try Coroutine.yield() } }
      try #expect(select { Receive(from: filled(census)) { $0.number } } == 1)
      var rounds = 0
      while census.alive > 0, rounds < 100_000 {
        let unrelated = Channel<Int>()
        try select {
          Receive(from: unrelated) { _ in }
          Default {}
        }
        try Coroutine.yield()
        rounds += 1
      }
      #expect(census.alive == 0)
      neighbour.cancel()
    }
  }

  @Test(arguments: [Place.loop, .pool, .queue])
  func `a scheduler that has nothing to do keeps no channel`(_ place: Place) throws {
    let census = Census()
    let scheduler = place.scheduler
    try runBlocking {
      try launch(on: scheduler) {
        try #expect(select { Receive(from: filled(census)) { $0.number } } == 1)
        try select {
          Receive(from: Channel<Int>()) { _ in }
          Send(Counted(2, census), to: Channel(capacity: 1))
        }
      }.value()
      // The other thread comes to it when the coroutine has ended.
      for _ in 0..<300_000 where census.alive > 0 { try Coroutine.sleep(for: .milliseconds(1)) }
      #expect(census.alive == 0)
    }
  }

  enum Place: Sendable {
    case loop, pool, queue

    var scheduler: Scheduler {
      switch self {
      case .loop: SerialScheduler()
      case .pool: PoolScheduler(threads: 2)
      case .queue: .queue(DispatchQueue(label: "select lifetimes"))
      }
    }
  }

  @Test func `an ended loop keeps no channel`() throws {
    let census = Census()
    try runBlocking { try #expect(select { Receive(from: filled(census)) { $0.number } } == 1) }
    #expect(census.alive == 0)
  }

  @Test func `many more channels than there are places are kept at a time`() throws {
    let census = Census()
    try runBlocking {
      let go = Channel<Void>()
      let selecting = (0..<2000).map { number in
        launch {
          try select {
            Receive(from: go, whenClosed: { -1 }) { _ in -2 }
            Receive(from: Channel<Int>()) { $0 }
            Send(Counted(number, census), to: Channel()) { number }
          }
        }
      }
      try letOthersRun()
      #expect(census.alive == 2000)
      go.close()
      for one in selecting { try #expect(one.value() == -1) }
      #expect(census.alive == 0)
    }
  }

  @Test func `a later clause may park while it is made`() throws {
    let census = Census()
    try runBlocking {
      let source = Channel<Int>()
      launch {
        try Coroutine.sleep(for: .milliseconds(1))
        // The loop has slept since the first clause was made.
        for _ in 0..<500 {
          let other = Channel<Int>()
          try select {
            Receive(from: other) { _ in }
            Default {}
          }
        }
        try source.send(2)
      }
      let full = Channel<Int>()
      let value = try select {
        Receive(from: filled(census, 7)) { $0.number }
        Send(try source.receive(), to: full) { -1 }
      }
      #expect(value == 7)
    }
    #expect(census.alive == 0)
  }

  @Test func `a clause that is not made ends those before it`() throws {
    struct Refusal: Error {}
    let census = Census()
    try runBlocking {
      func refuse() throws -> Int { throw Refusal() }
      let full = Channel<Int>()
      #expect(throws: Refusal.self) {
        try select {
          Receive(from: filled(census)) { _ in }
          Send(try refuse(), to: full)
        }
      }
      try Coroutine.sleep(for: .milliseconds(1))
      #expect(census.alive == 0)
    }
  }

  @Test func `losers are let go of before the winner's action runs`() throws {
    let census = Census()
    try runBlocking {
      let ready = Channel<Int>(capacity: 1)
      ready.sendIfReady(1)
      try select {
        // Full, so never ready.
        Send(Counted(2, census), to: filled(census))
        Receive(from: ready) { _ in
          try Coroutine.sleep(for: .milliseconds(1))
          #expect(census.alive == 0)
        }
      }
    }
  }

  @Test func `a clause may be made on one loop and used on another`() throws {
    let census = Census()
    final class Box: @unchecked Sendable {
      // SAFETY: the coroutines that use it do so one after the other.
      var clause: Receive<Counted, Int>?
      init() { clause = nil }
    }
    let box = Box()
    try runBlocking {
      box.clause = Receive(from: filled(census, 5)) { $0.number }
      let serial = SerialScheduler()
      let received = try launch(on: serial) {
        try select { box.clause.take() ?? Receive(from: Channel()) { $0.number } }
      }.value()
      #expect(received == 5)
      try Coroutine.sleep(for: .milliseconds(1))
      #expect(census.alive == 0)
      box.clause = Receive(from: filled(census, 6)) { $0.number }
    }
    // Its loop has ended, and it is used nevertheless.
    #expect(census.alive == 1)
    let received = try runBlocking {
      try select { box.clause.take() ?? Receive(from: Channel()) { $0.number } }
    }
    #expect(received == 6)
    #expect(census.alive == 0)
  }

  @Test func `the end of a channel's values may use channels and launch`() throws {
    final class Reporting: Sendable {
      let log: Channel<Int>
      init(_ log: Channel<Int>) { self.log = log }
      deinit {
        _ = try? select {
          Send(1, to: log)
          Default {}
        }
        launch { [log] in try log.send(2) }
      }
    }
    try runBlocking {
      // Room for all of them: the second value ends at any look of the loop, or where its channel's place is needed.
      let log = Channel<Int>(capacity: 4)
      func make() -> Channel<Reporting> {
        let channel = Channel<Reporting>(capacity: 1)
        channel.sendIfReady(Reporting(log))
        return channel
      }
      try select {
        // There is no room: this value ends with the select, and the one in the channel when the loop has nothing to do,
        // at the latest.
        Send(Reporting(log), to: make())
        Default {}
      }
      let received = try (0..<4).map { _ in try log.receive() }
      #expect(received.sorted() == [1, 1, 2, 2])
      // Each of them sends first, and launches then.
      #expect(received.first == 1)
      #expect(received.last == 2)
    }
  }

  @Test func `a select with a Default keeps its channel outside a coroutine, too`() async throws {
    let census = Census()
    try await onThread {
      for number in 0..<100 {
        let received = try select {
          Receive(from: filled(census, number)) { $0.number }
          Default { -1 }
        }
        #expect(received == number)
        #expect(census.alive == 0)
      }
    }
  }
}
