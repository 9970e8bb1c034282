// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Bounded Buffer and Sleeping Barber: places that fill up.
@Suite(.timeLimit(.minutes(30))) struct SavinaQueueTests {
  // MARK: - Bounded Buffer

  private struct Item: Sendable, Hashable {
    let producer: Int
    let number: Int
  }

  private enum Buffer {
    /// Answered when the item has a place.
    case put(Item, Reply<Void>)
    /// Answered when there is one; with nil when no more will come.
    case take(Reply<Item?>)
    case producerEnds
  }

  private struct Sizes: Sendable {
    var buffer = 5
    var producers = 4
    var consumers = 3
    var items = 60
  }

  private static func buffer(_ stage: SavinaStage, _ sizes: Sizes) -> MessageActor<Buffer> {
    stage.actor("buffer") { mailbox in
      var items: [Item] = []
      var producers: [(Item, Reply<Void>)] = []
      var consumers: [Reply<Item?>] = []
      var (producersLeft, consumersLeft) = (sizes.producers, sizes.consumers)

      while consumersLeft > 0 {
        switch try mailbox.receive() {
        case .put(let item, let reply): producers.append((item, reply))
        case .take(let reply): consumers.append(reply)
        case .producerEnds: producersLeft -= 1
        }
        // At most two rounds: what a consumer takes makes room for a producer's item.
        while true {
          while items.count < sizes.buffer, !producers.isEmpty {
            let (item, reply) = producers.removeFirst()
            items.append(item)
            reply()
          }
          if items.isEmpty || consumers.isEmpty { break }
          consumers.removeFirst()(items.removeFirst())
        }
        try SavinaFailure.unless(
          consumers.isEmpty || producers.isEmpty,
          "a producer and a consumer wait for each other"
        )
        if producersLeft == 0, items.isEmpty {
          consumersLeft -= consumers.count
          for consumer in consumers { consumer(nil) }
          consumers = []
        }
      }
    }
  }

  /// What each consumer got, in order.
  private static func exchange(_ stage: SavinaStage, _ sizes: Sizes) throws -> [[Item]] {
    let buffer = buffer(stage, sizes)
    for producer in 0..<sizes.producers {
      _ = stage.actor("producer \(producer)", of: Never.self) { _ in
        for number in 0..<sizes.items {
          try buffer.ask { .put(Item(producer: producer, number: number), $0) }.await()
        }
        try buffer.tell(.producerEnds)
      }
    }
    return try (0..<sizes.consumers).map { consumer in
      stage.actor("consumer \(consumer)", of: Reply<[Item]>.self) { mailbox in
        let reply = try mailbox.receive()
        var taken: [Item] = []
        while let item = try buffer.ask({ .take($0) }).await() { taken.append(item) }
        reply(taken)
      }
    }
    .map { consumer in consumer.ask { $0 } }
    .map { promise in try promise.await() }
  }

  /// Every item exactly once, and no consumer sees a producer's items out of order.
  private static func check(_ taken: [[Item]], _ sizes: Sizes) throws {
    let all = taken.flatMap(\.self)
    try SavinaFailure.unless(Set(all).count == all.count, "an item came twice")
    try SavinaFailure.unless(all.count == sizes.producers * sizes.items, "an item is missing")
    for items in taken {
      var last = Array(repeating: -1, count: sizes.producers)
      for item in items {
        try SavinaFailure.unless(item.number > last[item.producer], "out of order")
        last[item.producer] = item.number
      }
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `bounded buffer: an actor that keeps who waits passes every item on once`(
    place: SavinaPlace
  ) throws {
    let sizes = Sizes()
    try Self.check(SavinaStage.run(place) { stage in try Self.exchange(stage, sizes) }, sizes)
  }

  @Test(arguments: [1, 2])
  func `bounded buffer: in many orders`(room: Int) throws {
    let sizes = Sizes(buffer: room, producers: 2, consumers: 2, items: 2)
    try SavinaStage.exploreOrders { stage in
      try Self.check(Self.exchange(stage, sizes), sizes)
    }
  }

  /// The mailbox is the buffer: producers wait for room in it.
  private static func pour(_ stage: SavinaStage, _ sizes: Sizes) throws -> [[Item]] {
    let taken = SavinaGuarded<[Item]>([])
    let consumer = stage.actor("consumer", of: Item.self, capacity: .bounded(sizes.buffer)) {
      mailbox in
      for item in mailbox {
        try SavinaFailure.unless(mailbox.count <= sizes.buffer, "more than there is room for")
        taken.withLock { $0.append(item) }
      }
    }
    let producers = (0..<sizes.producers).map { producer in
      stage.actor("producer \(producer)", of: Never.self) { _ in
        for number in 0..<sizes.items {
          try consumer.tell(Item(producer: producer, number: number))
        }
      }
    }
    for producer in producers { try producer.join() }
    try consumer.stopAndJoin()
    return [taken.withLock { $0 }]
  }

  @Test(arguments: SavinaPlace.all, [0, 1, 5])
  func `bounded buffer: a bounded mailbox passes every item on once`(
    place: SavinaPlace,
    room: Int
  ) throws {
    let sizes = Sizes(buffer: room)
    try Self.check(SavinaStage.run(place) { stage in try Self.pour(stage, sizes) }, sizes)
  }

  @Test(arguments: [0, 1])
  func `bounded buffer: a bounded mailbox in many orders`(room: Int) throws {
    let sizes = Sizes(buffer: room, producers: 2, consumers: 1, items: 3)
    try SavinaStage.exploreOrders { stage in try Self.check(Self.pour(stage, sizes), sizes) }
  }

  // MARK: - Sleeping Barber

  private struct Haircut: Sendable {
    let customer: Int
    /// Answered with true when it is done, with false when there was no chair.
    let done: Reply<Bool>
  }

  private enum Room {
    case enter(Haircut)
    /// The barber's question; not answered while it sleeps, and with nil when the shop closes.
    case next(Reply<Haircut?>)
    case close
    case seated(Reply<[Int]>)
  }

  private struct Day: Sendable {
    /// In the order in which they came in and stayed.
    var seated: [Int] = []
    /// In the order in which their hair was cut.
    var cut: [Int] = []
    /// How often each came.
    var visits: [Int] = []
  }

  private static func room(_ stage: SavinaStage, chairs: Int) -> MessageActor<Room> {
    stage.actor("room") { mailbox in
      var waiting: [Haircut] = []
      var sleepingBarber: Reply<Haircut?>?
      var seated: [Int] = []
      var isClosed = false
      for message in mailbox {
        switch message {
        case .enter(let haircut):
          if let barber = sleepingBarber {
            try SavinaFailure.unless(waiting.isEmpty, "the barber sleeps while somebody waits")
            sleepingBarber = nil
            barber(haircut)
          } else if waiting.count < chairs {
            waiting.append(haircut)
          } else {
            haircut.done(false)
            continue
          }
          seated.append(haircut.customer)
        case .next(let reply):
          if !waiting.isEmpty {
            reply(waiting.removeFirst())
          } else if isClosed {
            reply(nil)
          } else {
            sleepingBarber = reply
          }
        case .close:
          isClosed = true
          sleepingBarber?(nil)
          sleepingBarber = nil
        case .seated(let reply): reply(seated)
        }
      }
    }
  }

  private static func openShop(
    _ stage: SavinaStage,
    customers: Int,
    chairs: Int
  ) throws -> Day {
    let room = room(stage, chairs: chairs)
    let cut = stage.actor("barber", of: Reply<[Int]>.self) { mailbox in
      let reply = try mailbox.receive()
      var cut: [Int] = []
      while let haircut = try room.ask({ .next($0) }).await() {
        try Coroutine.yield()
        cut.append(haircut.customer)
        haircut.done(true)
      }
      reply(cut)
    }
    .ask { $0 }
    var day = Day()
    day.visits = try (0..<customers).map { customer in
      stage.actor("customer \(customer)", of: Reply<Int>.self) { mailbox in
        let reply = try mailbox.receive()
        var visits = 1
        while try !room.ask({ .enter(Haircut(customer: customer, done: $0)) }).await() {
          visits += 1
          try Coroutine.yield()
        }
        reply(visits)
      }
    }
    .map { customer in customer.ask { $0 } }
    .map { promise in try promise.await() }
    try room.tell(.close)
    day.cut = try cut.await()
    day.seated = try room.ask { .seated($0) }.await()
    room.stop()
    return day
  }

  private static func check(_ day: Day, customers: Int, chairs: Int) throws {
    try SavinaFailure.unless(day.cut.sorted() == Array(0..<customers), "not everybody once")
    try SavinaFailure.unless(day.cut == day.seated, "not first come, first served")
    try SavinaFailure.unless(day.visits.allSatisfy { $0 >= 1 }, "cut without a visit")
    if chairs >= customers {
      try SavinaFailure.unless(day.visits.allSatisfy { $0 == 1 }, "sent away from a free chair")
    }
  }

  @Test(arguments: SavinaPlace.all, [2, 20])
  func `barber: everybody gets one haircut, first come, first served`(
    place: SavinaPlace,
    chairs: Int
  ) throws {
    let day = try SavinaStage.run(place) { stage in
      try Self.openShop(stage, customers: 20, chairs: chairs)
    }
    try Self.check(day, customers: 20, chairs: chairs)
  }

  @Test(arguments: [0, 1, 3])
  func `barber: in many orders`(chairs: Int) throws {
    try SavinaStage.exploreOrders { stage in
      let day = try Self.openShop(stage, customers: 3, chairs: chairs)
      try Self.check(day, customers: 3, chairs: chairs)
    }
  }

  /// The barber's mailbox is the waiting room: who finds it full is refused.
  private static func openMailboxShop(
    _ stage: SavinaStage,
    customers: Int,
    chairs: Int
  ) throws -> Day {
    let cut = SavinaGuarded<[Int]>([])
    let barber = stage.actor("barber", of: Haircut.self, capacity: .failing(chairs)) { mailbox in
      for haircut in mailbox {
        try SavinaFailure.unless(mailbox.count <= chairs, "somebody stands")
        try Coroutine.yield()
        cut.withLock { $0.append(haircut.customer) }
        haircut.done(true)
      }
    }
    let visits = try (0..<customers).map { customer in
      stage.actor("customer \(customer)", of: Reply<Int>.self) { mailbox in
        let reply = try mailbox.receive()
        var visits = 0
        var isDone = false
        while !isDone {
          visits += 1
          do {
            isDone = try barber.ask { Haircut(customer: customer, done: $0) }.await()
          } catch MessageActorError.mailboxFull {
            try Coroutine.yield()
          }
        }
        reply(visits)
      }
    }
    .map { customer in customer.ask { $0 } }
    .map { promise in try promise.await() }
    barber.stop()
    let order = cut.withLock { $0 }
    return Day(seated: order, cut: order, visits: visits)
  }

  @Test(arguments: SavinaPlace.all, [2, 20])
  func `barber: a mailbox that refuses is a waiting room`(
    place: SavinaPlace,
    chairs: Int
  ) throws {
    let day = try SavinaStage.run(place) { stage in
      try Self.openMailboxShop(stage, customers: 20, chairs: chairs)
    }
    try Self.check(day, customers: 20, chairs: chairs)
  }

  @Test(arguments: [1, 3])
  func `barber: a mailbox that refuses, in many orders`(chairs: Int) throws {
    try SavinaStage.exploreOrders { stage in
      let day = try Self.openMailboxShop(stage, customers: 3, chairs: chairs)
      try Self.check(day, customers: 3, chairs: chairs)
    }
  }
}
