// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Dispatch
import Testing

/// `mpsc`: what Rust's standard channels do, of kinds `channel` (unbounded) and `sync_channel`.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamMpscTests {
  // MARK: - smoke, drop_full

  @Test(arguments: CrossbeamKind.keeping)
  func `a value sent through any handle of the channel arrives`(kind: CrossbeamKind) throws {
    try runBlocking {
      let channel = kind.channel(room: 1)
      let ends = [channel.sendEnd, channel.sendEnd]
      for end in ends + [ends[0]] {
        try end.send(1)
        try #expect(channel.receive() == 1)
      }
    }
  }

  @Test(arguments: CrossbeamKind.keeping, [0, 2])
  func `a kept value goes with the last handle of its channel`(
    kind: CrossbeamKind,
    handles: Int
  ) throws {
    let census = CrossbeamCensus()
    do {
      let channel = kind.channel(of: CrossbeamCensus.Object.self, room: 1)
      var ends = (0..<handles).map { _ in channel.sendEnd }
      channel.sendIfReady(census.make())
      ends.removeAll()
      #expect(census.released == 0)
      #expect(channel.count == 1)
    }
    #expect(census.released == 1)
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `a value comes over from another thread`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel()
      let sender = spreader.go { try channel.send(1) }
      try #expect(channel.receive() == 1)
      try sender.value()
    }
  }

  // MARK: - send_from_outside_runtime, recv_from_outside_runtime, no_runtime

  /// Runs something on a thread that has no scheduler.
  private func onPlainThread(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group, execute: DispatchWorkItem(block: body))
    return group
  }

  @Test func `a thread without coroutines sends forty values to a coroutine`() throws {
    let (ready, values) = (Channel<Void>(capacity: 1), Channel<Int>(capacity: .unbounded))
    let thread = onPlainThread {
      while ready.receiveIfReady().value == nil {}
      for value in 0..<40 { values.sendIfReady(value) }
    }
    try runBlocking {
      try ready.send(())
      for value in 0..<40 { try #expect(values.receive() == value) }
    }
    thread.wait()
  }

  @Test func `a thread without coroutines takes forty values from a coroutine`() throws {
    let (values, seen) = (Channel<Int>(capacity: .unbounded), Channel<Int>(capacity: .unbounded))
    let thread = onPlainThread {
      var count = 0
      while count < 40 {
        guard case .received(let value) = values.receiveIfReady() else { continue }
        seen.sendIfReady(value)
        count += 1
      }
    }
    try runBlocking {
      for value in 0..<40 { try values.send(value) }
      for value in 0..<40 { try #expect(seen.receive() == value) }
    }
    thread.wait()
  }

  @Test func `tasks send and receive where there is no coroutine at all`() async throws {
    let (there, back) = (Channel<Int>(capacity: .unbounded), Channel<Int>())
    async let answer: Void = {
      let value = try await there.receive()
      try await back.send(value + 1)
    }()
    try await there.send(1)
    let received = try await back.receive()
    #expect(received == 2)
    try await answer
  }

  @Test(arguments: CrossbeamPlace.allCases)
  func `two elsewhere answer each other while this thread only waits`(
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let (there, back) = (
        Channel<Int>(capacity: .unbounded), Channel<Int>(capacity: .unbounded)
      )
      let answering = spreader.go {
        let value = try there.receive()
        try back.send(value + 1)
      }
      let asking = spreader.go {
        try there.send(1)
        return try back.receive()
      }
      try #expect(asking.value() == 2)
      try answering.value()
    }
  }

  // MARK: - Ends that are gone

  @Test(arguments: CrossbeamKind.mpsc, [1, 2])
  func `sending fails through each end after the channel was closed`(
    kind: CrossbeamKind,
    ends: Int
  ) throws {
    try runBlocking {
      let channel = kind.channel()
      let ends = (0..<ends).map { _ in channel.sendEnd }
      channel.close()
      for end in ends {
        #expect(throws: ChannelError.closed) { try end.send(1) }
        #expect(end.sendIfReady(1) == .closed(1))
      }
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, [1, 2])
  func `receiving fails after the channel was closed through any end, as often as they like`(
    kind: CrossbeamKind,
    ends: Int
  ) throws {
    try runBlocking {
      let channel = kind.channel()
      for _ in 0..<ends { channel.sendEnd.close() }
      #expect(throws: ChannelError.closed) { try channel.receive() }
      for _ in 0..<2 { #expect(channel.receiveIfReady() == .closed) }
    }
  }

  @Test(arguments: CrossbeamKind.allCases)
  func `a channel that was never used goes, closed or not`(kind: CrossbeamKind) {
    for isClosed in [false, true] {
      weak var gone: Channel<Int>?
      do {
        let channel = kind.channel()
        if isClosed { channel.close() }
        gone = channel
        #expect(gone != nil)
      }
      #expect(gone == nil)
    }
  }

  @Test(arguments: CrossbeamKind.allCases)
  func `a value that a closed channel refuses is released`(kind: CrossbeamKind) throws {
    let census = CrossbeamCensus()
    try runBlocking {
      let channel = kind.channel(of: CrossbeamCensus.Object.self)
      channel.close()
      #expect(throws: ChannelError.closed) { try channel.send(census.make()) }
      #expect(census.released == 1)
      channel.sendIfReady(census.make())
      #expect(census.released == 2)
      #expect(throws: ChannelError.closed) {
        try select { Send(census.make(), to: channel) }
      }
      #expect(census.released == 3)
    }
  }

  // MARK: - oneshot, one thread

  /// A channel before one operation, and what that does.
  struct Situation: CustomTestStringConvertible, Sendable {
    enum Step: Sendable { case send(Int), receive, close }
    enum Operation: String, Sendable { case send, receive, sendIfReady, receiveIfReady }
    enum Outcome: Equatable, Sendable {
      case fine
      case received(Int)
      case empty
      case full(Int)
      case closed
    }

    let kind: CrossbeamKind
    let before: [Step]
    let operation: Operation
    let outcome: Outcome

    var testDescription: String { "\(kind) \(before): \(operation) → \(outcome)" }
  }

  static let situations: [Situation] = [
    // channel()
    Situation(kind: .unbounded, before: [], operation: .send, outcome: .fine),
    Situation(kind: .unbounded, before: [.send(10)], operation: .receive, outcome: .received(10)),
    Situation(kind: .unbounded, before: [.close], operation: .send, outcome: .closed),
    Situation(kind: .unbounded, before: [.close], operation: .receive, outcome: .closed),
    Situation(kind: .unbounded, before: [], operation: .receiveIfReady, outcome: .empty),
    Situation(
      kind: .unbounded,
      before: [.send(10)],
      operation: .receiveIfReady,
      outcome: .received(10)
    ),
    Situation(kind: .unbounded, before: [.close], operation: .receiveIfReady, outcome: .closed),
    Situation(
      kind: .unbounded,
      before: [.send(10), .receive],
      operation: .receiveIfReady,
      outcome: .empty
    ),
    // issue_32114
    Situation(kind: .unbounded, before: [.close, .send(1)], operation: .send, outcome: .closed),
    // sync_channel(1)
    Situation(kind: .bounded, before: [], operation: .sendIfReady, outcome: .fine),
    Situation(kind: .bounded, before: [.send(10)], operation: .receive, outcome: .received(10)),
    Situation(kind: .bounded, before: [.send(10)], operation: .sendIfReady, outcome: .full(7)),
    Situation(
      kind: .bounded,
      before: [.send(10), .close],
      operation: .sendIfReady,
      outcome: .closed
    ),
    Situation(kind: .bounded, before: [.send(10), .close], operation: .send, outcome: .closed),
    Situation(
      kind: .bounded,
      before: [.send(10), .close],
      operation: .receiveIfReady,
      outcome: .received(10)
    ),
    Situation(
      kind: .bounded,
      before: [.send(10), .close, .receive],
      operation: .receiveIfReady,
      outcome: .closed
    ),
    Situation(
      kind: .bounded,
      before: [.send(10)],
      operation: .receiveIfReady,
      outcome: .received(10)
    ),
    Situation(kind: .bounded, before: [], operation: .receiveIfReady, outcome: .empty),
    // sync_channel(0)
    Situation(kind: .rendezvous, before: [], operation: .sendIfReady, outcome: .full(7)),
    Situation(kind: .rendezvous, before: [.close], operation: .sendIfReady, outcome: .closed),
    Situation(kind: .rendezvous, before: [.close], operation: .send, outcome: .closed),
    Situation(kind: .rendezvous, before: [.close], operation: .receive, outcome: .closed),
    Situation(kind: .rendezvous, before: [.close], operation: .receiveIfReady, outcome: .closed),
    Situation(kind: .rendezvous, before: [], operation: .receiveIfReady, outcome: .empty),
  ]

  @Test(arguments: situations)
  func `one operation on a channel of one coroutine`(situation: Situation) throws {
    try runBlocking {
      let channel = situation.kind.channel(room: 1)
      for step in situation.before {
        switch step {
        case .send(let value): channel.sendIfReady(value)
        case .receive: _ = channel.receiveIfReady()
        case .close: channel.close()
        }
      }
      // Twice where nothing changes.
      let outcome = try perform(situation.operation, on: channel)
      #expect(outcome == situation.outcome)
      switch outcome {
      case .empty, .full, .closed:
        try #expect(perform(situation.operation, on: channel) == situation.outcome)
      case .fine, .received: break
      }
    }
  }

  private func perform(
    _ operation: Situation.Operation,
    on channel: Channel<Int>
  ) throws -> Situation.Outcome {
    do {
      switch operation {
      case .send:
        try channel.send(7)
        return .fine
      case .receive: return .received(try channel.receive())
      case .sendIfReady:
        switch channel.sendIfReady(7) {
        case .sent: return .fine
        case .full(let value): return .full(value)
        case .closed: return .closed
        }
      case .receiveIfReady:
        switch channel.receiveIfReady() {
        case .received(let value): return .received(value)
        case .empty: return .empty
        case .closed: return .closed
        }
      }
    } catch ChannelError.closed {
      return .closed
    }
  }

  // MARK: - oneshot, several

  @Test(arguments: CrossbeamKind.mpsc)
  func `in all orders, one receives what another sends`(kind: CrossbeamKind) throws {
    let exploration = try explore {
      let channel = kind.channel()
      let receiver = launch { try channel.receive() }
      try channel.send(10)
      try CrossbeamFailure.unless(receiver.value() == 10, "another value")
    }
    #expect(exploration.isComplete)
  }

  @Test(arguments: CrossbeamKind.mpsc)
  func `in all orders, one finds closed what another closes`(kind: CrossbeamKind) throws {
    let exploration = try explore {
      let channel = kind.channel()
      let closer = launch { channel.close() }
      let receiver = launch {
        do { _ = try channel.receive() } catch ChannelError.closed { return true }
        return false
      }
      try CrossbeamFailure.unless(receiver.value(), "a value from nowhere")
      try closer.value()
    }
    #expect(exploration.isComplete)
  }

  // MARK: - recv_timeout

  @Test(arguments: CrossbeamKind.keeping, CrossbeamLimit.allCases)
  func `a limited receive finds a value, then none, then the next one`(
    kind: CrossbeamKind,
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel(room: 1)
      let millisecond = Duration.milliseconds(1)
      try channel.send(1)
      try #expect(limit.receive(from: channel, within: millisecond) == .received(1))
      #expect(time.now == .zero)
      try #expect(limit.receive(from: channel, within: millisecond) == .timedOut(nil))
      #expect(time.now == millisecond)
      try channel.send(2)
      try #expect(limit.receive(from: channel, within: millisecond) == .received(2))
      #expect(time.now == millisecond)
    }
  }

  @Test(arguments: CrossbeamLimit.allCases)
  func `after five senders have gone, a limited receive times out, and later finds a value`(
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>(capacity: .unbounded)
      let senders = (0..<5).map { _ in launch { try channel.send(1) } }
      for _ in 0..<5 { _ = try channel.receive() }
      try #expect(limit.receive(from: channel, within: .milliseconds(1)) == .timedOut(nil))
      #expect(time.now == .milliseconds(1))
      try channel.send(2)
      try #expect(limit.receive(from: channel, within: .milliseconds(1)) == .received(2))
      for sender in senders { try sender.value() }
    }
  }

  // MARK: - recv_a_lot, try_recv_states

  @Test(arguments: CrossbeamKind.keeping)
  func `ten thousand values are kept and received`(kind: CrossbeamKind) throws {
    try runBlocking {
      let channel = kind.channel(of: Void.self, room: 10_000)
      for _ in 0..<10_000 { try channel.send(()) }
      #expect(channel.count == 10_000)
      for _ in 0..<10_000 { try channel.receive() }
      #expect(channel.isEmpty)
    }
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `in many orders, receiveIfReady goes from empty to a value to empty to closed`(
    kind: CrossbeamKind
  ) throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let channel = kind.channel(room: 1)
      let (go, done) = (kind.channel(of: Void.self, room: 1), kind.channel(of: Void.self, room: 1))
      let other = launch {
        try go.receive()
        try channel.send(1)
        try done.send(())
        try go.receive()
        channel.close()
        try done.send(())
      }
      var outcomes = [channel.receiveIfReady()]
      for _ in 0..<2 {
        try go.send(())
        try done.receive()
        outcomes.append(channel.receiveIfReady())
        outcomes.append(channel.receiveIfReady())
      }
      try CrossbeamFailure.unless(
        outcomes == [.empty, .received(1), .empty, .closed, .closed],
        "\(outcomes)"
      )
      try other.value()
    }
  }

  // MARK: - destroy_upgraded_shared_port_when_sender_still_active, issue_15761

  @Test(arguments: CrossbeamKind.mpsc)
  func `in all orders, a receiver that waited may let the channel go while a sender still has it`(
    kind: CrossbeamKind
  ) throws {
    let exploration = try explore {
      let done = kind.channel()
      var sender: SendEnd<Int>?
      var receiver: ValueCoroutine<Void>?
      do {
        let channel = kind.channel()
        sender = channel.sendEnd
        receiver = launch { [channel] in
          _ = try channel.receive()
          channel.close()
          try done.send(1)
        }
      }
      try Coroutine.yield()
      try sender?.send(1)
      try CrossbeamFailure.unless(done.receive() == 1, "another value")
      try CrossbeamFailure.unless(sender?.sendIfReady(2) == .closed(2), "still open")
      sender = nil
      try receiver?.value()
    }
    #expect(exploration.isComplete)
  }

  @Test func `in all orders, one that never waits answers one that does`() throws {
    let exploration = try explore {
      let (there, back) = (Channel<Void>(capacity: 3), Channel<Void>(capacity: 3))
      launch {
        try there.receive()
        try CrossbeamFailure.unless(back.sendIfReady(()).isSent, "no room")
      }
      try CrossbeamFailure.unless(there.sendIfReady(()).isSent, "no room")
      try back.receive()
    }
    #expect(exploration.isComplete)
  }

  // MARK: - send1 … send4

  @Test func `in all orders, send to a rendezvous channel ends when the value was taken`() throws {
    let exploration = try explore {
      let channel = Channel<Int>()
      var isTaken = false
      let receiver = launch {
        _ = try channel.receive()
        isTaken = true
      }
      try channel.send(1)
      try receiver.value()
      try CrossbeamFailure.unless(isTaken, "not taken")
    }
    #expect(exploration.isComplete)
  }

  @Test(arguments: [0, 1])
  func `in all orders, a send that has to wait fails when another closes`(capacity: Int) throws {
    let exploration = try explore {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<capacity { try channel.send(value) }
      let closer = launch { channel.close() }
      do {
        try channel.send(1)
        throw CrossbeamFailure("sent")
      } catch ChannelError.closed {}
      try closer.value()
    }
    #expect(exploration.isComplete)
  }

  @Test func `in all orders, closing fails both senders that wait`() throws {
    let exploration = try explore {
      let (channel, done) = (Channel<Int>(), Channel<Int>(capacity: .unbounded))
      let senders = (1...2).map { number in
        launch {
          do {
            try channel.send(number)
          } catch ChannelError.closed {
            try done.send(number)
          }
        }
      }
      try Coroutine.yield()
      channel.close()
      let failed = try [done.receive(), done.receive()]
      try CrossbeamFailure.unless(failed.sorted() == [1, 2], "\(failed)")
      for sender in senders { try sender.value() }
    }
    #expect(exploration.isComplete)
  }
}
