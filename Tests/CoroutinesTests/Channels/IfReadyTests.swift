// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Synchronization
import Testing

/// The twins that never park, from any thread and outside coroutines.
@Suite struct IfReadyTests {
  @Test(arguments: limitedCapacities)
  func `sendIfReady fills the channel, then gives the value back`(capacity: Int) {
    let channel = Channel<Int>(capacity: capacity)
    for value in 0..<capacity { #expect(channel.sendIfReady(value) == .sent) }
    #expect(channel.sendIfReady(99) == .full(99))
    #expect(channel.sendIfReady(99).isSent == false)
    for value in 0..<capacity { #expect(channel.receiveIfReady() == .received(value)) }
    #expect(channel.receiveIfReady() == .empty)
    #expect(channel.receiveIfReady().value == nil)
  }

  @Test(arguments: allCapacities)
  func `on a closed channel they say so`(capacity: ChannelCapacity) {
    let channel = Channel<Int>(capacity: capacity)
    channel.close()
    #expect(channel.sendIfReady(1) == .closed(1))
    #expect(channel.receiveIfReady() == .closed)
  }

  @Test(arguments: limitedCapacities)
  func `receiveIfReady takes a parked sender's value and wakes it`(capacity: Int) throws {
    try runBlocking {
      let channel = Channel<Int>(capacity: capacity)
      let senders = (0...capacity).map { value in launch { try channel.send(value) } }
      try letOthersRun()
      #expect(senders.last?.state == .suspended)
      #expect(channel.receiveIfReady() == .received(0))
      try senders.last?.join()
    }
  }

  @Test func `a value that was not sent is still the caller's, and is released once`() {
    let census = Census()
    let channel = Channel<Counted>()
    if case .full(let back) = channel.sendIfReady(Counted(5, census)) {
      #expect(back.number == 5)
      #expect(census.alive == 1)
    } else {
      Issue.record("a rendezvous kept a value")
    }
    #expect(census.alive == 0)
    channel.close()
    channel.sendIfReady(Counted(6, census))
    #expect(census.alive == 0)
  }

  @Test(arguments: [1, 3, 64])
  func `plain threads exchange all values without coroutines`(capacity: Int) async throws {
    let channel = Channel<Int>(capacity: capacity)
    let sum = Tally()
    async let producers: Void = withThrowingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          try await onThread {
            for value in 0..<5_000 {
              while channel.sendIfReady(value) != .sent { spinWait() }
            }
          }
        }
      }
      try await group.waitForAll()
      channel.close()
    }
    async let consumers: Void = withThrowingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          try await onThread {
            while true {
              switch channel.receiveIfReady() {
              case .received(let value): sum.add(value)
              case .empty: spinWait()
              case .closed: return
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    _ = try await (producers, consumers)
    #expect(sum.value == 2 * 5_000 * 4_999 / 2)
  }

  @Test func `a thread feeds a coroutine`() async throws {
    let channel = Channel<Int>(capacity: 8)
    async let sum = withCoroutine(on: SerialScheduler()) { channel.reduce(0, +) }
    try await onThread {
      for value in 0..<5_000 {
        while channel.sendIfReady(value) != .sent { spinWait() }
      }
      channel.close()
    }
    try await #expect(sum == 5_000 * 4_999 / 2)
  }
}
