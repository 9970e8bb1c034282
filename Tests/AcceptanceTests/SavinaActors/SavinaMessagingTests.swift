// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Ping Pong, Counting, Thread Ring: messages to and fro, many to one, and round and round.
@Suite(.timeLimit(.minutes(30))) struct SavinaMessagingTests {
  // MARK: - Ping Pong

  private enum Ping {
    case start(rounds: Int, Reply<[Int]>)
    case pong(Int)
  }

  private enum Pong {
    case ping(Int, from: Mailbox<Ping>)
    case question(Int, Reply<Int>)
  }

  private static func pong(_ stage: SavinaStage) -> MessageActor<Pong> {
    stage.actor("pong") { mailbox in
      for message in mailbox {
        switch message {
        case .ping(let number, let sender): try sender.post(.pong(number))
        case .question(let number, let reply): reply(number)
        }
      }
    }
  }

  /// The numbers that come back, told.
  private static func told(_ stage: SavinaStage, rounds: Int) throws -> [Int] {
    let pong = pong(stage)
    let ping = stage.actor("ping", of: Ping.self) { mailbox in
      guard case .start(let rounds, let reply) = try mailbox.receive() else {
        throw SavinaFailure("a pong before the first ping")
      }
      var returned: [Int] = []
      for number in 0..<rounds {
        try pong.tell(.ping(number, from: mailbox))
        guard case .pong(let number) = try mailbox.receive() else {
          throw SavinaFailure("not a pong")
        }
        try SavinaFailure.unless(mailbox.count == 0, "more pongs than pings")
        returned.append(number)
      }
      pong.stop()
      reply(returned)
    }
    return try ping.ask { .start(rounds: rounds, $0) }.await()
  }

  /// The numbers that come back, asked.
  private static func asked(_ stage: SavinaStage, rounds: Int) throws -> [Int] {
    let pong = pong(stage)
    let ping = stage.actor("ping", of: Ping.self) { mailbox in
      for case .start(let rounds, let reply) in mailbox {
        reply(
          try (0..<rounds).map { number in try pong.ask { .question(number, $0) }.await() }
        )
      }
      pong.stop()
    }
    defer { ping.stop() }
    return try ping.ask { .start(rounds: rounds, $0) }.await()
  }

  @Test(arguments: SavinaPlace.all)
  func `ping pong: every ping is answered once, told and asked`(place: SavinaPlace) throws {
    let numbers = try SavinaStage.run(place) { stage in
      try (Self.told(stage, rounds: 300), Self.asked(stage, rounds: 300))
    }
    #expect(numbers.0 == Array(0..<300))
    #expect(numbers.1 == Array(0..<300))
  }

  @Test func `ping pong: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      try SavinaFailure.unless(Self.told(stage, rounds: 3) == [0, 1, 2], "told")
      try SavinaFailure.unless(Self.asked(stage, rounds: 3) == [0, 1, 2], "asked")
    }
  }

  // MARK: - Counting

  private enum Count {
    case increment
    case total(Reply<Int>)
  }

  @Test(
    arguments: SavinaPlace.all,
    [MailboxCapacity.unbounded, .bounded(0), .bounded(1), .bounded(16)]
  )
  func `counting: a counter sees all increments of all producers`(
    place: SavinaPlace,
    capacity: MailboxCapacity
  ) throws {
    let (producers, increments) = (3, 200)
    let total = try SavinaStage.run(place) { stage in
      let counter = stage.actor("counter", of: Count.self, capacity: capacity) { mailbox in
        var total = 0
        for message in mailbox {
          switch message {
          case .increment: total += 1
          case .total(let reply): reply(total)
          }
        }
      }
      let sent = (0..<producers).map { number in
        stage.actor("producer \(number)", of: Reply<Int>.self) { mailbox in
          let reply = try mailbox.receive()
          for _ in 0..<increments { try counter.tell(.increment) }
          reply(increments)
        }
      }
      .map { producer in producer.ask { $0 } }
      for promise in sent { try #expect(promise.await() == increments) }
      defer { counter.stop() }
      return try counter.ask { .total($0) }.await()
    }
    #expect(total == producers * increments)
  }

  // MARK: - Thread Ring

  private enum Ring {
    case next(MessageActor<Ring>)
    case ping(left: Int, Reply<Int>)
    case count(Reply<Int>)
    case exit(left: Int)
  }

  /// Who got the last ping, and how many each got.
  private static func ring(
    _ stage: SavinaStage,
    size: Int,
    pings: Int
  ) throws -> (last: Int, counts: [Int]) {
    let ring = (0..<size).map { number in
      stage.actor("link \(number)", of: Ring.self) { mailbox in
        guard case .next(let next) = try mailbox.receive() else {
          throw SavinaFailure("a ping before the ring is closed")
        }
        var count = 0
        for message in mailbox {
          switch message {
          case .next: throw SavinaFailure("closed twice")
          case .ping(let left, let reply):
            count += 1
            if left == 0 { reply(number) } else { try next.tell(.ping(left: left - 1, reply)) }
          case .count(let reply): reply(count)
          case .exit(let left):
            if left > 0 { try next.tell(.exit(left: left - 1)) }
            return
          }
        }
      }
    }
    for number in 0..<size { try ring[number].tell(.next(ring[(number + 1) % size])) }
    // The right to answer goes round with the ping.
    let last = try ring[0].ask { .ping(left: pings, $0) }.await()
    let counts = try ring.map { link in try link.ask { .count($0) }.await() }
    try ring[0].tell(.exit(left: size - 1))
    return (last, counts)
  }

  @Test(arguments: SavinaPlace.all)
  func `thread ring: the last ping arrives where the count says`(place: SavinaPlace) throws {
    let (size, pings) = (40, 1019)
    let (last, counts) = try SavinaStage.run(place) { stage in
      try Self.ring(stage, size: size, pings: pings)
    }
    #expect(last == pings % size)
    #expect(counts == (0..<size).map { (pings - $0) / size + 1 })
  }

  @Test func `thread ring: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      let (last, counts) = try Self.ring(stage, size: 3, pings: 7)
      try SavinaFailure.unless(last == 1 && counts == [3, 3, 2], "\(last) \(counts)")
    }
  }
}
