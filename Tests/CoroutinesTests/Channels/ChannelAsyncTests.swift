// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Testing

/// Channels between tasks, and between tasks and coroutines.
@Suite struct ChannelAsyncTests {
  @Test(arguments: allCapacities)
  func `tasks exchange all values in order`(capacity: ChannelCapacity) async throws {
    let channel = Channel<Int>(capacity: capacity)
    async let producer: Void = {
      for value in 0..<1_000 { try await channel.send(value) }
      channel.close()
    }()
    var received: [Int] = []
    for await value in channel.values { received.append(value) }
    try await producer
    #expect(received == Array(0..<1_000))
  }

  @Test(arguments: allCapacities, Elsewhere.allCases)
  func `a task feeds a coroutine, which answers`(
    capacity: ChannelCapacity,
    place: Elsewhere
  ) async throws {
    let questions = Channel<Int>(capacity: capacity)
    let answers = Channel<Int>(capacity: capacity)
    let server = launch(on: place.schedulers(1)[0]) {
      for question in questions { try answers.send(question * 2) }
      answers.close()
    }
    for value in 0..<200 {
      try await questions.send(value)
      try await #expect(answers.receive() == value * 2)
    }
    questions.close()
    try await server.value()
    await #expect(throws: ChannelError.closed) { try await answers.receive() }
  }

  @Test(arguments: allCapacities)
  func `tasks exchange values through the ends of a channel`(capacity: ChannelCapacity) async throws
  {
    let channel = Channel<Int>(capacity: capacity)
    let (sending, receiving) = (channel.sendEnd, channel.receiveEnd)
    async let producer: Void = {
      for value in 0..<100 { try await sending.send(value) }
      sending.close()
    }()
    for value in 0..<100 { try await #expect(receiving.receive() == value) }
    try await producer
    await #expect(throws: ChannelError.closed) { try await receiving.receive() }
    await #expect(throws: ChannelError.closed) { try await sending.send(100) }
  }

  @Test func `an async send to a closed channel throws and releases the value`() async throws {
    let census = Census()
    let channel = Channel<Counted>()
    channel.close()
    await #expect(throws: ChannelError.closed) { try await channel.send(Counted(1, census)) }
    #expect(census.alive == 0)
  }

  @Test func `a cancelled task takes back what it was sending (rule 3)`() async throws {
    let census = Census()
    let channel = Channel<Counted>()
    let sender = Task { try await channel.send(Counted(1, census)) }
    while census.alive == 0 { await Task.yield() }
    sender.cancel()
    await #expect(throws: CancellationError.self) { try await sender.value }
    #expect(census.alive == 0)
    #expect(channel.receiveIfReady().value == nil)
  }

  @Test func `a cancelled task that was receiving swallows no value (rule 3)`() async throws {
    let channel = Channel<Int>()
    let receiver = Task { try await channel.receive() }
    await Task.yield()
    receiver.cancel()
    await #expect(throws: CancellationError.self) { try await receiver.value }
    #expect(channel.sendIfReady(1) == .full(1))
  }

  @Test func `a task that was cancelled before does not wait`() async throws {
    let channel = Channel<Int>(capacity: 1)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await channel.send(1) }
      await #expect(throws: CancellationError.self) { try await channel.receive() }
      for await _ in channel.values { Issue.record("a value came") }
    }
    await task.value
    #expect(channel.isEmpty)
  }

  @Test func `closing wakes tasks that send and tasks that receive (rule 5)`() async throws {
    let census = Census()
    let full = Channel<Counted>()
    let empty = Channel<Int>()
    await withTaskGroup { group in
      for value in 0..<20 {
        group.addTask {
          await #expect(throws: ChannelError.closed) { try await full.send(Counted(value, census)) }
        }
        group.addTask {
          await #expect(throws: ChannelError.closed) { try await empty.receive() }
        }
      }
      while census.alive < 20 { await Task.yield() }
      full.close()
      empty.close()
    }
    #expect(census.alive == 0)
  }

  /// Those that wait to send.
  private func waitingSenders(of channel: Channel<some Any>) -> Int {
    channel.core.lock.withLock { channel.core.pointee.senders.length }
  }

  @Test func `async sends are served first come first served (rule 4)`() async throws {
    let census = Census()
    let channel = Channel<Counted>()
    var tasks: [Task<Void, any Error>] = []
    for value in 0..<20 {
      tasks.append(Task { try await channel.send(Counted(value, census)) })
      while waitingSenders(of: channel) <= value { await Task.yield() }
    }
    let values = try await withCoroutine(on: SerialScheduler()) {
      try channel.receive(count: 20).map(\.number)
    }
    for task in tasks { try await task.value }
    #expect(values == Array(0..<20))
  }

  @Test func `cancelling tasks while values fly loses and doubles none (rule 3)`() async throws {
    let census = Census()
    let sent = Tally()
    let received = Tally()
    do {
      let channel = Channel<Counted>(capacity: 1)
      for round in 0..<300 {
        let sender = Task {
          for value in 0..<4 {
            try await channel.send(Counted(value, census))
            sent.add()
          }
        }
        let receiver = Task {
          for _ in 0..<4 {
            _ = try await channel.receive()
            received.add()
          }
        }
        if round % 2 == 0 { await Task.yield() }
        receiver.cancel()
        sender.cancel()
        _ = await (sender.result, receiver.result)
        while channel.receiveIfReady().value != nil { received.add() }
      }
      #expect(sent.value == received.value)
    }
    #expect(census.alive == 0)
  }
}
