// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `select`, `select_macro`, and the part of `mpsc` that selects: which clause wins, and when.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamSelectTests {
  private let second = Duration.milliseconds(1000)

  /// What wins when two channels can be received from, and no more than so much time may pass.
  private func receive(
    _ one: Channel<Int>,
    _ other: Channel<Int>,
    within limit: Duration? = nil
  ) throws -> String {
    if let limit {
      return try select {
        Receive(from: one, whenClosed: { "1 is closed" }) { "1 has \($0)" }
        Receive(from: other, whenClosed: { "2 is closed" }) { "2 has \($0)" }
        After(limit) { "time" }
      }
    }
    return try select {
      Receive(from: one, whenClosed: { "1 is closed" }) { "1 has \($0)" }
      Receive(from: other, whenClosed: { "2 is closed" }) { "2 has \($0)" }
    }
  }

  /// The same without waiting.
  private func receiveNow(_ one: Channel<Int>, _ other: Channel<Int>) throws -> String {
    try select {
      Receive(from: one, whenClosed: { "1 is closed" }) { "1 has \($0)" }
      Receive(from: other, whenClosed: { "2 is closed" }) { "2 has \($0)" }
      Default { "nothing" }
    }
  }

  private func unbounded() -> Channel<Int> { Channel(capacity: .unbounded) }

  // MARK: - smoke1, smoke2

  @Test func `of two channels the one that has a value wins, then the other`() throws {
    try runBlocking {
      let (one, other) = (unbounded(), unbounded())
      try one.send(1)
      try #expect(receive(one, other) == "1 has 1")
      try other.send(2)
      try #expect(receive(one, other) == "2 has 2")
    }
  }

  @Test(arguments: 0..<5)
  func `of five channels the one that has a value wins`(full: Int) throws {
    try runBlocking {
      let channels = (0..<5).map { _ in unbounded() }
      try channels[full].send(5)
      let winner = try select {
        Receive(from: channels[0]) { (0, $0) }
        Receive(from: channels[1]) { (1, $0) }
        Receive(from: channels[2]) { (2, $0) }
        Receive(from: channels[3]) { (3, $0) }
        Receive(from: channels[4]) { (4, $0) }
      }
      #expect(winner == (full, 5))
    }
  }

  // MARK: - disconnected, closed

  @Test func `a closed channel wins against one that is empty, now and each time`() throws {
    try CrossbeamTimeline.run { time in
      let (one, other) = (unbounded(), unbounded())
      launch {
        one.close()
        try time.pass(.milliseconds(500))
        try other.send(5)
      }
      try #expect(receive(one, other, within: second) == "1 is closed")
      #expect(time.now == .zero)
      try #expect(other.receive() == 5)
      #expect(time.now == .milliseconds(500))
      try #expect(receive(one, other, within: second) == "1 is closed")
      try #expect(receive(one, other) == "1 is closed")
      #expect(time.now == .milliseconds(500))
    }
  }

  @Test func `a channel that is closed meanwhile ends a select that waits`() throws {
    try CrossbeamTimeline.run { time in
      let channel = unbounded()
      launch {
        try time.pass(.milliseconds(500))
        channel.close()
      }
      try #expect(receive(channel, nobodysChannel(), within: second) == "1 is closed")
      #expect(time.now == .milliseconds(500))
    }
  }

  @Test func `without whenClosed a closed channel that wins makes the select throw`() throws {
    try runBlocking {
      let (open, closed) = (unbounded(), unbounded())
      closed.close()
      #expect(throws: ChannelError.closed) {
        try select {
          Receive(from: open) { $0 }
          Receive(from: closed) { $0 }
        }
      }
    }
  }

  // MARK: - default, default_when_disconnected, default_only

  @Test func `Default wins beside empty channels, and loses to a closing and to a value`() throws {
    try runBlocking {
      let (one, other) = (unbounded(), unbounded())
      try #expect(receiveNow(one, other) == "nothing")
      one.close()
      try #expect(receiveNow(one, other) == "1 is closed")
      try other.send(2)
      try #expect(receiveNow(nobodysChannel(), other) == "2 has 2")
      try #expect(receiveNow(nobodysChannel(), other) == "nothing")
    }
  }

  @Test func `Default alone wins at once, and so it does without a coroutine`() throws {
    #expect(try select { Default { 7 } } == 7)
    try CrossbeamTimeline.run { time in
      try #expect(select { Default { 7 } } == 7)
      #expect(time.now == .zero)
    }
  }

  @Test func `After alone wins at its time`() throws {
    try CrossbeamTimeline.run { time in
      try select { After(.milliseconds(500)) {} }
      #expect(time.now == .milliseconds(500))
    }
  }

  @Test(arguments: CrossbeamKind.allCases, [false, true])
  func `receiving from a closed channel is ready, before Default and before any time`(
    kind: CrossbeamKind,
    isTimed: Bool
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      channel.close()
      let idle = nobodysChannel()
      let winner = try isTimed ? receive(channel, idle, within: second) : receiveNow(channel, idle)
      #expect(winner == "1 is closed")
      #expect(time.now == .zero)
    }
  }

  @Test(arguments: CrossbeamKind.allCases, [false, true])
  func `sending to a closed channel is ready, before Default and before any time, and throws`(
    kind: CrossbeamKind,
    isTimed: Bool
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      channel.close()
      #expect(throws: ChannelError.closed) {
        if isTimed {
          try select {
            Send(0, to: channel)
            After(.milliseconds(1000)) {}
          }
        } else {
          try select {
            Send(0, to: channel)
            Default {}
          }
        }
      }
      #expect(time.now == .zero)
    }
  }

  // MARK: - timeout

  @Test func `a time that runs out wins, and the value that comes later is still received`() throws
  {
    try CrossbeamTimeline.run { time in
      let (one, other) = (unbounded(), unbounded())
      launch {
        try time.pass(.milliseconds(1500))
        try other.send(2)
      }
      try #expect(receive(one, other, within: second) == "time")
      #expect(time.now == .milliseconds(1000))
      try #expect(receive(one, other, within: second) == "2 has 2")
      #expect(time.now == .milliseconds(1500))
    }
  }

  @Test func `what is closed while a time alone is waited for is closed afterwards`() throws {
    try CrossbeamTimeline.run { time in
      let channel = unbounded()
      launch {
        try time.pass(.milliseconds(500))
        channel.close()
      }
      try select { After(.milliseconds(1000)) {} }
      #expect(time.now == .milliseconds(1000))
      try #expect(receiveNow(channel, nobodysChannel()) == "1 is closed")
    }
  }

  // MARK: - unblocks, both_ready

  @Test func `a select that waits to receive goes on when a sender comes`() throws {
    try CrossbeamTimeline.run { time in
      let (one, other) = (Channel<Int>(), Channel<Int>())
      launch {
        try time.pass(.milliseconds(500))
        try other.send(2)
      }
      try #expect(receive(one, other, within: second) == "2 has 2")
      #expect(time.now == .milliseconds(500))
    }
  }

  @Test func `a select that waits to send goes on when a receiver comes`() throws {
    try CrossbeamTimeline.run { time in
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let receiver = launch {
        try time.pass(.milliseconds(500))
        return try one.receive()
      }
      let winner = try select {
        Send(1, to: one) { "sent 1" }
        Send(2, to: other) { "sent 2" }
        After(second) { "time" }
      }
      #expect(winner == "sent 1")
      #expect(time.now == .milliseconds(500))
      try #expect(receiver.value() == 1)
    }
  }

  @Test func `in many orders, a select wakes for a value, and later for the closing`() throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (one, other, back) = (unbounded(), unbounded(), unbounded())
      launch {
        try one.send(1)
        _ = try back.receive()
        one.close()
      }
      func next() throws -> String { try receive(one, other) }
      try CrossbeamFailure.unless(next() == "1 has 1", "no value")
      try back.send(1)
      try CrossbeamFailure.unless(next() == "1 is closed", "no closing")
    }
  }

  @Test func `in many orders, a select that can do both does each once`() throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (one, other) = (Channel<Int>(), Channel<Int>())
      let partner = launch {
        try one.send(1)
        return try other.receive()
      }
      var done: [String] = []
      for _ in 0..<2 {
        try select {
          Receive(from: one) { done.append("received \($0)") }
          Send(2, to: other) { done.append("sent") }
        }
      }
      try CrossbeamFailure.unless(done == ["received 1", "sent"], "\(done)")
      try CrossbeamFailure.unless(partner.value() == 2, "another value")
    }
  }

  @Test func `in many orders, two values on two channels are received by two selects`() throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (one, other) = (unbounded(), unbounded())
      launch {
        try one.send(1)
        try Coroutine.yield()
        try other.send(2)
      }
      var winners = [try receive(one, other), try receive(one, other)]
      winners.sort()
      try CrossbeamFailure.unless(winners == ["1 has 1", "2 has 2"], "\(winners)")
      try CrossbeamFailure.unless(
        one.receiveIfReady() == .empty && other.receiveIfReady() == .empty,
        "something is left"
      )
    }
  }

  // MARK: - loop_try

  @Test(arguments: 1...20)
  func `selects that try again and again meet one that waits`(seed: UInt64) throws {
    try CrossbeamTimeline.run(order: .random(seed: seed)) { time in
      let (one, other, end) = (Channel<Int>(), Channel<Int>(), Channel<Int>())
      let sending = launch {
        while true {
          let isDone = try select {
            Send(1, to: one) { true }
            Receive(from: end, whenClosed: { true }) { _ in true }
            Default { false }
          }
          if isDone { return }
          try time.pass(.milliseconds(7))
        }
      }
      let receiving = launch { () -> Int? in
        while true {
          switch other.receiveIfReady() {
          case .received(let value): return value
          default: break
          }
          let isDone = try select {
            Receive(from: end, whenClosed: { true }) { _ in true }
            Default { false }
          }
          if isDone { return nil }
          try time.pass(.milliseconds(7))
        }
      }
      try time.pass(.milliseconds(500))
      let winner = try select {
        Receive(from: one) { "received \($0)" }
        Send(2, to: other) { "sent" }
        After(.milliseconds(500)) { "time" }
      }
      end.close()
      try sending.value()
      try #expect(receiving.value() == (winner == "sent" ? 2 : nil))
      #expect(winner == "sent" || winner == "received 1")
    }
  }

  // MARK: - cloning

  @Test func `in many orders, taking another handle of a channel wakes nobody`() throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (one, other, go) = (unbounded(), unbounded(), unbounded())
      let sender = launch {
        _ = try go.receive()
        var handle: SendEnd<Int>? = one.sendEnd
        try CrossbeamFailure.unless(handle?.count == 0, "something came")
        handle = nil
        try CrossbeamFailure.unless(go.receiveIfReady() == .empty, "the select has gone on")
        try one.send(1)
        _ = try go.receive()
      }
      try go.send(1)
      try CrossbeamFailure.unless(receive(one, other) == "1 has 1", "another winner")
      try go.send(2)
      try sender.value()
    }
  }

  @Test func `in many orders, a select that waits is not ended by a handle that goes`() throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (one, other, done) = (unbounded(), unbounded(), unbounded())
      launch {
        let winner = try receive(one, other)
        try done.send(winner == "2 has 2" ? 1 : 0)
      }
      try Coroutine.yield()
      var handle: SendEnd<Int>? = one.sendEnd
      try CrossbeamFailure.unless(handle?.count == 0, "something came")
      handle = nil
      try other.send(2)
      try CrossbeamFailure.unless(done.receive() == 1, "another winner")
    }
  }

  // MARK: - preflight, data_waiting, sync

  @Test(arguments: [1, 2])
  func `a select of one channel takes one value of those that are there`(count: Int) throws {
    try runBlocking {
      let channel = unbounded()
      for value in 0..<count { try channel.send(value) }
      try #expect(select { Receive(from: channel) { $0 } } == 0)
      #expect(channel.count == count - 1)
    }
  }

  @Test func `a select takes what a closed channel keeps before it finds it closed`() throws {
    try runBlocking {
      let channel = unbounded()
      try channel.send(1)
      channel.close()
      try #expect(select { Receive(from: channel) { $0 } } == 1)
      #expect(channel.receiveIfReady() == .closed)
    }
  }

  @Test(arguments: [false, true])
  func `a select of one channel that is closed and empty says so`(hadValue: Bool) throws {
    try runBlocking {
      let channel = unbounded()
      if hadValue { try channel.send(1) }
      channel.close()
      if hadValue { _ = try channel.receive() }
      try #expect(select { Receive(from: channel, whenClosed: { true }) { _ in false } })
    }
  }

  @Test(arguments: CrossbeamKind.allCases, [0, 1, 2])
  func `in many orders, a select of one channel waits for the next value`(
    kind: CrossbeamKind,
    before: Int
  ) throws {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (channel, done) = (kind.channel(), Channel<Int>())
      // The channel has carried some values already.
      for value in 0..<before {
        let sender = launch { try channel.send(value) }
        _ = try channel.receive()
        try sender.value()
      }
      launch {
        let value = try select { Receive(from: channel) { $0 } }
        try done.send(value)
      }
      try Coroutine.yield()
      try channel.send(7)
      try CrossbeamFailure.unless(done.receive() == 7, "another value")
    }
  }

  @Test func `a select takes the value that a bounded channel keeps`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      try channel.send(1)
      try #expect(select { Receive(from: channel) { $0 } } == 1)
    }
  }

  @Test
  func `in many orders, channels of two kinds are received from, one by select, one after it`()
    throws
  {
    try explore(.exhaustive(delays: 2), runs: 300) {
      let (one, other) = (Channel<Int>(), unbounded())
      launch { try one.send(1) }
      launch { try other.send(2) }
      try select {
        Receive(from: one) {
          try CrossbeamFailure.unless($0 == 1, "another value")
          try CrossbeamFailure.unless(other.receive() == 2, "another value")
        }
        Receive(from: other) {
          try CrossbeamFailure.unless($0 == 2, "another value")
          try CrossbeamFailure.unless(one.receive() == 1, "another value")
        }
      }
    }
  }

  // MARK: - duplicate_operations, nesting, send_recv_same_channel

  @Test func `each of four clauses for one channel wins sooner or later`() throws {
    try runBlocking {
      let channel = unbounded()
      var hits = [0, 0, 0, 0]
      for _ in 0..<1000 {
        try select {
          Receive(from: channel) { _ in hits[0] += 1 }
          Receive(from: channel) { _ in hits[1] += 1 }
          Send(0, to: channel) { hits[2] += 1 }
          Send(0, to: channel) { hits[3] += 1 }
        }
      }
      #expect(hits.allSatisfy { $0 > 0 }, "\(hits)")
      #expect(hits[2] + hits[3] - hits[0] - hits[1] == channel.count)
    }
  }

  @Test func `a select in the action of a select in the action of a select`() throws {
    try runBlocking {
      let channel = unbounded()
      let text = try select {
        Send(0, to: channel) {
          try select {
            Receive(from: channel) { first in
              try select {
                Send(first + 1, to: channel) {
                  try select { Receive(from: channel) { second in "\(first) and \(second)" } }
                }
              }
            }
          }
        }
      }
      #expect(text == "0 and 1")
    }
  }

  @Test func `in a nest of selects over a closed channel the innermost Default is reached`() throws
  {
    try runBlocking {
      let closed = unbounded()
      closed.close()
      func clause(_ inner: @escaping () throws -> Int) throws -> Int {
        try select {
          Receive(from: closed, whenClosed: inner) { _ in -1 }
          Receive(from: closed, whenClosed: inner) { _ in -1 }
        }
      }
      try #expect(clause { try clause { try clause { try select { Default { 4 } } } } } == 4)
    }
  }

  @Test func `send and receive of one rendezvous channel do not meet in one select`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let winner = try select {
        Send(0, to: channel) { "sent" }
        Receive(from: channel) { _ in "received" }
        After(.milliseconds(500)) { "time" }
      }
      #expect(winner == "time")
      #expect(time.now == .milliseconds(500))
    }
  }

  @Test func `of send and receive of one empty unbounded channel the send wins`() throws {
    try CrossbeamTimeline.run { time in
      let channel = unbounded()
      let winner = try select {
        Send(0, to: channel) { "sent" }
        Receive(from: channel) { _ in "received" }
        After(.milliseconds(500)) { "time" }
      }
      #expect(winner == "sent")
      #expect(time.now == .zero)
    }
  }

  // MARK: - panic_sender, panic_receiver, recv_in_send

  private struct Broken: Error, Equatable { let number: Int }

  @Test func `what throws while a clause is made ends the select before it does anything`() throws {
    try runBlocking {
      func channel() throws -> Channel<Int> { throw Broken(number: 1) }
      func value() throws -> Int { throw Broken(number: 2) }
      let full = unbounded()
      try full.send(1)
      #expect(throws: Broken(number: 2)) {
        try select {
          Receive(from: full) { _ in }
          Send(try value(), to: try channel())
        }
      }
      #expect(throws: Broken(number: 1)) {
        try select {
          Receive(from: full) { _ in }
          Receive(from: try channel()) { _ in }
        }
      }
      #expect(full.count == 1)
    }
  }

  @Test func `what an action throws comes out of the select, and its clause has won all the same`()
    throws
  {
    try runBlocking {
      let channel = unbounded()
      #expect(throws: Broken(number: 3)) {
        try select { Send(1, to: channel) { throw Broken(number: 3) } }
      }
      #expect(channel.count == 1)
      #expect(throws: Broken(number: 4)) {
        try select { Receive(from: channel) { _ in throw Broken(number: 4) } }
      }
      #expect(channel.count == 0)
    }
  }

  // MARK: - unfairness

  @Test(arguments: [false, true])
  func `a preference is a select with Default in front of another`(isTimed: Bool) throws {
    try runBlocking {
      let channels = (0..<3).map { _ in unbounded() }
      for _ in 0..<100 { for channel in channels[..<2] { try channel.send(0) } }
      try channels[2].send(0)
      func preferring(_ rank: Int) throws -> Int {
        if rank < 2 {
          return try select {
            Receive(from: channels[rank]) { _ in rank }
            Default { try preferring(rank + 1) }
          }
        }
        return isTimed
          ? try select {
            Receive(from: channels[2]) { _ in 2 }
            After(.milliseconds(1000)) { -1 }
          } : try select { Receive(from: channels[2]) { _ in 2 } }
      }
      var hits = [0, 0, 0]
      for _ in 0..<100 { hits[try preferring(0)] += 1 }
      #expect(hits == [100, 0, 0])
      for _ in 0..<100 { hits[try preferring(0)] += 1 }
      #expect(hits == [100, 100, 0])
      hits[try preferring(0)] += 1
      #expect(hits == [100, 100, 1])
    }
  }

  // MARK: - issue_1096, references, deref, move_handles, handles_on_heap

  @Test(arguments: CrossbeamKind.allCases, [false, true])
  func `a clause takes a channel or one of its ends`(
    kind: CrossbeamKind,
    isSending: Bool
  ) throws {
    try runBlocking {
      for isEnd in [false, true] {
        let channel = kind.channel()
        if isSending {
          let receiver = launch { try channel.receive() }
          try Coroutine.yield()
          if isEnd {
            try select { Send(124, to: channel.sendEnd) {} }
          } else {
            try select { Send(124, to: channel) }
          }
          try #expect(receiver.value() == 124)
        } else {
          launch { try channel.send(123) }
          let value =
            isEnd
            ? try select { Receive(from: channel.receiveEnd) { $0 } }
            : try select { Receive(from: channel) { $0 } }
          #expect(value == 123)
        }
      }
    }
  }

  @Test func `a channel may come out of an optional, a call, a property or a box`() throws {
    final class Box {
      let channel: Channel<Int>
      init(_ channel: Channel<Int>) { self.channel = channel }
    }
    try runBlocking {
      let channel = unbounded()
      let (box, optional) = (Box(channel), channel as Channel<Int>?)
      func get() -> Channel<Int> { channel }
      try select { Send(1, to: box.channel) }
      try select { Send(2, to: get()) }
      try select { Send(3, to: optional ?? nobodysChannel()) }
      try #expect(select { Receive(from: get()) { $0 } } == 1)
      try #expect(select { Receive(from: box.channel) { $0 } } == 2)
      try #expect(select { Receive(from: optional ?? nobodysChannel()) { $0 } } == 3)
    }
  }

  // MARK: - case_blocks, infer_types, default_syntax, same_variable_name, evaluate, result_types

  @Test func `a select has the type of its actions, which may be blocks that never return`() throws
  {
    try runBlocking {
      let channel = Channel<Void>(capacity: .unbounded)
      let number = try select {
        Receive(from: channel) { _ in 3.0 }
        Receive(from: channel) { _ -> Double in
          switch 7 + 3 {
          default: fatalError("an empty channel has no value")
          }
        }
        Default { 7.0 }
      }
      #expect(number == 7)
      // The element's type follows from the use.
      try select { Send((), to: channel) }
      try channel.receive()
    }
  }

  @Test func `a select's value is that of the action that was run`() throws {
    try runBlocking {
      let channel = unbounded()
      func value(isSending: Bool) throws -> String {
        isSending
          ? try select {
            Receive(from: channel) { "received \($0)" }
            Send(0, to: channel) { "sent" }
            Default { "nothing" }
          }
          : try select {
            Receive(from: channel) { "received \($0)" }
            Default { "nothing" }
          }
      }
      try #expect(value(isSending: true) == "sent")
      try #expect(value(isSending: false) == "received 0")
      try #expect(value(isSending: false) == "nothing")
    }
  }

  @Test func `the value may have the name of its channel, and Default may stand anywhere`() throws {
    try runBlocking {
      let r = unbounded()
      try r.send(5)
      let received = try select {
        Default { -1 }
        Receive(from: r) { r in r }
      }
      #expect(received == 5)
      let other = try select {
        Default { -1 }
        Send(0, to: nobodysChannel()) { -2 }
      }
      #expect(other == -1)
    }
  }

  // MARK: - once_blocks, once_receiver, once_sender

  @Test(arguments: 0..<5)
  func `exactly one action is run, once`(program: Int) throws {
    try runBlocking {
      let channel = unbounded()
      var runs = [0, 0]
      func note(_ index: Int) { runs[index] += 1 }
      switch program {
      case 0: try select { Send(0, to: channel) { note(0) } }
      case 1:
        try channel.send(0)
        try select { Receive(from: channel) { _ in note(0) } }
      case 2:
        try select {
          Send(0, to: channel) { note(0) }
          Default { note(1) }
        }
      case 3:
        try channel.send(0)
        try select {
          Receive(from: channel) { _ in note(0) }
          Default { note(1) }
        }
      default:
        try select {
          Receive(from: channel) { _ in note(1) }
          Send(0, to: channel) { note(0) }
        }
      }
      #expect(runs == [1, 0])
    }
  }

  @Test(arguments: [false, true])
  func `the channel of a clause is asked for once`(isSending: Bool) throws {
    try runBlocking {
      let channel = unbounded()
      try channel.send(1)
      var calls = 0
      func get() -> Channel<Int> {
        calls += 1
        return channel
      }
      if isSending {
        try select { Send(5, to: get()) }
      } else {
        try select { Receive(from: get()) { _ in } }
      }
      #expect(calls == 1)
    }
  }

  // MARK: - try_recv … disconnect_wakes_receiver, as selects

  @Test func `a select with Default finds nothing, later a value, later the closing`() throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      launch {
        try time.pass(second)
        try select { Send(7, to: channel) }
        channel.close()
      }
      try #expect(receiveNow(channel, nobodysChannel()) == "nothing")
      try time.pass(.milliseconds(1500))
      try #expect(receiveNow(channel, nobodysChannel()) == "1 has 7")
      try time.pass(.milliseconds(500))
      try #expect(receiveNow(channel, nobodysChannel()) == "1 is closed")
    }
  }

  @Test func `selects of one clause on both sides of a rendezvous channel wait for each other`()
    throws
  {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let sender = launch {
        try time.pass(.milliseconds(1500))
        var times: [Duration] = []
        for value in 7...9 {
          try select { Send(value, to: channel) }
          times.append(time.now)
        }
        channel.close()
        return times
      }
      var times: [Duration] = []
      for value in 7...9 {
        try #expect(select { Receive(from: channel) { $0 } } == value)
        times.append(time.now)
        try time.pass(second)
      }
      try #expect(select { Receive(from: channel, whenClosed: { true }) { _ in false } })
      #expect(times == [1500, 2500, 3500].map { .milliseconds($0) })
      try #expect(sender.value() == times)
    }
  }

  @Test
  func `a send in a select with Default needs a receiver that waits, and then finds it closed`()
    throws
  {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      let receiver = launch {
        try time.pass(second)
        defer { channel.close() }
        return try select { Receive(from: channel) { $0 } }
      }
      func send(_ value: Int) throws -> Bool {
        try select {
          Send(value, to: channel) { true }
          Default { false }
        }
      }
      try #expect(!send(7))
      try time.pass(.milliseconds(1500))
      try #expect(send(8))
      try time.pass(.milliseconds(500))
      #expect(throws: ChannelError.closed) { try send(8) }
      try #expect(receiver.value() == 8)
    }
  }

  @Test(arguments: [false, true])
  func `closing wakes a select that waits on a rendezvous channel`(isSending: Bool) throws {
    try CrossbeamTimeline.run { time in
      let channel = Channel<Int>()
      launch {
        try time.pass(second)
        channel.close()
      }
      #expect(throws: ChannelError.closed) {
        if isSending {
          try select { Send(1, to: channel) }
        } else {
          try select { Receive(from: channel) { _ in } }
        }
      }
      #expect(time.now == second)
    }
  }
}
