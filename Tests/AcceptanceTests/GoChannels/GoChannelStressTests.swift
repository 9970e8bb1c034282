// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `runtime/chan_test.go`, the parts that try races: on one loop, on threads, on dispatch queues.
@Suite(.timeLimit(.minutes(30))) struct GoChannelStressTests {
  // MARK: - TestChan

  @Test(arguments: GoPlace.allCases, [0, 1, 10])
  func `four senders and four receivers: every value arrives as often as it was sent`(
    place: GoPlace,
    capacity: Int
  ) throws {
    let (parties, count) = (4, 300)
    try runBlocking {
      var spreader = GoSpreader(place)
      let channel = Channel<Int>(capacity: capacity)
      let senders = (0..<parties).map { _ in
        spreader.go { for value in 0..<count { try channel.send(value) } }
      }
      let receivers = (0..<parties).map { _ in
        spreader.go {
          try (0..<count).reduce(into: [Int](repeating: 0, count: count)) { seen, _ in
            seen[try channel.receive()] += 1
          }
        }
      }
      for sender in senders { try sender.value() }
      var seen = [Int](repeating: 0, count: count)
      for receiver in receivers {
        for (value, times) in try receiver.value().enumerated() { seen[value] += times }
      }
      #expect(seen == [Int](repeating: parties, count: count))
    }
  }

  // MARK: - TestNonblockRecvRace

  @Test(arguments: GoPlace.allCases)
  func `of two that receive around a close, one gets the kept value`(place: GoPlace) throws {
    try runBlocking {
      var spreader = GoSpreader(place)
      for _ in 0..<200 {
        let channel = Channel<Int>(capacity: 1)
        try channel.send(1)
        let other = spreader.go { channel.receiveIfReady() }
        channel.close()
        let own = channel.receiveIfReady()
        // While the channel is open, the value is in it: nobody finds it empty.
        let outcomes = [own, try other.value()]
        #expect(outcomes == [.received(1), .closed] || outcomes == [.closed, .received(1)])
      }
    }
  }

  // MARK: - TestNonblockSelectRace, TestNonblockSelectRace2

  @Test(arguments: GoPlace.allCases, [false, true])
  func `a select beside which readiness moves from channel to channel finds a ready one`(
    place: GoPlace,
    isClosing: Bool
  ) throws {
    try runBlocking {
      var spreader = GoSpreader(place)
      for _ in 0..<200 {
        let (first, second) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
        try first.send(1)
        let selecting = spreader.go {
          try select {
            Receive(from: first) { _ in true }
            Receive(from: second, whenClosed: { true }) { _ in true }
            Default { false }
          }
        }
        if isClosing { second.close() } else { try second.send(1) }
        _ = first.receiveIfReady()
        try #expect(selecting.value())
      }
    }
  }

  // MARK: - TestSelfSelect

  @Test(arguments: GoPlace.allCases, [0, 10])
  func `two that send and receive in one select end, and do not meet themselves`(
    place: GoPlace,
    capacity: Int
  ) throws {
    let rounds = 300
    try runBlocking {
      var spreader = GoSpreader(place)
      let channel = Channel<Int>(capacity: capacity)
      let parties = (0..<2).map { party in
        spreader.go {
          var (sent, received, own) = (0, 0, 0)
          for round in 0..<rounds {
            // The clauses in one order and in the other.
            if party == 0 || round.isMultiple(of: 2) {
              try select {
                Send(party, to: channel) { sent += 1 }
                Receive(from: channel) {
                  received += 1
                  if $0 == party { own += 1 }
                }
              }
            } else {
              try select {
                Receive(from: channel) {
                  received += 1
                  if $0 == party { own += 1 }
                }
                Send(party, to: channel) { sent += 1 }
              }
            }
          }
          return (sent, received, own)
        }
      }
      let counts = try parties.map { try $0.value() }
      #expect(counts[0].0 + counts[1].0 == counts[0].1 + counts[1].1 + channel.count)
      if capacity == 0 { #expect(counts[0].2 + counts[1].2 == 0) }
    }
  }

  // MARK: - TestSelectStress

  @Test(arguments: GoPlace.allCases)
  func `plain and selecting senders and receivers share four channels and all end`(
    place: GoPlace
  ) throws {
    let count = 300
    try runBlocking {
      var spreader = GoSpreader(place)
      let channels = [0, 0, 2, 3].map { Channel<Int>(capacity: $0) }
      var senders: [ValueCoroutine<Void>] = []
      var receivers: [ValueCoroutine<Int>] = []
      for channel in channels {
        senders.append(spreader.go { for value in 1...count { try channel.send(value) } })
        receivers.append(
          spreader.go { try (0..<count).reduce(0) { sum, _ in try sum + channel.receive() } }
        )
      }
      senders.append(
        spreader.go {
          var targets = channels
          var sent = [0, 0, 0, 0]
          // Each channel is switched off when it has had its share.
          func note(_ index: Int) {
            sent[index] += 1
            if sent[index] == count { targets[index] = nobodysChannel() }
          }
          for _ in 0..<4 * count {
            try select {
              Send(sent[3] + 1, to: targets[3]) { note(3) }
              Send(sent[2] + 1, to: targets[2]) { note(2) }
              Send(sent[0] + 1, to: targets[0]) { note(0) }
              Send(sent[1] + 1, to: targets[1]) { note(1) }
            }
          }
        }
      )
      receivers.append(
        spreader.go {
          var sources = channels
          var received = [0, 0, 0, 0]
          var sum = 0
          func note(_ index: Int, _ value: Int) {
            sum += value
            received[index] += 1
            if received[index] == count { sources[index] = nobodysChannel() }
          }
          for _ in 0..<4 * count {
            try select {
              Receive(from: sources[0]) { note(0, $0) }
              Receive(from: sources[1]) { note(1, $0) }
              Receive(from: sources[2]) { note(2, $0) }
              Receive(from: sources[3]) { note(3, $0) }
            }
          }
          return sum
        }
      )
      for sender in senders { try sender.value() }
      let sum = try receivers.reduce(0) { try $0 + $1.value() }
      #expect(sum == 8 * count * (count + 1) / 2)
      #expect(channels.allSatisfy { $0.isEmpty })
    }
  }

  // MARK: - TestMultiConsumer

  @Test(arguments: GoPlace.allCases)
  func `twenty-three workers pass on all work, however they take turns`(place: GoPlace) throws {
    let (workers, count) = (23, 3000)
    let primes = [2, 3, 7, 11, 13, 17, 19, 23, 27, 31]
    try runBlocking {
      var spreader = GoSpreader(place)
      let (work, results) = (
        Channel<Int>(capacity: workers * 3), Channel<Int>(capacity: workers * 3)
      )
      let running = (0..<workers).map { worker in
        spreader.go {
          for value in work {
            // Some let the others pass now and then.
            if primes[worker % primes.count] == value { try Coroutine.yield() }
            try results.send(value)
          }
        }
      }
      let feeder = spreader.go {
        var sum = 0
        for index in 0..<count {
          sum += primes[index % primes.count]
          try work.send(primes[index % primes.count])
        }
        work.close()
        for worker in running { try worker.value() }
        results.close()
        return sum
      }
      var (received, sum) = (0, 0)
      for value in results {
        received += 1
        sum += value
      }
      #expect(received == count)
      try #expect(sum == feeder.value())
    }
  }

  // MARK: - chanbarrier_test.go

  private final class Answer: Sendable {
    let text: String
    init(_ text: String) { self.text = text }
  }

  @Test(arguments: GoPlace.allCases, [false, true])
  func `a new object arrives whole from a coroutine that ends with the send`(
    place: GoPlace,
    isSelecting: Bool
  ) throws {
    try runBlocking {
      var spreader = GoSpreader(place)
      let askers = (0..<6).map { asker in
        spreader.go {
          var right = 0
          for round in 0..<40 {
            let (answers, done) = (Channel<Answer>(), Channel<Void>())
            launch {
              let answer = Answer("answer \(asker) \(round)")
              if isSelecting {
                try select {
                  Send(answer, to: answers)
                  Receive(from: done) { _ in }
                }
              } else {
                try answers.send(answer)
              }
            }
            let answer = try answers.receive()
            try Coroutine.yield()
            if answer.text == "answer \(asker) \(round)" { right += 1 }
          }
          return right
        }
      }
      for asker in askers { try #expect(asker.value() == 40) }
    }
  }
}
