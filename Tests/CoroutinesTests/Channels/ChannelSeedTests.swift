// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// What the ancestors' documents say of channels, step by step, by the number of the behaviour.
@Suite struct ChannelSeedTests {
  @Test func `39, a rendezvous sender goes on after the receiver`() throws {
    let steps = Steps<Int>()
    try runBlocking {
      let channel = Channel<Int>()
      launch {
        steps.add(1)
        try channel.send(111)
        steps.add(2)
      }
      launch {
        steps.add(3)
        #expect(channel.receiveIfReady() == .received(111))
        steps.add(4)
      }
    }
    #expect(steps.entries == [1, 3, 4, 2])
  }

  @Test func `40, a sender with room does not park`() throws {
    let steps = Steps<Int>()
    try runBlocking {
      let channel = Channel<Int>(capacity: 2)
      launch {
        steps.add(1)
        try channel.send(111)
        steps.add(2)
      }
      launch {
        steps.add(3)
        #expect(channel.receiveIfReady() == .received(111))
        steps.add(4)
      }
    }
    #expect(steps.entries == [1, 2, 3, 4])
  }

  @Test func `41, a sender that meets a receiver runs on`() throws {
    let steps = Steps<Int>()
    try runBlocking {
      let channel = Channel<Int>()
      launch {
        steps.add(1)
        try #expect(channel.receive() == 111)
        steps.add(2)
      }
      launch {
        steps.add(3)
        try channel.send(111)
        steps.add(4)
      }
    }
    #expect(steps.entries == [1, 3, 4, 2])
  }

  @Test(arguments: [(1, ReceiveOutcome.received(111)), (0, .empty)])
  func `42 and 43, sending without waiting keeps the value if there is room`(
    capacity: Int,
    outcome: ReceiveOutcome<Int>
  ) throws {
    let steps = Steps<Int>()
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      launch {
        steps.add(1)
        channel.sendIfReady(111)
        steps.add(2)
      }
      launch {
        steps.add(3)
        #expect(channel.receiveIfReady() == outcome)
      }
    }
    #expect(steps.entries == [1, 2, 3])
  }

  @Test func `44, two receivers are served in turn and run after the sender`() throws {
    let steps = Steps<Int>()
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      launch {
        steps.add(1)
        try #expect(channel.receive() == 111)
        steps.add(2)
      }
      launch {
        steps.add(3)
        try #expect(channel.receive() == 222)
        steps.add(4)
      }
      launch {
        steps.add(5)
        try channel.send(111)
        steps.add(6)
        try channel.send(222)
        steps.add(7)
      }
    }
    #expect(steps.entries == [1, 3, 5, 6, 7, 2, 4])
  }

  @Test func `45, two thousand senders, then two thousand receivers, lose nothing`() throws {
    var (sum, received, sent) = (0, 0, 0)
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      for value in 0..<2_000 {
        launch {
          try channel.send(value)
          sent += 1
        }
      }
      for _ in 0..<2_000 {
        launch {
          sum += try channel.receive()
          received += 1
        }
      }
    }
    #expect((sum, received, sent) == (1_999_000, 2_000, 2_000))
  }

  @Test func `46, three values, then all the others`() throws {
    try runBlocking {
      let counted = Channel<Int>(capacity: 10)
      let all = Channel<Int>(capacity: 10)
      launch { for value in 0..<10 { counted.sendIfReady(value) } }
      launch { for value in 0..<10 { all.sendIfReady(value) } }
      try #expect(counted.receive(count: 3) == [0, 1, 2])
      try #expect(all.receiveAll() == Array(0..<10))
    }
  }

  @Test func `47, receiveAll parks until one value has come, receive(count:) until all have`()
    throws
  {
    try runBlocking {
      let channel = Channel<Int>()
      let all = launch { try channel.receiveAll() }
      try letOthersRun()
      #expect(all.state == .suspended)
      try channel.send(1)
      try #expect(all.value() == [1])
      let two = launch { try channel.receive(count: 2) }
      try letOthersRun()
      try channel.send(2)
      try letOthersRun()
      #expect(two.state == .suspended)
      try channel.send(3)
      try #expect(two.value() == [2, 3])
    }
  }

  @Test func `48, without waiting: to a receiver, else kept, else given back`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 1)
      let receiver = launch { try channel.receive() }
      try letOthersRun()
      #expect(channel.sendIfReady(1) == .sent)
      #expect(channel.isEmpty)
      #expect(channel.sendIfReady(2) == .sent)
      #expect(channel.sendIfReady(3) == .full(3))
      let sender = launch { try channel.send(4) }
      try #expect(receiver.value() == 1)
      try letOthersRun()
      #expect(channel.receiveIfReady() == .received(2))
      #expect(channel.receiveIfReady() == .received(4))
      #expect(channel.receiveIfReady() == .empty)
      try sender.value()
    }
  }

  @Test func `49 and 50, a function hands out a channel that a coroutine answers on`() throws {
    func answer(_ value: Int) -> Channel<Int> {
      let channel = Channel<Int>()
      launch { try channel.send(value) }
      return channel
    }
    try runBlocking {
      try #expect(answer(5).receive() == 5)
      let early = Channel<Int>()
      launch(on: SerialScheduler()) {
        while early.sendIfReady(6) != .sent { try Coroutine.yield() }
      }
      try #expect(early.receive() == 6)
    }
  }

  @Test func `51, a send outside a coroutine fails`() async throws {
    try await onThread {
      let error = #expect(throws: CoroutineError.outsideCoroutine) {
        try Channel<Int>(capacity: 1).send(1)
      }
      #expect(error?.description.contains("Channel.send(_:) parks") == true)
    }
  }

  @Test func `52, a coroutine that sends to itself needs room`() throws {
    try runBlocking {
      let alone = launch {
        let channel = Channel<Int>()
        try channel.send(1)
        return try channel.receive()
      }
      try letOthersRun()
      #expect(alone.state == .suspended)
      try alone.cancelAndJoin()
      for capacity in [1, .unbounded] as [ChannelCapacity] {
        let channel = Channel<Int>(capacity: capacity)
        try channel.send(1)
        try #expect(channel.receive() == 1)
      }
    }
  }

  @Test func `53, an error that is sent as a value comes out as a value`() throws {
    try runBlocking {
      let channel = Channel<any Error>(capacity: 1)
      try channel.send(Failure(53))
      try #expect(channel.receive() as? Failure == Failure(53))
    }
  }
}
