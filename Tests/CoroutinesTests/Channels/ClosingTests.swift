// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite struct ClosingTests {
  @Test(arguments: allCapacities)
  func `kept values drain before receives throw (rule 5)`(capacity: ChannelCapacity) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let kept = min(channel.capacity, 5)
      for value in 0..<kept { try channel.send(value) }
      channel.close()
      #expect(channel.isClosed)
      for value in 0..<kept { try #expect(channel.receive() == value) }
      #expect(throws: ChannelError.closed) { try channel.receive() }
      #expect(throws: ChannelError.closed) { try channel.send(1) }
    }
  }

  @Test func `closing wakes every receiver once (rule 5)`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 3)
      let errors = Steps<ChannelError>()
      let receivers = (0..<50).map { _ in
        launch {
          do {
            _ = try channel.receive()
          } catch let error as ChannelError {
            errors.add(error)
          }
        }
      }
      try letOthersRun()
      channel.close()
      channel.close()
      for receiver in receivers { try receiver.join() }
      #expect(errors.entries == Array(repeating: .closed, count: 50))
    }
  }

  @Test(arguments: limitedCapacities)
  func `closing wakes every sender, whose value is not delivered (rule 5)`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let senders = (0..<(capacity + 50)).map { value in launch { try channel.send(value) } }
      try letOthersRun()
      channel.close()
      for (index, sender) in senders.enumerated() {
        try sender.join()
        #expect((sender.error as? ChannelError == .closed) == (index >= capacity))
      }
      #expect(Array(channel) == Array(0..<capacity))
    }
  }

  @Test func `receivers woken by closing go on in the order in which they came`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let order = Steps<Int>()
      for index in 0..<20 {
        launch {
          defer { order.add(index) }
          #expect(throws: ChannelError.closed) { try channel.receive() }
        }
      }
      try letOthersRun()
      channel.close()
      #expect(order.entries == [])
      try letOthersRun()
      #expect(order.entries == Array(0..<20))
    }
  }

  @Test func `a loop over a closed channel ends`() throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: 3)
      try channel.send(1)
      channel.close()
      #expect(Array(channel) == [1])
      #expect(Array(channel) == [])
    }
  }

  @Test func `closing from a plain thread wakes those who wait`() async throws {
    let channel = Channel<Int>()
    async let sum = withCoroutine(on: SerialScheduler()) { channel.reduce(0, +) }
    try await onThread { channel.close() }
    try await #expect(sum == 0)
  }

  @Test func `the error says what to do`() {
    #expect("\(ChannelError.closed)".contains("close a channel only after the last send"))
  }
}
