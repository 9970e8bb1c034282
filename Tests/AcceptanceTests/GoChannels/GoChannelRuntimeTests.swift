// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `runtime/chan_test.go`, the parts in which a chosen order says more than a race.
@Suite(.timeLimit(.minutes(30))) struct GoChannelRuntimeTests {
  static let capacities = [0, 1, 2, 3, 7, 19]

  // MARK: - TestChan

  @Test(arguments: capacities)
  func `receivers of an empty channel wait, and those that do not wait find nothing`(
    capacity: Int
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let receivers = (0..<2).map { _ in launch { try channel.receive() } }
      try letGoroutinesRun()
      #expect(receivers.allSatisfy { !$0.isFinished })
      #expect(channel.receiveIfReady() == .empty)
      let isReady = try select {
        Receive(from: channel) { _ in true }
        Default { false }
      }
      #expect(!isReady)
      try channel.send(1)
      try channel.send(2)
      try #expect(receivers.map { try $0.value() } == [1, 2])
    }
  }

  @Test(arguments: capacities)
  func `a sender to a full channel waits, and one that does not wait is refused`(
    capacity: Int
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<capacity { try channel.send(value) }
      let sender = launch { try channel.send(capacity) }
      try letGoroutinesRun()
      #expect(!sender.isFinished)
      #expect(channel.sendIfReady(-1) == .full(-1))
      let isReady = try select {
        Send(-1, to: channel) { true }
        Default { false }
      }
      #expect(!isReady)
      for value in 0...capacity { try #expect(channel.receive() == value) }
      try sender.value()
    }
  }

  @Test(arguments: capacities)
  func `a closed channel gives what it keeps, and then says that it is closed`(
    capacity: Int
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<capacity { try channel.send(value) }
      channel.close()
      for value in 0..<capacity { try #expect(channel.receive() == value) }
      for _ in 0..<2 {
        #expect(throws: ChannelError.closed) { try channel.receive() }
        #expect(channel.receiveIfReady() == .closed)
      }
    }
  }

  @Test(arguments: capacities)
  func `closing wakes a receiver that waits`(capacity: Int) throws {
    try GoProgram.exploreAll(delays: nil, runs: 200) { program in
      let channel = Channel<Int>(capacity: capacity)
      let receiver = program.go {
        do {
          _ = try channel.receive()
          return false
        } catch ChannelError.closed {
          return true
        }
      }
      try Coroutine.yield()
      channel.close()
      try GoPanic.unless(receiver.value(), "a value came out of an empty channel")
    }
  }

  @Test(arguments: capacities)
  func `a hundred values arrive in order, by receive and by iteration`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for _ in 0..<2 { launch { for value in 0..<100 { try channel.send(value) } } }
      var last = [-1, -1]
      // Two senders: each one's values keep their order.
      for _ in 0..<200 {
        let value = try channel.receive()
        let sender = last[0] == value - 1 ? 0 : 1
        #expect(last[sender] == value - 1)
        last[sender] = value
      }
      launch {
        for value in 0..<100 { try channel.send(value) }
        channel.close()
      }
      #expect(Array(channel) == Array(0..<100))
    }
  }

  @Test(arguments: capacities)
  func `count and capacity tell what is kept and what can be`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      #expect(channel.capacity == capacity)
      for value in 0..<capacity {
        #expect(channel.count == value)
        try channel.send(value)
      }
      #expect(channel.count == capacity)
      #expect(channel.capacity == capacity)
      #expect(channel.isEmpty == (capacity == 0))
    }
  }

  // MARK: - Races that are none

  @Test func `in all orders, who does not wait gets the value that was kept before the close`()
    throws
  {
    let exploration = try explore {
      let channel = Channel<Int>(capacity: 1)
      try channel.send(1)
      let receiver = launch { channel.receiveIfReady() }
      try Coroutine.yield()
      channel.close()
      let own = channel.receiveIfReady()
      let other = try receiver.value()
      // While the channel is open, the value is in it: nobody finds it empty.
      let outcomes = [own, other]
      try GoPanic.unless(
        outcomes == [.received(1), .closed] || outcomes == [.closed, .received(1)],
        "received \(own) and \(other)"
      )
    }
    #expect(exploration.isComplete)
  }

  @Test(arguments: [false, true])
  func `in all orders, a select sees all its channels at one moment`(isClosing: Bool) throws {
    let exploration = try explore {
      let (first, second) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
      try first.send(1)
      let selecting = launch {
        try select {
          Receive(from: first) { _ in true }
          Receive(from: second, whenClosed: { true }) { _ in true }
          Default { false }
        }
      }
      try Coroutine.yield()
      if isClosing { second.close() } else { try second.send(1) }
      try Coroutine.yield()
      _ = first.receiveIfReady()
      try GoPanic.unless(selecting.value(), "neither channel was ready")
    }
    #expect(exploration.isComplete)
  }

  @Test(arguments: [0, 10])
  func `in many orders, two that send and receive in one select never meet themselves`(
    capacity: Int
  ) throws {
    try GoProgram.exploreAll { program in
      let channel = Channel<Int>(capacity: capacity)
      let parties = (0..<2).map { party in
        program.go {
          for _ in 0..<3 {
            try select {
              Send(party, to: channel)
              Receive(from: channel) {
                try GoPanic.unless(capacity > 0 || $0 != party, "received from itself")
              }
            }
          }
        }
      }
      for party in parties { try party.value() }
    }
  }

  // MARK: - Chance

  @Test func `a select among ready and idle channels takes the ready ones in equal shares`() throws
  {
    let trials = 10_000
    try runBlocking {
      let ready = (1...2).map { number in
        let channel = Channel<Int>(capacity: trials + 1)
        for _ in 0...trials { channel.sendIfReady(number) }
        return channel
      }
      let (idle, done, out) = (
        [Channel<Int>(), Channel<Int>()], Channel<Void>(), Channel<Int>()
      )
      let selecting = launch {
        var isRunning = true
        while isRunning {
          let number = try select {
            Receive(from: idle[0]) { $0 }
            Receive(from: idle[1]) { $0 }
            Receive(from: ready[0]) { $0 }
            Receive(from: ready[1]) { $0 }
          }
          try select {
            Send(number, to: out)
            Receive(from: done, whenClosed: { isRunning = false }) { _ in }
          }
        }
      }
      var wins = [0, 0]
      for _ in 0..<trials { wins[try out.receive() - 1] += 1 }
      done.close()
      try selecting.value()
      // Five standard deviations, each of half a root of the trials: one failure in a million runs.
      #expect(abs(wins[0] - trials / 2) < 250, "\(wins)")
    }
  }

  @Test(arguments: [0, 100])
  func `of two sends to one channel in a select, each wins sometimes`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let receiver = launch {
        var ones = 0
        for _ in 0..<100 {
          try Coroutine.yield()
          ones += try channel.receive()
        }
        return ones
      }
      for _ in 0..<100 {
        try select {
          Send(1, to: channel)
          Send(0, to: channel)
        }
      }
      // Chance leaves this range once in 10¹⁶ runs.
      try #expect((11...89).contains(receiver.value()))
    }
  }

  @Test func `of two receives from one channel in a select that waits, each wins sometimes`()
    throws
  {
    try runBlocking {
      let channel = Channel<Int>()
      let receiver = launch {
        try (0..<100).reduce(0) { ones, _ in
          try ones
            + select {
              Receive(from: channel) { $0 }
              Receive(from: channel) { 0 * $0 }
            }
        }
      }
      for _ in 0..<100 {
        // The receiver waits by now.
        try Coroutine.yield()
        try channel.send(1)
      }
      try #expect((11...89).contains(receiver.value()))
    }
  }

  // MARK: - TestSelectDuplicateChannel

  @Test func `a select that names a channel twice leaves its queue in order`() throws {
    try GoProgram.exploreAll { program in
      let (shared, trigger, done) = (Channel<Int>(), Channel<Int>(), Channel<Int>())
      program.go("selecting") {
        try select {
          Receive(from: shared) { _ in throw GoPanic("the wrong one was woken") }
          Receive(from: shared) { _ in throw GoPanic("the wrong one was woken") }
          Receive(from: trigger) { _ in }
        }
        try done.send(9)
      }
      let behind = program.go("behind") { try shared.receive() }
      try Coroutine.yield()
      try trigger.send(7)
      try GoPanic.unless(done.receive() == 9, "another value")
      try shared.send(8)
      try GoPanic.unless(behind.value() == 8, "another value")
    }
  }

  // MARK: - Interface values, stacks

  private protocol Anything: Sendable {}
  private final class Something: Anything {}

  @Test func `a channel of existential values carries them, and releases those that are not sent`()
    throws
  {
    try runBlocking {
      let channel = Channel<any Anything>(capacity: 1)
      weak var kept: Something?
      weak var refused: Something?
      do {
        let (first, second) = (Something(), Something())
        (kept, refused) = (first, second)
        try channel.send(first)
        let isSent = try select {
          Send(second as any Anything, to: channel) { true }
          Send(Something() as any Anything, to: channel) { true }
          Default { false }
        }
        #expect(!isSent)
      }
      #expect(kept != nil)
      #expect(refused == nil)
      _ = try channel.receive()
      #expect(kept == nil)
    }
  }

  /// Uses up some of the stack, for a short time.
  @inline(never)
  private static func dig(_ depth: Int) -> Int {
    depth == 0
      ? 0
      : withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { bytes in
        bytes[0] = UInt8(truncatingIfNeeded: depth)
        return Int(bytes[0]) + dig(depth - 1)
      }
  }

  @Test func `what waits in a select at the end of a deep call finds its variables as they were`()
    throws
  {
    try runBlocking {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let selecting = (0..<2).map { index in
        launch {
          _ = Self.dig(20)
          var local = 42
          try withUnsafeMutablePointer(to: &local) { pointer in
            try select {
              Receive(from: one, whenClosed: { pointer.pointee = -1 }) { _ in pointer.pointee = -1 }
              Receive(from: index == 0 ? nobodysChannel() : one) { _ in pointer.pointee = -1 }
              Receive(from: other, whenClosed: { pointer.pointee += 1 }) { _ in }
              Receive(
                from: index == 0 ? nobodysChannel() : other,
                whenClosed: { pointer.pointee += 1 }
              ) {
                _ in
              }
            }
          }
          _ = Self.dig(20)
          return local
        }
      }
      try letGoroutinesRun()
      other.close()
      try #expect(selecting.map { try $0.value() } == [43, 43])
    }
  }

  @Test func `senders that use their stacks between sends are received from in order`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let sender = launch {
        for value in 0..<10 {
          try channel.send(value)
          _ = Self.dig(20)
        }
      }
      for value in 0..<10 {
        try letGoroutinesRun()
        try #expect(channel.receive() == value)
      }
      try sender.value()
    }
  }
}
