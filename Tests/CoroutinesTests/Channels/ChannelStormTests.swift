// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Many producers and consumers on several threads at once: exact sums, order for each producer.
@Suite struct ChannelStormTests {
  private struct Item {
    let producer: Int
    let number: Int
  }

  @Test(arguments: allCapacities, Elsewhere.allCases)
  func `every value arrives once, each producer's in order (rule 4)`(
    capacity: ChannelCapacity,
    place: Elsewhere
  ) throws {
    let (producers, count) = (6, 400)
    try runBlocking {
      let channel = Channel<Item>(capacity: capacity)
      let schedulers = place.schedulers(4)
      let senders = (0..<producers).map { producer in
        launch(on: schedulers[producer % 4]) {
          for number in 0..<count {
            try channel.send(Item(producer: producer, number: number))
            if number % 16 == producer { try Coroutine.yield() }
          }
        }
      }
      let receivers = (0..<4).map { index in
        launch(on: schedulers[(index + 1) % 4]) {
          var sums = [Int](repeating: 0, count: producers)
          var latest = [Int](repeating: -1, count: producers)
          for item in channel {
            #expect(item.number > latest[item.producer])
            latest[item.producer] = item.number
            sums[item.producer] += item.number
          }
          return sums
        }
      }
      for sender in senders { try sender.value() }
      channel.close()
      let sums = try receivers.map { try $0.value() }
      for producer in 0..<producers {
        #expect(sums.reduce(0) { $0 + $1[producer] } == count * (count - 1) / 2)
      }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `a ring of schedulers passes a token round`(place: Elsewhere) throws {
    try runBlocking {
      let schedulers = place.schedulers(3)
      let links = (0...6).map { _ in Channel<Int>() }
      for index in 0..<6 {
        launch(on: schedulers[index % 3]) {
          for token in links[index] { try links[index + 1].send(token + 1) }
          links[index + 1].close()
        }
      }
      for round in 0..<200 {
        try links[0].send(round)
        try #expect(links[6].receive() == round + 6)
      }
      links[0].close()
      #expect(throws: ChannelError.closed) { try links[6].receive() }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `closing in the middle of a storm delivers exactly what was sent`(place: Elsewhere) throws {
    let census = Census()
    for _ in 0..<30 {
      let sent = Tally()
      let received = Tally()
      try runBlocking {
        let channel = Channel<Counted>(capacity: 2)
        let schedulers = place.schedulers(2)
        let senders = (0..<4).map { index in
          launch(on: schedulers[index % 2]) {
            do {
              while true {
                try channel.send(Counted(index, census))
                sent.add()
              }
            } catch is ChannelError {}
          }
        }
        let receivers = (0..<2).map { index in
          launch(on: schedulers[index]) { for _ in channel { received.add() } }
        }
        while received.value < 20 { try Coroutine.yield() }
        channel.close()
        for sender in senders { try sender.value() }
        for receiver in receivers { try receiver.value() }
      }
      #expect(sent.value == received.value)
      #expect(census.alive == 0)
    }
  }

  @Test func `coroutines, tasks and threads share one channel`() async throws {
    let channel = Channel<Int>(capacity: 4)
    let sum = Tally()
    async let consumer: Void = {
      for await value in channel.values { sum.add(value) }
    }()
    let other = launch(on: SerialScheduler()) { for value in channel { sum.add(value) } }
    try await withThrowingTaskGroup { group in
      group.addTask { for value in 0..<500 { try await channel.send(value) } }
      group.addTask {
        try await withCoroutine { for value in 0..<500 { try channel.send(value) } }
      }
      group.addTask {
        try await onThread {
          for value in 0..<500 { while channel.sendIfReady(value) != .sent { spinWait() } }
        }
      }
      try await group.waitForAll()
    }
    channel.close()
    await consumer
    try await other.value()
    #expect(sum.value == 3 * 500 * 499 / 2)
  }
}
