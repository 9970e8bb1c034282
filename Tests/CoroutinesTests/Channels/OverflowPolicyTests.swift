// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// What a send to a full channel does when it must not wait.
@Suite struct OverflowPolicyTests {
  @Test(arguments: [1, 2, 3, 64])
  func `a channel that drops its oldest keeps the last values`(count: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .droppingOldest(count))
      for value in 0..<200 { try channel.send(value) }
      try #expect(channel.receiveAll() == Array((200 - count)..<200))
    }
  }

  @Test(arguments: [1, 2, 3, 64])
  func `a channel that drops the newest keeps the first values`(count: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .droppingNewest(count))
      for value in 0..<200 { try channel.send(value) }
      try #expect(channel.receiveAll() == Array(0..<count))
    }
  }

  @Test func `a conflated channel keeps the last value only`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .conflated)
      for value in 0..<10 { try channel.send(value) }
      try #expect(channel.receive() == 9)
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test func `dropping goes on in turn with receiving`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .droppingOldest(3))
      var received: [Int] = []
      for value in 0..<20 {
        try channel.send(value)
        if value % 5 == 4 { received.append(try channel.receive()) }
      }
      #expect(received == [2, 7, 12, 17])
      try #expect(channel.receiveAll() == [18, 19])
    }
  }

  @Test func `sendIfReady on a full channel replaces the oldest, or gives the newest back`() throws
  {
    let oldest = Channel<Int>(capacity: .droppingOldest(1))
    #expect(oldest.sendIfReady(1) == .sent)
    #expect(oldest.sendIfReady(2) == .sent)
    #expect(oldest.receiveIfReady() == .received(2))
    let newest = Channel<Int>(capacity: .droppingNewest(1))
    #expect(newest.sendIfReady(1) == .sent)
    #expect(newest.sendIfReady(2) == .full(2))
    #expect(newest.receiveIfReady() == .received(1))
  }

  @Test(arguments: [ChannelCapacity.droppingOldest(2), .droppingNewest(2)])
  func `a waiting receiver gets the value before anything is dropped`(
    capacity: ChannelCapacity
  ) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let receiver = launch { try channel.receive() }
      try letOthersRun()
      try channel.send(1)
      #expect(channel.isEmpty)
      try #expect(receiver.value() == 1)
    }
  }

  @Test(arguments: [ChannelCapacity.droppingOldest(2), .droppingNewest(2), .conflated])
  func `what is dropped is released at once, and once`(capacity: ChannelCapacity) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: capacity)
      for value in 0..<10 { try channel.send(Counted(value, census)) }
      #expect(census.alive == channel.capacity)
      for value in 0..<10 { channel.sendIfReady(Counted(value, census)) }
      #expect(census.alive == channel.capacity)
    }
    #expect(census.alive == 0)
  }

  @Test func `async sends drop as the others do`() async throws {
    let census = Census()
    do {
      let oldest = Channel<Counted>(capacity: .droppingOldest(2))
      let newest = Channel<Counted>(capacity: .droppingNewest(2))
      for value in 0..<5 {
        try await oldest.send(Counted(value, census))
        try await newest.send(Counted(value, census))
      }
      #expect(census.alive == 4)
      #expect(oldest.receiveIfReady().value?.number == 3)
      #expect(newest.receiveIfReady().value?.number == 0)
    }
    #expect(census.alive == 0)
  }

  @Test func `a big limit costs memory only as it is used`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: .droppingOldest(1_000_000_000))
      for value in 0..<5_000 { try channel.send(value) }
      try #expect(channel.receiveAll() == Array(0..<5_000))
    }
  }
}
