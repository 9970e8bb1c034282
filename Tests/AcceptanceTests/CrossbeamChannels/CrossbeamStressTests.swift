// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `array`, `list`, `zero`, `mpsc`: the parts that try races, on threads and on dispatch queues.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamStressTests {
  // MARK: - len, spsc, mpmc

  @Test(arguments: CrossbeamKind.allCases, CrossbeamPlace.allCases)
  func `one sender, one receiver: all values in order, never more than there is room for`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let total = 3000
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel(room: 3)
      let receiver = spreader.go {
        var (next, most) = (0, 0)
        for value in channel {
          if value == next { next += 1 }
          most = max(most, channel.count)
        }
        return (next, most)
      }
      let sender = spreader.go {
        var most = 0
        for value in 0..<total {
          try channel.send(value)
          most = max(most, channel.count)
        }
        channel.close()
        return most
      }
      let most = try sender.value()
      let (inOrder, mostOfReceiver) = try receiver.value()
      #expect(inOrder == total)
      switch kind {
      case .rendezvous: #expect(max(most, mostOfReceiver) == 0)
      case .bounded: #expect(max(most, mostOfReceiver) <= 3)
      case .unbounded: break
      }
      // The loop has ended because the channel was closed, and nothing is left.
      #expect(channel.count == 0)
      #expect(channel.receiveIfReady() == .closed)
    }
  }

  @Test(arguments: CrossbeamKind.allCases, CrossbeamPlace.allCases)
  func `four senders, four receivers: every value arrives as often as it was sent`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let (parties, count) = (4, 500)
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel(room: 3)
      let receivers = (0..<parties).map { _ in
        spreader.go {
          try (0..<count).reduce(into: [Int](repeating: 0, count: count)) { seen, _ in
            seen[try channel.receive()] += 1
          }
        }
      }
      let senders = (0..<parties).map { _ in
        spreader.go { for value in 0..<count { try channel.send(value) } }
      }
      for sender in senders { try sender.value() }
      var seen = [Int](repeating: 0, count: count)
      for receiver in receivers {
        for (value, times) in try receiver.value().enumerated() { seen[value] += times }
      }
      #expect(seen == [Int](repeating: parties, count: count))
      #expect(channel.receiveIfReady() == .empty)
    }
  }

  @Test(arguments: CrossbeamKind.allCases, CrossbeamPlace.allCases)
  func `eight senders, one receiver: all arrive, nothing is left over`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let (parties, count) = (8, 300)
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel(room: 3)
      let receiver = spreader.go {
        var ones = 0
        for _ in 0..<parties * count { ones += try channel.receive() }
        return (ones, channel.receiveIfReady())
      }
      let senders = (0..<parties).map { _ in
        spreader.go { for _ in 0..<count { try channel.send(1) } }
      }
      for sender in senders { try sender.value() }
      let (ones, last) = try receiver.value()
      #expect(ones == parties * count)
      #expect(last == .empty)
    }
  }

  // MARK: - oneshot

  @Test(arguments: CrossbeamKind.allCases, CrossbeamPlace.allCases)
  func `one value through a new channel, again and again, either side first`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      for round in 0..<300 {
        let channel = kind.channel(room: 1)
        let receiver: ValueCoroutine<Int>
        let sender: ValueCoroutine<Void>
        if round.isMultiple(of: 2) {
          receiver = spreader.go { try channel.receive() }
          sender = spreader.go { try channel.send(round) }
        } else {
          sender = spreader.go { try channel.send(round) }
          receiver = spreader.go { try channel.receive() }
        }
        try #expect(receiver.value() == round)
        try sender.value()
      }
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `closing from both sides at once ends both`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      for _ in 0..<200 {
        let channel = kind.channel()
        let closer = spreader.go { channel.close() }
        channel.close()
        try closer.value()
        #expect(channel.isClosed)
        #expect(channel.receiveIfReady() == .closed)
      }
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `a send beside a close either arrives or has its value back`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      for _ in 0..<200 {
        let channel = kind.channel()
        let closer = spreader.go { channel.close() }
        let sender = spreader.go {
          var back: Int?
          do { try channel.send(1, onUndelivered: { back = $0 }) } catch ChannelError.closed {}
          return back
        }
        try closer.value()
        let back = try sender.value()
        if back == nil {
          #expect(channel.receiveIfReady() == .received(1))
        } else {
          #expect(back == 1)
        }
        #expect(channel.receiveIfReady() == .closed)
      }
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `a receive beside a close finds the channel closed`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      for _ in 0..<200 {
        let channel = kind.channel()
        let receiver = spreader.go {
          do {
            _ = try channel.receive()
            return false
          } catch ChannelError.closed {
            return true
          }
        }
        let closer = spreader.go { channel.close() }
        try closer.value()
        try #expect(receiver.value())
      }
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `a chain of senders and a chain of receivers, each starting the next, keep the order`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let last = 10
    try runBlocking {
      for _ in 0..<20 {
        let schedulers = place.schedulers()
        let (channel, results) = (kind.channel(), Channel<Bool>(capacity: .unbounded))
        @Sendable func send(_ number: Int) {
          guard number < last else { return }
          launch(on: schedulers[number % 3]) {
            try channel.send(number)
            send(number + 1)
          }
        }
        @Sendable func receive(_ number: Int) {
          guard number < last else { return results.close() }
          launch(on: schedulers[(number + 1) % 3]) {
            results.sendIfReady(try channel.receive() == number)
            receive(number + 1)
          }
        }
        send(0)
        receive(0)
        #expect(Array(results) == [Bool](repeating: true, count: last))
      }
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `a hundred senders of one value each are all received`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel()
      let senders = (0..<100).map { number in spreader.go { try channel.send(number) } }
      let received = try (0..<100).map { _ in try channel.receive() }
      #expect(received.sorted() == Array(0..<100))
      for sender in senders { try sender.value() }
    }
  }

  // MARK: - Ends that go away

  @Test(arguments: CrossbeamKind.mpsc, [1, 2])
  func `a loop of sends, through one end or two, ends when the receiver has closed`(
    kind: CrossbeamKind,
    ends: Int
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(.threads)
      let channel = kind.channel()
      let receiver = spreader.go {
        defer { channel.close() }
        return try channel.receive()
      }
      let sendEnds = (0..<ends).map { _ in channel.sendEnd }
      var isOpen = true
      while isOpen {
        for end in sendEnds {
          do {
            try end.send(1)
          } catch ChannelError.closed {
            isOpen = false
          }
        }
      }
      try #expect(receiver.value() == 1)
    }
  }

  @Test(arguments: CrossbeamKind.mpsc)
  func `a loop of receives gets both values and ends when the sender has closed`(
    kind: CrossbeamKind
  ) throws {
    try runBlocking {
      var spreader = CrossbeamSpreader(.threads)
      let channel = kind.channel()
      let sender = spreader.go {
        try channel.send(1)
        try channel.send(2)
        channel.close()
      }
      var values: [Int] = []
      while true {
        do { values.append(try channel.receive()) } catch ChannelError.closed { break }
      }
      #expect(values == [1, 2])
      try sender.value()
    }
  }

  // MARK: - stress_iter, linearizable

  @Test(arguments: CrossbeamKind.allCases, CrossbeamPlace.allCases)
  func `requests one way and answers the other add up`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let total = 500
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let (requests, answers) = (kind.channel(of: Void.self, room: 1), kind.channel(room: 1))
      let asking = spreader.go {
        var sum = 0
        defer {
          requests.close()
          answers.close()
        }
        while true {
          while case .received(let answer) = answers.receiveIfReady() {
            sum += answer
            if sum == total { return sum }
          }
          requests.sendIfReady(())
          try Coroutine.yield()
        }
      }
      let answering = spreader.go {
        for _ in requests {
          do { try answers.send(1) } catch ChannelError.closed { return }
        }
      }
      try #expect(asking.value() == total)
      try answering.value()
    }
  }

  @Test(arguments: CrossbeamKind.keeping, CrossbeamPlace.allCases)
  func `who has sent a value finds one, whoever receives besides`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let parties = 4
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel(room: parties)
      let workers = (0..<parties).map { _ in
        spreader.go {
          var found = 0
          for _ in 0..<1000 {
            try channel.send(0)
            if channel.receiveIfReady() == .received(0) { found += 1 }
          }
          return found
        }
      }
      for worker in workers { try #expect(worker.value() == 1000) }
    }
  }

  // MARK: - drops

  @Test(arguments: CrossbeamKind.allCases, CrossbeamPlace.allCases)
  func `what is received is released once, and what is left is released with the channel`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    for (steps, left) in [(0, 49), (1, 0), (317, 20), (1000, 50)] {
      let census = CrossbeamCensus()
      try runBlocking {
        var spreader = CrossbeamSpreader(place)
        let channel = kind.channel(of: CrossbeamCensus.Object.self, room: 50)
        let receiver = spreader.go { for _ in 0..<steps { _ = try channel.receive() } }
        let sender = spreader.go { for _ in 0..<steps { try channel.send(census.make()) } }
        try receiver.value()
        try sender.value()
        if kind != .rendezvous { for _ in 0..<left { try channel.send(census.make()) } }
        #expect(census.released == steps)
      }
      #expect(census.released == steps + (kind == .rendezvous ? 0 : left))
    }
  }

  // MARK: - channel_through_channel

  @Test(arguments: [0, 1, 2, Int.max], [false, true])
  func `a channel travels through a channel, and the next one through that`(
    capacity: Int,
    isSelecting: Bool
  ) throws {
    struct Link: Sendable { let next: Channel<Link> }
    let count = 300
    try runBlocking {
      var spreader = CrossbeamSpreader(.threads)
      func make() -> Channel<Link> {
        capacity == .max ? Channel(capacity: .unbounded) : Channel(capacity: capacity)
      }
      let first = make()
      let sender = spreader.go {
        var channel = first
        for _ in 0..<count {
          let link = Link(
            next: capacity == .max ? Channel(capacity: .unbounded) : Channel(capacity: capacity)
          )
          if isSelecting {
            try select { Send(link, to: channel) }
          } else {
            try channel.send(link)
          }
          channel = link.next
        }
        return channel
      }
      let receiver = spreader.go {
        var channel = first
        for _ in 0..<count {
          channel =
            isSelecting
            ? try select { Receive(from: channel) { $0.next } } : try channel.receive().next
        }
        return channel
      }
      try #expect(sender.value() === receiver.value())
    }
  }

  // MARK: - Limits and pauses

  @Test(arguments: CrossbeamKind.allCases, CrossbeamLimit.allCases)
  func `sender and receiver that pause and retry after each time-out pass all values in order`(
    kind: CrossbeamKind,
    limit: CrossbeamLimit
  ) throws {
    let total = 100
    try CrossbeamTimeline.run { time in
      let channel = kind.channel(room: 2)
      let sender = launch {
        for value in 0..<total {
          if value.isMultiple(of: 2) { try time.pass(.milliseconds(50)) }
          while try limit.send(value, to: channel, within: .milliseconds(10)) != .sent {}
        }
      }
      for value in 0..<total {
        if value.isMultiple(of: 2) { try time.pass(.milliseconds(70)) }
        var outcome = CrossbeamOutcome.timedOut(nil)
        while outcome == .timedOut(nil) {
          outcome = try limit.receive(from: channel, within: .milliseconds(10))
        }
        #expect(outcome == .received(value))
      }
      try sender.value()
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamLimit.allCases)
  func `a receiver with a limit shorter than the sender's pauses counts all values and the closing`(
    kind: CrossbeamKind,
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      launch {
        for value in 0..<100 {
          if value.isMultiple(of: 2) { try time.pass(.milliseconds(200)) }
          try channel.send(1)
        }
        channel.close()
      }
      var (received, timeouts) = (0, 0)
      loop: while true {
        switch try limit.receive(from: channel, within: .milliseconds(70)) {
        case .received: received += 1
        case .timedOut: timeouts += 1
        default: break loop
        }
      }
      #expect(received == 100)
      #expect(timeouts == 100)
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamLimit.allCases)
  func `a receiver with a limit gets the values of many senders, however far apart`(
    kind: CrossbeamKind,
    limit: CrossbeamLimit
  ) throws {
    try CrossbeamTimeline.run { time in
      let channel = kind.channel()
      let senders = (0..<100).map { number in
        launch {
          try time.pass(.milliseconds(number * 25))
          try channel.send(1)
        }
      }
      launch {
        for sender in senders { try sender.value() }
        channel.close()
      }
      var (received, timeouts) = (0, 0)
      loop: while true {
        switch try limit.receive(from: channel, within: .milliseconds(10)) {
        case .received: received += 1
        case .timedOut: timeouts += 1
        default: break loop
        }
      }
      #expect(received == 100)
      #expect(timeouts == 198)
      #expect(time.now == .milliseconds(99 * 25))
    }
  }

  @Test(arguments: CrossbeamKind.mpsc, CrossbeamPlace.allCases)
  func `limits that run out at any moment on real threads lose and double nothing`(
    kind: CrossbeamKind,
    place: CrossbeamPlace
  ) throws {
    let (parties, count) = (3, 200)
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = kind.channel()
      let senders = (0..<parties).map { party in
        spreader.go { for value in 0..<count { try channel.send(party * count + value) } }
      }
      let receiver = spreader.go {
        var seen = [Int](repeating: 0, count: parties * count)
        var (left, attempts) = (parties * count, 0)
        while left > 0 {
          attempts += 1
          // Short enough to run out now and then, beside a value that is being handed over.
          let limit = CrossbeamLimit.allCases[attempts % 2]
          if case .received(let value) = try limit.receive(
            from: channel,
            within: .microseconds(20 + attempts % 30)
          ) {
            seen[value] += 1
            left -= 1
          }
        }
        return seen
      }
      for sender in senders { try sender.value() }
      try #expect(receiver.value() == [Int](repeating: 1, count: parties * count))
      #expect(channel.receiveIfReady() == .empty)
    }
  }
}
