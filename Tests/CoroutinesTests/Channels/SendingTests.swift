// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct SendingTests {
  @Test(arguments: limitedCapacities)
  func `a send on a full channel parks until a value is received`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<capacity { try channel.send(value) }
      let sender = launch { try channel.send(capacity) }
      try letOthersRun()
      #expect(sender.state == .suspended)
      try #expect(channel.receive() == 0)
      #expect(sender.state == .ready)
      try sender.join()
      #expect(channel.count == capacity)
    }
  }

  @Test func `a send on an unbounded channel never parks`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      let sender = launch { for value in 0..<10_000 { try channel.send(value) } }
      try Coroutine.yield()
      #expect(sender.isFinished)
      #expect(channel.count == 10_000)
      try #expect(channel.receive(count: 10_000) == Array(0..<10_000))
    }
  }

  @Test(arguments: allCapacities)
  func `a send to a waiting receiver hands the value over and runs on`(
    capacity: ChannelCapacity
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let steps = Steps<String>()
      let receiver = launch { steps.add("received \(try channel.receive())") }
      try letOthersRun()
      #expect(receiver.state == .suspended)
      try channel.send(1)
      steps.add("sent")
      #expect(channel.isEmpty)
      try receiver.join()
      #expect(steps.entries == ["sent", "received 1"])
    }
  }

  @Test(arguments: limitedCapacities)
  func `parked senders are served first come first served (rule 4)`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let finished = Steps<Int>()
      for value in 0..<100 {
        launch {
          try channel.send(value)
          finished.add(value)
        }
      }
      try letOthersRun()
      #expect(finished.entries == Array(0..<capacity))
      try #expect(channel.receive(count: 100) == Array(0..<100))
      try letOthersRun()
      #expect(finished.entries == Array(0..<100))
    }
  }

  @Test(arguments: limitedCapacities)
  func `parked receivers are served first come first served (rule 4)`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let received = Steps<[Int]>()
      for index in 0..<100 { launch { received.add([index, try channel.receive()]) } }
      try letOthersRun()
      for value in 0..<100 { try channel.send(value) }
      try letOthersRun()
      #expect(received.entries == (0..<100).map { [$0, $0] })
    }
  }

  @Test(arguments: [1, 2, 3, 64])
  func `a receive from a full channel moves the oldest sender's value up`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<capacity { try channel.send(value) }
      let sender = launch { try channel.send(capacity) }
      try letOthersRun()
      try #expect(channel.receive() == 0)
      #expect(channel.count == capacity)
      #expect(sender.state == .ready)
      try sender.join()
    }
  }

  @Test(arguments: allCapacities)
  func `a producer and a consumer exchange all values in order`(
    capacity: ChannelCapacity
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      launch {
        for value in 0..<2_000 { try channel.send(value) }
        channel.close()
      }
      #expect(Array(channel) == Array(0..<2_000))
    }
  }

  @Test func `the ends of a channel send and receive as the channel does`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 2)
      let (sending, receiving) = (channel.sendEnd, channel.receiveEnd)
      try sending.send(1)
      #expect(sending.sendIfReady(2) == .sent)
      #expect(sending.sendIfReady(3) == .full(3))
      try #expect(receiving.receive() == 1)
      #expect(receiving.receiveIfReady() == .received(2))
      #expect(receiving.receiveIfReady() == .empty)
      try sending.send(4)
      sending.close()
      #expect(Array(receiving) == [4])
      #expect(receiving.receiveIfReady() == .closed)
      #expect(sending.sendIfReady(5) == .closed(5))
    }
  }

  @Test func `the ends of a channel tell and receive as much as the channel does`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 4)
      let (sending, receiving) = (channel.sendEnd, channel.receiveEnd)
      #expect(receiving.isEmpty)
      for value in 0..<4 { try sending.send(value) }
      #expect(sending.count == 4)
      #expect(receiving.count == 4)
      try #expect(receiving.receive(count: 2) == [0, 1])
      try #expect(receiving.receiveAll() == [2, 3])
      #expect(receiving.isEmpty)
      #expect(!sending.isClosed && !receiving.isClosed)
      sending.close()
      #expect(sending.isClosed && receiving.isClosed)
      var returned: [Int] = []
      #expect(throws: ChannelError.closed) {
        try sending.send(5, onUndelivered: { returned.append($0) })
      }
      #expect(returned == [5])
    }
  }
}
