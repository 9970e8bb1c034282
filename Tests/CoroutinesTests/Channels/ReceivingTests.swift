// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct ReceivingTests {
  @Test(arguments: allCapacities)
  func `a receive on an empty channel parks until a value is sent`(
    capacity: ChannelCapacity
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let receiver = launch { try channel.receive() }
      try letOthersRun()
      #expect(receiver.state == .suspended)
      #expect(channel.sendIfReady(7) == .sent)
      #expect(receiver.state == .ready)
      try #expect(receiver.value() == 7)
    }
  }

  @Test(arguments: limitedCapacities)
  func `receiveAll takes what is kept and what waiting senders have`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<10 { launch { try channel.send(value) } }
      try letOthersRun()
      try #expect(channel.receiveAll() == Array(0..<10))
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test func `receiveAll on an empty channel parks until there is one value`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 4)
      let receiver = launch { try channel.receiveAll() }
      try letOthersRun()
      #expect(receiver.state == .suspended)
      try channel.send(1)
      try #expect(receiver.value() == [1])
    }
  }

  @Test func `receiveAll on a closed and empty channel throws`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      channel.close()
      #expect(throws: ChannelError.closed) { try channel.receiveAll() }
    }
  }

  @Test(arguments: allCapacities)
  func `receive(count:) parks until so many values have come`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let receiver = launch { try channel.receive(count: 3) }
      for value in 0..<3 {
        try letOthersRun()
        #expect(receiver.state == .suspended)
        try channel.send(value)
      }
      try #expect(receiver.value() == [0, 1, 2])
    }
  }

  @Test func `receive(count: 0) returns at once`() throws {
    try runBlocking {
      let values = try Channel<Int>().receive(count: 0)
      #expect(values == [])
    }
  }

  @Test func `receive(count:) on a channel that closes midway hands out what had come`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 2)
      try channel.send(1)
      try channel.send(2)
      channel.close()
      let error = #expect(throws: PartialReceiveError<Int>.self) { try channel.receive(count: 3) }
      #expect(error?.received == [1, 2])
      #expect(error?.reason as? ChannelError == .closed)
      #expect(error?.description.contains("Only 2 of the values") == true)
      #expect(throws: ChannelError.closed) { try channel.receive(count: 3) }
    }
  }

  @Test func `receive(count:) that is cancelled midway loses no value (rule 3)`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 2)
      let receiver = launch { try channel.receive(count: 3) }
      try letOthersRun()
      try channel.send(1)
      try channel.send(2)
      try letOthersRun()
      receiver.cancel()
      let error = #expect(throws: PartialReceiveError<Int>.self) { try receiver.value() }
      #expect(error?.received == [1, 2])
      #expect(error?.reason is CancellationError)
      try channel.send(3)
      try #expect(channel.receive() == 3)
    }
  }

  @Test func `several loops over one channel share its values`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 3)
      let loops = (0..<3).map { _ in
        launch {
          var values: [Int] = []
          for value in channel {
            values.append(value)
            try Coroutine.yield()
          }
          return values
        }
      }
      for value in 0..<300 { try channel.send(value) }
      channel.close()
      let parts = try loops.map { try $0.value() }
      #expect(parts.joined().sorted() == Array(0..<300))
      for part in parts { #expect(part == part.sorted()) }
    }
  }

  @Test func `a loop ends when its coroutine is cancelled, and the next park point throws`() throws
  {
    try runBlocking {
      let channel = Channel<Int>()
      let steps = Steps<String>()
      let loop = launch {
        for _ in channel { steps.add("value") }
        steps.add("loop over")
        try Coroutine.yield()
        steps.add("not reached")
      }
      try letOthersRun()
      try channel.send(1)
      try letOthersRun()
      try loop.cancelAndJoin()
      #expect(steps.entries == ["value", "loop over"])
      #expect(loop.error is CancellationError)
    }
  }

  @Test func `nil is a value like any other`() throws {
    try runBlocking {
      let channel = Channel<Int?>(capacity: 4)
      for value in [1, nil, 3] { try channel.send(value) }
      channel.close()
      try #expect(channel.receiveAll() == [1, nil, 3])
    }
  }

  @Test func `values without size are counted`() throws {
    try runBlocking {
      let channel = Channel<Void>(capacity: 3)
      for _ in 0..<3 { try channel.send(()) }
      #expect(channel.count == 3)
      let sender = launch { try channel.send(()) }
      try letOthersRun()
      #expect(sender.state == .suspended)
      try #expect(channel.receiveAll().count == 4)
    }
  }
}
