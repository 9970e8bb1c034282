// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 3: a cancelled wait leaves the channel as if it had never begun.
@Suite struct ChannelCancellationTests {
  @Test(arguments: limitedCapacities)
  func `a cancelled send takes its value back (rule 3)`(capacity: Int) throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>(capacity: capacity)
      for value in 0..<capacity { try channel.send(Counted(value, census)) }
      let sender = launch { try channel.send(Counted(-1, census)) }
      try letOthersRun()
      #expect(census.alive == capacity + 1)
      try sender.cancelAndJoin()
      #expect(sender.error is CancellationError)
      #expect(census.alive == capacity)
      channel.close()
      #expect(channel.map(\.number) == Array(0..<capacity))
    }
    #expect(census.alive == 0)
  }

  @Test(arguments: allCapacities)
  func `a cancelled receive swallows no value (rule 3)`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let receivers = (0..<3).map { _ in launch { try channel.receive() } }
      try letOthersRun()
      try receivers[1].cancelAndJoin()
      #expect(receivers[1].error is CancellationError)
      try channel.send(1)
      try channel.send(2)
      try #expect(receivers[0].value() == 1)
      try #expect(receivers[2].value() == 2)
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4])
  func `cancelling any one sender keeps the order of the others (rule 4)`(victim: Int) throws {
    try runBlocking {
      let channel = Channel<Int>()
      let senders = (0..<5).map { value in launch { try channel.send(value) } }
      try letOthersRun()
      try senders[victim].cancelAndJoin()
      try #expect(channel.receiveAll() == (0..<5).filter { $0 != victim })
    }
  }

  @Test func `a value handed over before cancellation arrives is received`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let receiver = launch { try channel.receive() }
      try letOthersRun()
      try channel.send(1)
      receiver.cancel()
      try #expect(receiver.value() == 1)
    }
  }

  @Test func `a value taken before cancellation arrives is sent`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let sender = launch { try channel.send(1) }
      try letOthersRun()
      try #expect(channel.receive() == 1)
      sender.cancel()
      try sender.join()
      #expect(sender.error == nil)
    }
  }

  @Test(arguments: allCapacities)
  func `cancelled code can neither send nor receive (rule 2)`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let coroutine = launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try channel.send(1) }
        #expect(throws: CancellationError.self) { try channel.receive() }
      }
      try coroutine.value()
      #expect(channel.isEmpty)
    }
  }

  @Test func `a send that times out takes its value back (rule 3)`() throws {
    let census = Census()
    try runBlocking {
      let channel = Channel<Counted>()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) { try channel.send(Counted(1, census)) }
      }
      #expect(census.alive == 0)
      #expect(channel.receiveIfReady().value == nil)
    }
  }

  @Test func `a receive that times out swallows no value (rule 3)`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) { try channel.receive() }
      }
      #expect(channel.sendIfReady(1) == .full(1))
    }
  }

  @Test func `a shielded receive goes on in cancelled code`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let receiver = launch { try withCancellationShield { try channel.receive() } }
      try letOthersRun()
      receiver.cancel()
      try letOthersRun()
      #expect(receiver.state == .suspended)
      try channel.send(4)
      try #expect(receiver.value() == 4)
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `cancelling while values fly loses and doubles none (rule 3)`(place: Elsewhere) throws {
    let census = Census()
    let received = Tally()
    let sent = Tally()
    try runBlocking {
      let channel = Channel<Counted>(capacity: 2)
      let schedulers = place.schedulers(2)
      for round in 0..<300 {
        let sender = launch(on: schedulers[round % 2]) {
          for value in 0..<4 {
            try channel.send(Counted(value, census))
            sent.add()
          }
        }
        let receiver = launch(on: schedulers[(round + 1) % 2]) {
          for _ in 0..<4 {
            _ = try channel.receive()
            received.add()
          }
        }
        if round % 3 == 0 { sender.cancel() }
        if round % 3 == 1 { receiver.cancel() }
        if round % 3 == 2 { try Coroutine.yield() }
        receiver.cancel()
        sender.cancel()
        try sender.join()
        try receiver.join()
        #expect(sent.value - received.value == channel.count)
        while channel.receiveIfReady().value != nil { received.add() }
      }
    }
    #expect(sent.value == received.value)
    #expect(census.alive == 0)
  }
}
