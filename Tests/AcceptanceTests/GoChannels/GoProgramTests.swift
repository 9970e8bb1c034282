// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// The small programs of `test/chan`.
@Suite(.timeLimit(.minutes(30))) struct GoProgramTests {
  // MARK: - doubleselect

  @Test(arguments: GoPlace.allCases)
  func `a sender that selects among four channels sends every value once`(place: GoPlace) throws {
    let count = 2000
    try runBlocking {
      var spreader = GoSpreader(place)
      let inputs = (0..<4).map { _ in Channel<Int>() }
      let merged = Channel<Int>()
      let sender = spreader.go {
        defer { for input in inputs { input.close() } }
        for value in 0..<count {
          try select {
            Send(value, to: inputs[0])
            Send(value, to: inputs[1])
            Send(value, to: inputs[2])
            Send(value, to: inputs[3])
          }
        }
      }
      let forwarders = inputs.map { input in
        spreader.go { for value in input { try merged.send(value) } }
      }
      launch {
        for forwarder in forwarders { try forwarder.join() }
        merged.close()
      }
      var seen = Set<Int>()
      for value in merged { #expect(seen.insert(value).inserted) }
      #expect(seen.count == count)
      try sender.value()
    }
  }

  // MARK: - fifo

  @Test func `a channel with room gives values back in the order of the sends`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 10)
      for value in 0..<10 { try channel.send(value) }
      for value in 0..<10 { try #expect(channel.receive() == value) }
    }
  }

  @Test func `receivers that start one another get values in the order of the sends`() throws {
    try GoProgram.exploreAll(runs: 300) { program in
      let values = Channel<Int>()
      let start = Channel<Void>()
      var before = start
      for expected in 0..<10 {
        let (mine, after) = (before, Channel<Void>())
        program.go {
          try mine.receive()
          try GoPanic.unless(values.receive() == expected, "out of order at \(expected)")
          try after.send(())
        }
        before = after
      }
      try start.send(())
      for value in 0..<10 { try values.send(value) }
      try before.receive()
    }
  }

  // MARK: - goroutines

  @Test func `a value goes through a chain of ten thousand coroutines`() throws {
    let links = 10_000
    try runBlocking {
      let first = Channel<Int>()
      var left = first
      for _ in 0..<links {
        let (to, from) = (left, Channel<Int>())
        launch(stackSize: .small) { try to.send(from.receive() + 1) }
        left = from
      }
      let last = left
      launch { try last.send(0) }
      try #expect(first.receive() == links)
    }
  }

  // MARK: - select

  /// Sends to two channels as long as one takes it, each at most once; counts the values it made.
  private final class OfferingOnce {
    private(set) var made = 0
    private var shift = 0

    private func value() -> Int {
      made += 1
      return 1 << shift
    }

    func offer(_ first: Channel<Int>, _ second: Channel<Int>) throws -> Int {
      var (first, second) = (first, second)
      var sent = 0
      while true {
        let isSent = try select {
          Send(value(), to: first) {
            first = nobodysChannel()
            return true
          }
          Send(value(), to: second) {
            second = nobodysChannel()
            return true
          }
          Default { false }
        }
        shift += 1
        if !isSent { return sent }
        sent += 1
      }
    }
  }

  @Test func `a select evaluates the values of all its sends, and sends one of them`() throws {
    try runBlocking {
      let (a, b) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
      let offering = OfferingOnce()
      try #expect(offering.offer(a, b) == 2)
      try #expect(a.receive() | b.receive() == 3)
      try #expect(offering.offer(a, nobodysChannel()) == 1)
      // Three rounds and two rounds, of two values each.
      #expect(offering.made == 10)
    }
  }

  // MARK: - select2

  @Test func `twenty thousand selects leave nothing in the queue of the other channel`() throws {
    final class Token: Sendable {}
    try runBlocking {
      let (channel, idle) = (Channel<Token>(), Channel<Token>())
      weak var last: Token?
      let sender = launch {
        for _ in 0..<20_000 {
          let token = Token()
          last = token
          try channel.send(token)
        }
      }
      for _ in 0..<20_000 {
        try select {
          Receive(from: channel) { _ in }
          Receive(from: idle) { _ in throw GoPanic("a value from nowhere") }
        }
      }
      try sender.value()
      #expect(last == nil)
      // Nobody is left in either queue.
      #expect(idle.sendIfReady(Token()).isSent == false)
      #expect(channel.sendIfReady(Token()).isSent == false)
      #expect(channel.receiveIfReady().value == nil)
    }
  }

  // MARK: - select4

  @Test func `the action of a clause that does not win is not run`() throws {
    try runBlocking {
      let (ready, idle) = (Channel<Int>(capacity: 1), Channel<Int>())
      try ready.send(42)
      let place = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      defer { place.deallocate() }
      func destination() -> UnsafeMutablePointer<Int> {
        Issue.record("the place for a value that does not come was computed")
        return place
      }
      var received = 0
      try select {
        Receive(from: idle) { destination().pointee = $0 }
        Receive(from: ready) { received = $0 }
      }
      #expect(received == 42)
    }
  }

  // MARK: - select6

  @Test func `a select that leaves a queue leaves those before and behind it there`() throws {
    try GoProgram.exploreAll(delays: nil, runs: 3000) { program in
      let (shared, trigger, done) = (Channel<Bool>(), Channel<Bool>(), Channel<Bool>())
      let before = program.go { try shared.receive() }
      let selecting = program.go {
        try select {
          // Which of the two receivers stands first in line is a matter of the order.
          Receive(from: shared) { _ in throw GoPanic("nothing was sent to it yet") }
          Receive(from: trigger) { _ in try done.send(true) }
        }
        return try shared.receive()
      }
      program.go { try trigger.send(true) }
      _ = try done.receive()
      try shared.send(true)
      try shared.send(true)
      _ = try before.value()
      _ = try selecting.value()
    }
  }

  // MARK: - select7

  /// Three ways to do one thing.
  enum Way: CaseIterable { case plainly, inSelectAlone, inSelectWithAnother }

  @Test(arguments: Way.allCases, Way.allCases)
  func `all ways to send meet all ways to receive`(sending: Way, receiving: Way) throws {
    try GoProgram.exploreAll(delays: nil) { program in
      let channel = Channel<Int>()
      let receiver = program.go {
        switch receiving {
        case .plainly: return try channel.receive()
        case .inSelectAlone: return try select { Receive(from: channel) { $0 } }
        case .inSelectWithAnother:
          return try select {
            Receive(from: channel) { $0 }
            Receive(from: nobodysChannel()) { -$0 }
          }
        }
      }
      try Coroutine.yield()
      switch sending {
      case .plainly: try channel.send(1)
      case .inSelectAlone: try select { Send(1, to: channel) }
      case .inSelectWithAnother:
        try select {
          Send(1, to: channel)
          Send(2, to: nobodysChannel())
        }
      }
      try GoPanic.unless(receiver.value() == 1, "another value")
    }
  }

  // MARK: - select8

  @Test func `an action that returns early ends its select and nothing else`() throws {
    try GoProgram.run { program in
      let channel = Channel<Int>()
      program.go { while true { try channel.send(5) } }
      var steps: [String] = []
      try select {
        Receive(from: channel) {
          if $0 == 5 { return }
          steps.append("behind the return")
        }
      }
      steps.append("received")
      try letGoroutinesRun()
      try select {
        Receive(from: channel) { _ in steps.append("received again") }
        Send(10, to: channel) { steps.append("sent to nobody") }
        Default { steps.append("default") }
      }
      try select { Default { steps.append("only default") } }
      #expect(steps == ["received", "received again", "only default"])
    }
  }

  // MARK: - sendstmt

  @Test func `a channel that comes out of a channel can be sent to in a select`() throws {
    try runBlocking {
      let channels = Channel<Channel<Int>>(capacity: 1)
      let inner = Channel<Int>(capacity: 1)
      try channels.send(inner)
      let isSent = try select {
        Send(2, to: try channels.receive()) { true }
        Default { false }
      }
      #expect(isSent)
      try #expect(inner.receive() == 2)
    }
  }

  // MARK: - zerosize

  private struct Nothing: Equatable {}

  @Test(arguments: [0, 1, 3])
  func `values without a size are counted and carried like others`(capacity: Int) throws {
    try runBlocking {
      let (empties, voids) = (
        Channel<Nothing>(capacity: capacity), Channel<Void>(capacity: capacity)
      )
      for _ in 0..<capacity {
        try empties.send(Nothing())
        try voids.send(())
      }
      #expect(empties.count == capacity)
      #expect(voids.count == capacity)
      #expect(empties.sendIfReady(Nothing()) == .full(Nothing()))
      let sender = launch {
        try empties.send(Nothing())
        try select { Send((), to: voids) }
      }
      for _ in 0...capacity {
        try #expect(empties.receive() == Nothing())
        try select { Receive(from: voids) { _ in } }
      }
      try sender.value()
      #expect(empties.receiveIfReady() == .empty)
      voids.close()
      #expect(throws: ChannelError.closed) { try voids.receive() }
    }
  }
}
