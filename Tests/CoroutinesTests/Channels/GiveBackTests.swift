// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 3: what a send did not deliver goes back to whoever sent it.
@Suite struct GiveBackTests {
  @Test(arguments: limitedCapacities)
  func `a value whose sender is cancelled while parked comes back (rule 3)`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      for value in 0..<capacity { try channel.send(value) }
      let steps = Steps<String>()
      let sender = launch {
        do {
          try channel.send(-1, onUndelivered: { steps.add("back: \($0)") })
        } catch {
          steps.add("thrown: \(error is CancellationError)")
        }
      }
      try letOthersRun()
      #expect(sender.state == .suspended)
      try sender.cancelAndJoin()
      #expect(steps.entries == ["back: -1", "thrown: true"])
      channel.close()
      #expect(Array(channel) == Array(0..<capacity))
    }
  }

  @Test(arguments: allCapacities)
  func `a value of cancelled code comes back (rule 3)`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let returned = Steps<Int>()
      let sender = launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) {
          try channel.send(1, onUndelivered: { returned.add($0) })
        }
      }
      try sender.value()
      #expect(returned.entries == [1])
      #expect(channel.isEmpty)
    }
  }

  @Test(arguments: allCapacities)
  func `a value sent to a closed channel comes back`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      channel.close()
      var returned: [Int] = []
      #expect(throws: ChannelError.closed) {
        try channel.send(1, onUndelivered: { returned.append($0) })
      }
      #expect(returned == [1])
    }
  }

  @Test(arguments: limitedCapacities)
  func `values of senders that closing wakes come back`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let returned = Steps<Int>()
      let senders = (0..<(capacity + 3)).map { value in
        launch { try channel.send(value, onUndelivered: { returned.add($0) }) }
      }
      try letOthersRun()
      channel.close()
      for sender in senders { try sender.join() }
      #expect(returned.entries == (0..<3).map { capacity + $0 })
      #expect(senders.filter { $0.error as? ChannelError == .closed }.count == 3)
      #expect(Array(channel) == Array(0..<capacity))
    }
  }

  @Test func `a value sent outside a coroutine comes back (rule 12)`() async throws {
    try await onThread {
      let channel = Channel<Int>(capacity: 1)
      var returned: [Int] = []
      #expect(throws: CoroutineError.outsideCoroutine) {
        try channel.send(1, onUndelivered: { returned.append($0) })
      }
      #expect(returned == [1])
      #expect(channel.isEmpty)
    }
  }

  @Test(arguments: allCapacities)
  func `a value that is delivered does not come back`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let returned = Steps<Int>()
      let sender = launch {
        for value in 0..<200 { try channel.send(value, onUndelivered: { returned.add($0) }) }
      }
      try #expect(channel.receive(count: 200) == Array(0..<200))
      try sender.value()
      #expect(returned.entries.isEmpty)
    }
  }

  @Test func `a value taken before cancellation arrives does not come back`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let returned = Steps<Int>()
      let sender = launch { try channel.send(1, onUndelivered: { returned.add($0) }) }
      try letOthersRun()
      try #expect(channel.receive() == 1)
      sender.cancel()
      try sender.value()
      #expect(returned.entries.isEmpty)
    }
  }

  @Test func `an object that comes back is released once, when its new owner lets go`() throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>()
      let pool = Steps<Counted>()
      let ignored = launch { try channel.send(Counted(1, census), onUndelivered: { _ in }) }
      let kept = launch { try channel.send(Counted(2, census), onUndelivered: { pool.add($0) }) }
      let taken = launch { try channel.send(Counted(3, census), onUndelivered: { pool.add($0) }) }
      try letOthersRun()
      #expect(census.alive == 3)
      try ignored.cancelAndJoin()
      #expect(census.alive == 2)
      try kept.cancelAndJoin()
      #expect(census.alive == 2)
      try #expect(channel.receive().number == 3)
      try taken.value()
      #expect(census.alive == 1)
      channel.close()
      #expect(throws: ChannelError.closed) {
        try channel.send(Counted(4, census), onUndelivered: { pool.add($0) })
      }
      #expect(pool.entries.map(\.number) == [2, 4])
      #expect(census.alive == 2)
      pool.entries = []
      #expect(census.alive == 0)
    }
  }

  @Test(arguments: [ChannelCapacity.droppingNewest(1), .droppingOldest(1)])
  func `a value that the channel drops counts as sent`(capacity: ChannelCapacity) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: capacity)
      let returned = Steps<Int>()
      for value in 0..<3 {
        try channel.send(Counted(value, census), onUndelivered: { returned.add($0.number) })
      }
      #expect(returned.entries.isEmpty)
      #expect(census.alive == 1)
      channel.close()
      for _ in channel {}
      #expect(census.alive == 0)
    }
  }

  @Test func `a closure that gets its value back may use the channel`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let sender = launch {
        try channel.send(
          1,
          onUndelivered: { _ in
            #expect(channel.isClosed)
            channel.close()
            #expect(channel.sendIfReady(2) == .closed(2))
          }
        )
      }
      try letOthersRun()
      channel.close()
      try sender.join()
      #expect(sender.error as? ChannelError == .closed)
    }
  }
}
