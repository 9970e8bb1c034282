// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `choose.c`: one of several channels, in either direction, with a deadline.
@Suite(.timeLimit(.minutes(30))) struct DillChooseTests {
  @Test(arguments: [false, true])
  func `a choice of one receive meets a sender, whoever is first`(isSenderLate: Bool) throws {
    try explore {
      let channel = Channel<Int>()
      let sender = launch {
        if isSenderLate { try Coroutine.yield() }
        try channel.send(555)
      }
      if !isSenderLate { try Coroutine.yield() }
      try DillFailure.unless(select { Receive(from: channel) { $0 } } == 555, "another value")
      try sender.value()
    }
  }

  @Test(arguments: [false, true])
  func `a choice of one send meets a receiver, whoever is first`(isReceiverLate: Bool) throws {
    try explore {
      let channel = Channel<Int>()
      let receiver = launch {
        if isReceiverLate { try Coroutine.yield() }
        return try channel.receive()
      }
      if !isReceiverLate { try Coroutine.yield() }
      try select { Send(777, to: channel) }
      try DillFailure.unless(receiver.value() == 777, "another value")
    }
  }

  @Test func `of two channels the one with a sender is chosen, the second and then the first`()
    throws
  {
    try DillProgram.run { _ in
      let (one, other) = (Channel<Int>(), Channel<Int>())
      func choose() throws -> [Int] {
        try select {
          Receive(from: one) { [0, $0] }
          Receive(from: other) { [1, $0] }
        }
      }
      let first = launch { try other.send(555) }
      try #expect(choose() == [1, 555])
      let second = launch {
        try Coroutine.yield()
        try one.send(666)
      }
      try #expect(choose() == [0, 666])
      try first.value()
      try second.value()
    }
  }

  @Test func `with no time at all a choice does not wait`() throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      let byTime = try select {
        Receive(from: channel) { _ in "value" }
        After(.zero) { "time" }
      }
      let byDefault = try select {
        Receive(from: channel) { _ in "value" }
        Default { "default" }
      }
      #expect((byTime, byDefault) == ("time", "default"))
      #expect(program.now == 0)
    }
  }

  @Test func `a choice of nothing but a time waits for that`() throws {
    try DillProgram.run { program in
      try select { After(.zero) {} }
      #expect(program.now == 0)
      try select { After(.milliseconds(7)) {} }
      #expect(program.now == 7)
    }
  }

  @Test func `two senders that wait are chosen from in their order`() throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>()
      let senders = [888, 999].map { value in launch { try channel.send(value) } }
      try Coroutine.yield()
      for value in [888, 999] { try #expect(select { Receive(from: channel) { $0 } } == value) }
      for sender in senders { try sender.value() }
    }
  }

  @Test func `two receivers that wait are served by choices in their order`() throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>()
      let receivers = (0..<2).map { _ in launch { try channel.receive() } }
      try Coroutine.yield()
      for value in [333, 444] { try select { Send(value, to: channel) } }
      try #expect(receivers.map { try $0.value() } == [333, 444])
    }
  }

  @Test func `in all orders, a choice meets a choice`() throws {
    let exploration = try explore {
      let channel = Channel<Int>()
      let sender = launch { try select { Send(111, to: channel) } }
      try DillFailure.unless(select { Receive(from: channel) { $0 } } == 111, "another value")
      try sender.value()
    }
    #expect(exploration.isComplete)
  }

  /// One kilobyte.
  private struct Large: Equatable {
    struct Eight<Part: Equatable>: Equatable {
      var p0, p1, p2, p3, p4, p5, p6, p7: Part
      init(_ p: Part) { (p0, p1, p2, p3, p4, p5, p6, p7) = (p, p, p, p, p, p, p, p) }
    }
    var front: Eight<Eight<Int>>
    var back: Eight<Eight<Int>>
    init(_ number: Int) {
      front = .init(.init(number))
      back = .init(.init(-number))
    }
  }

  @Test(arguments: [false, true])
  func `a large value arrives whole through a choice`(isChoiceSending: Bool) throws {
    #expect(MemoryLayout<Large>.size == 1024)
    try DillProgram.run { _ in
      let channel = Channel<Large>()
      let value: Large
      if isChoiceSending {
        let receiver = launch { try channel.receive() }
        try select { Send(Large(5), to: channel) }
        value = try receiver.value()
      } else {
        let sender = launch { try channel.send(Large(5)) }
        value = try select { Receive(from: channel) { $0 } }
        try sender.value()
      }
      #expect(value == Large(5))
    }
  }

  @Test func `a channel that is done is chosen, and says so`() throws {
    try DillProgram.run { _ in
      let channel = Channel<Int>()
      channel.close()
      try #expect(DillEnding(of: { try select { Receive(from: channel) { _ in } } }) == .closed)
      try #expect(DillEnding(of: { try select { Send(1, to: channel) } }) == .closed)
      try #expect(select { Receive(from: channel, whenClosed: { true }) { _ in false } })
    }
  }

  @Test func `a deadline that comes first is chosen, at its time`() throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      let byClause = try select {
        Receive(from: channel) { _ in "value" }
        After(.milliseconds(50)) { "time" }
      }
      #expect(byClause == "time")
      #expect(program.now == 50)
      try #expect(
        DillEnding(of: {
          try withTimeout(.milliseconds(50)) { try select { Receive(from: channel) { _ in } } }
        }) == .timedOut
      )
      #expect(program.now == 100)
    }
  }

  @Test func `a deadline that comes later is not chosen`() throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      for isClause in [true, false] {
        let start = program.now
        let sender = launch {
          try program.msleep(50)
          try channel.send(4444)
        }
        let value =
          isClause
          ? try select {
            Receive(from: channel) { $0 }
            After(.milliseconds(1000)) { -1 }
          }
          : try withTimeout(.milliseconds(1000)) { try select { Receive(from: channel) { $0 } } }
        #expect(value == 4444)
        #expect(program.now == start + 50)
        try sender.value()
      }
    }
  }

  @Test func `of two channels that are ready the first in the text has no privilege`() throws {
    try DillProgram.run { _ in
      let channels = (0..<2).map { _ in Channel<Int>(capacity: 1) }
      var wins = [0, 0]
      for _ in 0..<1000 {
        for channel in channels { channel.sendIfReady(0) }
        try select {
          Receive(from: channels[0]) { _ in wins[0] += 1 }
          Receive(from: channels[1]) { _ in wins[1] += 1 }
        }
      }
      #expect(wins.allSatisfy { $0 > 350 }, "\(wins)")
    }
  }

  @Test func `the first channel is privileged if the other is chosen by Default`() throws {
    try DillProgram.run { _ in
      let channels = (0..<2).map { _ in Channel<Int>() }
      let senders = channels.enumerated().map { index, channel in
        launch { try channel.send(index) }
      }
      try Coroutine.yield()
      let first = try select {
        Receive(from: channels[1]) { $0 }
        Default { try channels[0].receive() }
      }
      #expect(first == 1)
      try #expect(channels[0].receive() == 0)
      for sender in senders { try sender.value() }
    }
  }

  @Test func `a channel may be named twice in a choice`() throws {
    try DillProgram.run { program in
      let channel = Channel<Int>()
      func choose() throws -> Int? {
        try select {
          Receive(from: channel) { $0 as Int? }
          Receive(from: channel) { $0 as Int? }
          After(.milliseconds(50)) { nil as Int? }
        }
      }
      try #expect(choose() == nil)
      #expect(program.now == 50)
      #expect(channel.sendIfReady(1) == .full(1))
      let sender = launch { for value in 1...2 { try channel.send(value) } }
      try #expect(choose() == 1)
      try #expect(choose() == 2)
      try sender.value()
      #expect(channel.sendIfReady(1) == .full(1))
    }
  }
}
