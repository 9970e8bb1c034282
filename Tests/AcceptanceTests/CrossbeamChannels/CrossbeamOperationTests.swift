// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `array`, `list`, `zero`: one operation after the other, each at a known time.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamOperationTests {
  // MARK: - smoke

  @Test func `a fresh rendezvous channel gives a value back and has none`() {
    let channel = Channel<Int>()
    #expect(channel.sendIfReady(7) == .full(7))
    #expect(channel.receiveIfReady() == .empty)
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `what is sent to a channel that keeps values is received, and then there is no more`(
    kind: CrossbeamKind
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel(room: 1)
      #expect(channel.sendIfReady(7) == .sent)
      #expect(channel.receiveIfReady() == .received(7))
      try channel.send(8)
      try #expect(channel.receive() == 8)
      #expect(channel.receiveIfReady() == .empty)
      for limit in CrossbeamLimit.allCases {
        let begin = time.now
        try #expect(limit.receive(from: channel, within: .milliseconds(1000)) == .timedOut(nil))
        #expect(time.now - begin == .milliseconds(1000))
      }
    }
  }

  // MARK: - capacity, len_empty_full

  @Test func `a rendezvous channel has room for nothing, an unbounded one for all`() {
    #expect(Channel<Void>(capacity: .rendezvous).capacity == 0)
    #expect(Channel<Void>(capacity: .unbounded).capacity == .max)
  }

  @Test(arguments: 1..<10)
  func `a bounded channel says how much it has room for`(room: Int) {
    #expect(Channel<Void>(capacity: room).capacity == room)
  }

  /// A channel as both of its ends see it.
  private func expect(_ channel: Channel<Int>, keeps count: Int, isFull: Bool) {
    #expect(channel.count == count)
    #expect(channel.sendEnd.count == count)
    #expect(channel.receiveEnd.count == count)
    #expect(channel.isEmpty == (count == 0))
    #expect(channel.receiveEnd.isEmpty == (count == 0))
    #expect((channel.count == channel.capacity) == isFull)
  }

  @Test func `a rendezvous channel is empty and full, before and after a meeting`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      expect(channel, keeps: 0, isFull: true)
      let sender = launch { try channel.send(0) }
      let receiver = launch { try channel.receive() }
      try sender.value()
      try #expect(receiver.value() == 0)
      expect(channel, keeps: 0, isFull: true)
    }
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `a channel that keeps values counts them at each step`(kind: CrossbeamKind) throws {
    try runBlocking {
      let channel = kind.channel(room: 2)
      expect(channel, keeps: 0, isFull: false)
      try channel.send(0)
      expect(channel, keeps: 1, isFull: false)
      try channel.send(1)
      expect(channel, keeps: 2, isFull: kind == .bounded)
      _ = try channel.receive()
      expect(channel, keeps: 1, isFull: false)
    }
  }

  // MARK: - try_recv, recv, recv_timeout

  @Test(arguments: CrossbeamKind.allCases)
  func `receiveIfReady finds nothing, later a value, later the closing`(
    kind: CrossbeamKind
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      launch {
        try time.pass(.milliseconds(1000))
        try channel.send(7)
        channel.close()
      }
      #expect(channel.receiveIfReady() == .empty)
      try time.pass(.milliseconds(1500))
      #expect(channel.receiveIfReady() == .received(7))
      try time.pass(.milliseconds(500))
      #expect(channel.receiveIfReady() == .closed)
    }
  }

  @Test(arguments: CrossbeamKind.allCases)
  func `receive waits for a value, takes those that came meanwhile, and throws when closed`(
    kind: CrossbeamKind
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      launch {
        try time.pass(.milliseconds(1500))
        for value in 7...9 { try channel.send(value) }
        channel.close()
      }
      try #expect(channel.receive() == 7)
      #expect(time.now == .milliseconds(1500))
      try time.pass(.milliseconds(1000))
      try #expect(channel.receive() == 8)
      #expect(time.now == .milliseconds(2500))
      try time.pass(.milliseconds(1000))
      try #expect(channel.receive() == 9)
      #expect(throws: ChannelError.closed) { try channel.receive() }
      #expect(time.now == .milliseconds(3500))
    }
  }

  @Test(arguments: CrossbeamKind.allCases, CrossbeamLimit.allCases)
  func `a limited receive times out, gets a value in time, and finds the channel closed`(
    kind: CrossbeamKind,
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      launch {
        try time.pass(.milliseconds(1500))
        try channel.send(7)
        channel.close()
      }
      let second = Duration.milliseconds(1000)
      try #expect(limit.receive(from: channel, within: second) == .timedOut(nil))
      #expect(time.now == .milliseconds(1000))
      try #expect(limit.receive(from: channel, within: second) == .received(7))
      #expect(time.now == .milliseconds(1500))
      try #expect(limit.receive(from: channel, within: second) == .closed(nil))
      #expect(time.now == .milliseconds(1500))
    }
  }

  @Test func `a receive clause beside a time of zero takes what is there, and else times out`()
    throws
  {
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      try channel.send(5)
      try #expect(CrossbeamLimit.clause.receive(from: channel, within: .zero) == .received(5))
      try #expect(CrossbeamLimit.clause.receive(from: channel, within: .zero) == .timedOut(nil))
    }
  }

  @Test func `under withTimeout zero nothing can wait, so a receive leaves what is there`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      try channel.send(5)
      try #expect(CrossbeamLimit.timeout.receive(from: channel, within: .zero) == .timedOut(nil))
      #expect(channel.receiveIfReady() == .received(5))
    }
  }

  // MARK: - try_send

  @Test func `sendIfReady to a rendezvous channel needs a receiver that waits`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let receiver = launch {
        try time.pass(.milliseconds(1000))
        defer { channel.close() }
        return try channel.receive()
      }
      #expect(channel.sendIfReady(7) == .full(7))
      try time.pass(.milliseconds(1500))
      #expect(channel.sendIfReady(8) == .sent)
      try time.pass(.milliseconds(500))
      #expect(channel.sendIfReady(9) == .closed(9))
      try #expect(receiver.value() == 8)
    }
  }

  @Test func `sendIfReady to a bounded channel needs room`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>(capacity: 1)
      let receiver = launch {
        try time.pass(.milliseconds(1000))
        #expect(channel.receiveIfReady() == .received(1))
        #expect(channel.receiveIfReady() == .empty)
        try #expect(channel.receive() == 3)
        #expect(time.now == .milliseconds(1500))
        channel.close()
      }
      #expect(channel.sendIfReady(1) == .sent)
      #expect(channel.sendIfReady(2) == .full(2))
      try time.pass(.milliseconds(1500))
      #expect(channel.sendIfReady(3) == .sent)
      try time.pass(.milliseconds(500))
      #expect(channel.sendIfReady(4) == .closed(4))
      try receiver.value()
    }
  }

  @Test func `sendIfReady to an unbounded channel works until it is closed`() {
    let channel = Channel<Int>(capacity: .unbounded)
    for value in 0..<1000 { #expect(channel.sendIfReady(value) == .sent) }
    channel.close()
    #expect(channel.sendIfReady(777) == .closed(777))
  }

  // MARK: - send

  @Test func `send to a rendezvous channel returns when a receiver has come`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let sender = launch {
        var times: [Duration] = []
        for value in 7...9 {
          try channel.send(value)
          times.append(time.now)
          try time.pass(.milliseconds(1000))
        }
        return times
      }
      try time.pass(.milliseconds(1500))
      for value in 7...9 { try #expect(channel.receive() == value) }
      #expect(time.now == .milliseconds(3500))
      // The second and the third receiver were there first.
      try #expect(sender.value() == [1500, 2500, 3500].map { .milliseconds($0) })
    }
  }

  @Test func `send to a bounded channel returns when there is room`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>(capacity: 1)
      let sender = launch {
        var times: [Duration] = []
        for value in 7...10 {
          try channel.send(value)
          times.append(time.now)
          try time.pass(.milliseconds(1000))
        }
        return times
      }
      try time.pass(.milliseconds(1500))
      for value in 7...9 { try #expect(channel.receive() == value) }
      #expect(time.now == .milliseconds(2500))
      try #expect(sender.value() == [0, 1500, 2500, 3500].map { .milliseconds($0) })
      #expect(channel.count == 1)
    }
  }

  @Test func `send to an unbounded channel never waits, and fails once it is closed`() throws {
    try CrossbeamTimeline.run { _ in
      let channel = Channel<Int>(capacity: .unbounded)
      // Nobody receives: a wait would be a deadlock.
      for value in 0..<1000 { try channel.send(value) }
      channel.close()
      var back: Int?
      #expect(throws: ChannelError.closed) { try channel.send(777, onUndelivered: { back = $0 }) }
      #expect(back == 777)
    }
  }

  // MARK: - send_timeout

  @Test(arguments: CrossbeamLimit.allCases)
  func `a limited send to a rendezvous channel times out, meets a receiver, finds it closed`(
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let receiver = launch {
        try time.pass(.milliseconds(1500))
        defer { channel.close() }
        return try channel.receive()
      }
      let second = Duration.milliseconds(1000)
      try #expect(limit.send(7, to: channel, within: second) == .timedOut(7))
      #expect(time.now == .milliseconds(1000))
      try #expect(limit.send(8, to: channel, within: second) == .sent)
      #expect(time.now == .milliseconds(1500))
      try #expect(limit.send(9, to: channel, within: second) == .closed(9))
      #expect(time.now == .milliseconds(1500))
      try #expect(receiver.value() == 8)
    }
  }

  @Test(arguments: CrossbeamLimit.allCases)
  func `a limited send to a bounded channel waits for room no longer than allowed`(
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>(capacity: 2)
      let receiver = launch {
        var values: [Int] = []
        for _ in 0..<2 {
          try time.pass(.milliseconds(1000))
          values.append(try channel.receive())
        }
        values.append(try channel.receive())
        channel.close()
        return values
      }
      let second = Duration.milliseconds(1000)
      try #expect(limit.send(1, to: channel, within: second) == .sent)
      try #expect(limit.send(2, to: channel, within: second) == .sent)
      #expect(time.now == .zero)
      try #expect(limit.send(3, to: channel, within: .milliseconds(500)) == .timedOut(3))
      #expect(time.now == .milliseconds(500))
      try time.pass(second)
      try #expect(limit.send(4, to: channel, within: second) == .sent)
      #expect(time.now == .milliseconds(1500))
      try time.pass(second)
      #expect(throws: ChannelError.closed) { try channel.send(5) }
      // What timed out has never been there.
      try #expect(receiver.value() == [1, 2, 4])
    }
  }

  @Test(arguments: CrossbeamLimit.allCases)
  func `a limited send to an unbounded channel works within any time, and fails once closed`(
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>(capacity: .unbounded)
      // Under `withTimeout(.zero)` nothing can wait, not even what would not have to.
      for value in (limit == .clause ? 0 : 1)..<1000 {
        try #expect(limit.send(value, to: channel, within: .milliseconds(value)) == .sent)
      }
      #expect(time.now == .zero)
      channel.close()
      let last = limit == .clause ? Duration.zero : .milliseconds(1)
      try #expect(limit.send(777, to: channel, within: last) == .closed(777))
    }
  }

  // MARK: - send_after_disconnect, recv_after_disconnect

  /// The three ways to send.
  enum WayToSend: CaseIterable, Sendable { case send, ifReady, limited }

  @Test(arguments: CrossbeamKind.allCases, WayToSend.allCases)
  func `a closed channel refuses a value however it is sent, and gives it back`(
    kind: CrossbeamKind,
    way: WayToSend
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      if kind != .rendezvous { for value in 1...3 { try channel.send(value) } }
      channel.close()
      switch way {
      case .send:
        var back: Int?
        #expect(throws: ChannelError.closed) { try channel.send(4, onUndelivered: { back = $0 }) }
        #expect(back == 4)
      case .ifReady: #expect(channel.sendIfReady(5) == .closed(5))
      case .limited:
        for limit in CrossbeamLimit.allCases {
          try #expect(limit.send(6, to: channel, within: .milliseconds(500)) == .closed(6))
        }
        #expect(time.now == .zero)
      }
    }
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `what a closed channel keeps is received, and then it says that it is closed`(
    kind: CrossbeamKind
  ) throws {
    try runBlocking {
      let channel = kind.channel()
      for value in 1...3 { try channel.send(value) }
      channel.close()
      for value in 1...3 { try #expect(channel.receive() == value) }
      #expect(throws: ChannelError.closed) { try channel.receive() }
    }
  }

  // MARK: - len

  @Test(arguments: CrossbeamKind.keeping)
  func `the count goes up by one with each send and down by one with each receive`(
    kind: CrossbeamKind
  ) throws {
    try runBlocking {
      let channel = kind.channel(room: 1000)
      #expect(channel.count == 0)
      for _ in 0..<10 {
        for value in 0..<50 {
          try channel.send(value)
          #expect(channel.count == value + 1)
        }
        for value in 0..<50 {
          _ = try channel.receive()
          #expect(channel.count == 49 - value)
        }
      }
      for value in 0..<1000 {
        try channel.send(value)
        #expect(channel.count == value + 1)
      }
      for _ in 0..<1000 { _ = try channel.receive() }
      #expect(channel.count == 0)
    }
  }

  // MARK: - disconnect_wakes_sender, disconnect_wakes_receiver

  @Test(arguments: [0, 1])
  func `in all orders, closing wakes a sender that waits, and it has its value back`(
    capacity: Int
  ) throws {
    let exploration = try explore {
      let channel = Channel<Int>(capacity: capacity)
      let sender = launch {
        var back: Int?
        do {
          for value in 0...capacity { try channel.send(value, onUndelivered: { back = $0 }) }
        } catch ChannelError.closed {}
        return back
      }
      try Coroutine.sleep(for: .milliseconds(1000))
      channel.close()
      try CrossbeamFailure.unless(sender.value() == capacity, "another value came back")
    }
    #expect(exploration.isComplete)
  }

  @Test(arguments: CrossbeamKind.allCases)
  func `in all orders, closing wakes a receiver that waits`(kind: CrossbeamKind) throws {
    let exploration = try explore {
      let channel = kind.channel()
      let receiver = launch {
        do {
          _ = try channel.receive()
          return false
        } catch ChannelError.closed {
          return true
        }
      }
      try Coroutine.sleep(for: .milliseconds(1000))
      channel.close()
      try CrossbeamFailure.unless(receiver.value(), "a value came out of an empty channel")
    }
    #expect(exploration.isComplete)
  }

  // MARK: - recv_in_send

  @Test func `the value of a send clause is evaluated even if the clause cannot win`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      try channel.send(1)
      var evaluations = 0
      func value() -> Int {
        evaluations += 1
        return 2
      }
      let hasSent = try select {
        Send(value(), to: channel) { true }
        Default { false }
      }
      #expect(!hasSent)
      #expect(evaluations == 1)
    }
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `the value of a send clause may be received from the same channel`(
    kind: CrossbeamKind
  ) throws {
    try runBlocking {
      let channel = kind.channel(room: 2)
      try channel.send(1)
      try select { Send(try channel.receive() + 1, to: channel) }
      #expect(channel.receiveIfReady() == .received(2))
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test func `the value of a send clause may be waited for on the same rendezvous channel`() throws
  {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let receiver = launch {
        try time.pass(.milliseconds(100))
        return try channel.receive()
      }
      launch {
        try time.pass(.milliseconds(500))
        try channel.send(3)
      }
      try select { Send(try channel.receive() + 1, to: channel) }
      // Who asked first, for the clause's value, was served first.
      try #expect(receiver.value() == 4)
      #expect(time.now == .milliseconds(500))
    }
  }

  // MARK: - panic_on_drop, drop_unreceived, stack_overflow

  @Test(arguments: CrossbeamKind.keeping)
  func `kept values are released once, with the channel, not when it is closed`(
    kind: CrossbeamKind
  ) throws {
    let census = CrossbeamCensus()
    var channel: Channel? = kind.channel(of: CrossbeamCensus.Object.self, room: 2)
    channel?.sendIfReady(census.make())
    channel?.sendIfReady(census.make())
    channel?.close()
    #expect(census.released == 0)
    channel = nil
    #expect(census.released == 2)
  }

  /// Thirty-two kilobytes.
  struct Big: Equatable {
    struct Sixteen<Part: Equatable>: Equatable {
      var p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15: Part
      init(_ p: Part) {
        (p0, p1, p2, p3, p4, p5, p6, p7) = (p, p, p, p, p, p, p, p)
        (p8, p9, p10, p11, p12, p13, p14, p15) = (p, p, p, p, p, p, p, p)
      }
    }
    var parts: Sixteen<Sixteen<Sixteen<Int>>>
    var first: Int {
      get { parts.p0.p0.p0 }
      set { parts.p0.p0.p0 = newValue }
    }
    init(_ number: Int) { parts = .init(.init(.init(number))) }
  }

  @Test(arguments: CrossbeamKind.allCases)
  func `values of thirty-two kilobytes travel without much of a stack`(kind: CrossbeamKind) throws {
    #expect(MemoryLayout<Big>.size == 32_768)
    try runBlocking(stackSize: .bytes(1 << 20)) {
      let channel = kind.channel(of: Big.self, room: 2)
      launch(stackSize: .bytes(1 << 20)) {
        for number in 1...3 { try channel.send(Big(number)) }
        channel.close()
      }
      var numbers: [Int] = []
      for value in channel { numbers.append(value.first) }
      #expect(numbers == [1, 2, 3])
    }
  }
}
