// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Selects on both sides and several threads: exact counts.
@Suite struct SelectStormTests {
  @Test(arguments: [0, 1, 3], Elsewhere.allCases)
  func `selects on both sides deliver every value once (rule 4)`(
    capacity: Int,
    place: Elsewhere
  ) throws {
    let census = Census()
    let count = 500
    try runBlocking {
      let (one, other) = (
        Channel<Counted>(capacity: capacity), Channel<Counted>(capacity: capacity)
      )
      let schedulers = place.schedulers(4)
      let senders = (0..<4).map { index in
        launch(on: schedulers[index]) {
          for value in 0..<count {
            try select {
              Send(Counted(value, census), to: one)
              Send(Counted(value, census), to: other)
            }
          }
        }
      }
      let receivers = (0..<4).map { index in
        launch(on: schedulers[(index + 1) % 4]) {
          var (sum, closed) = (0, 0)
          while closed < 2 {
            try select {
              // A closed channel is always ready: the loop then goes over to the other one.
              Receive(from: one, whenClosed: { closed = 2 }) { sum += $0.number }
              Receive(from: other, whenClosed: { closed = 2 }) { sum += $0.number }
            }
          }
          for value in one { sum += value.number }
          for value in other { sum += value.number }
          return sum
        }
      }
      for sender in senders { try sender.value() }
      one.close()
      other.close()
      let sum = try receivers.reduce(0) { try $0 + $1.value() }
      #expect(sum == 4 * count * (count - 1) / 2)
    }
    #expect(census.alive == 0)
  }

  @Test(arguments: Elsewhere.allCases)
  func `parties that both send and receive pair up exactly`(place: Elsewhere) throws {
    let (sent, received, sum) = (Tally(), Tally(), Tally())
    try runBlocking {
      let channel = Channel<Int>()
      let schedulers = place.schedulers(3)
      let parties = (0..<6).map { index in
        launch(on: schedulers[index % 3]) {
          for _ in 0..<400 {
            try select {
              Send(index + 1, to: channel) {
                sent.add()
                sum.add(index + 1)
              }
              Receive(from: channel) {
                received.add()
                sum.add(-$0)
              }
              // The last ones may find nobody left to pair up with.
              After(.milliseconds(5)) {}
            }
          }
        }
      }
      for party in parties { try party.value() }
    }
    #expect(sent.value == received.value)
    #expect(sum.value == 0)
    #expect(sent.value > 100)
  }

  @Test(arguments: Elsewhere.allCases)
  func `short timeouts against values leave nothing half done`(place: Elsewhere) throws {
    let census = Census()
    let (sent, received) = (Tally(), Tally())
    try runBlocking {
      let channel = Channel<Counted>()
      let schedulers = place.schedulers(2)
      let sender = launch(on: schedulers[0]) {
        for value in 0..<400 {
          try select {
            Send(Counted(value, census), to: channel) { _ = sent.add() }
            After(.microseconds(20)) {}
          }
        }
        channel.close()
      }
      let receiver = launch(on: schedulers[1]) {
        var isOpen = true
        while isOpen {
          try select {
            Receive(from: channel, whenClosed: { isOpen = false }) { _ in _ = received.add() }
            After(.microseconds(20)) {}
          }
        }
      }
      try sender.value()
      try receiver.value()
    }
    #expect(sent.value == received.value)
    #expect(census.alive == 0)
  }
}
