// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Dining Philosophers and Cigarette Smokers: who may have what lies on the table.
@Suite(.timeLimit(.minutes(30))) struct SavinaSharingTests {
  // MARK: - Dining Philosophers

  private enum Table {
    /// Answered at once: whether both forks are there.
    case hungry(seat: Int, Reply<Bool>)
    /// Answered when both forks are there, with how often each neighbour was given forks meanwhile.
    case waiting(seat: Int, Reply<[Int]>)
    case done(seat: Int)
  }

  /// Who eats, as the philosophers themselves see it.
  private final class Meals: Sendable {
    private let eating: SavinaGuarded<[Bool]>

    init(seats: Int) { eating = SavinaGuarded(Array(repeating: false, count: seats)) }

    func begin(_ seat: Int) throws {
      try eating.withLock { eating in
        let neighbours = [(seat + 1) % eating.count, (seat + eating.count - 1) % eating.count]
        try SavinaFailure.unless(!eating[seat], "\(seat) eats twice at a time")
        for neighbour in neighbours {
          try SavinaFailure.unless(!eating[neighbour], "\(seat) and \(neighbour) share a fork")
        }
        eating[seat] = true
      }
    }

    func end(_ seat: Int) { eating.withLock { $0[seat] = false } }
  }

  private static func table(_ stage: SavinaStage, seats: Int) -> MessageActor<Table> {
    stage.actor("table") { mailbox in
      var isTaken = Array(repeating: false, count: seats)
      var meals = Array(repeating: 0, count: seats)
      var line: [(seat: Int, mealsThen: [Int], reply: Reply<[Int]>)] = []

      func forks(_ seat: Int) -> [Int] { [seat, (seat + 1) % seats] }
      func give(_ seat: Int) {
        for fork in forks(seat) { isTaken[fork] = true }
        meals[seat] += 1
      }
      func serve() {
        // Who waits keeps those behind from overtaking: its forks are spoken for.
        var isSpokenFor = isTaken
        line = line.filter { waiting in
          let isServed = forks(waiting.seat).allSatisfy { !isSpokenFor[$0] }
          if isServed { give(waiting.seat) }
          for fork in forks(waiting.seat) { isSpokenFor[fork] = true }
          if isServed {
            waiting.reply(
              [1, seats - 1].map { step in
                let neighbour = (waiting.seat + step) % seats
                return meals[neighbour] - waiting.mealsThen[neighbour]
              }
            )
          }
          return !isServed
        }
      }

      for message in mailbox {
        switch message {
        case .hungry(let seat, let reply):
          let isFree = forks(seat).allSatisfy { !isTaken[$0] }
          if isFree { give(seat) }
          reply(isFree)
        case .waiting(let seat, let reply):
          line.append((seat, meals, reply))
          serve()
        case .done(let seat):
          for fork in forks(seat) { isTaken[fork] = false }
          serve()
        }
      }
    }
  }

  /// How a philosopher gets its forks.
  enum Manner: CaseIterable {
    /// Asks again when it was denied.
    case insisting
    /// Waits for an answer.
    case patient
  }

  /// How often each has eaten.
  private static func dine(
    _ stage: SavinaStage,
    _ manner: Manner,
    seats: Int,
    rounds: Int
  ) throws -> [Int] {
    let table = table(stage, seats: seats)
    let meals = Meals(seats: seats)
    defer { table.stop() }
    return try (0..<seats).map { seat in
      stage.actor("philosopher \(seat)", of: Reply<Int>.self) { mailbox in
        let reply = try mailbox.receive()
        for _ in 0..<rounds {
          switch manner {
          case .insisting:
            while try !table.ask({ .hungry(seat: seat, $0) }).await() { try Coroutine.yield() }
          case .patient:
            let overtaken = try table.ask { .waiting(seat: seat, $0) }.await()
            try SavinaFailure.unless(
              overtaken.allSatisfy { $0 <= 1 },
              "\(seat) was overtaken: \(overtaken)"
            )
          }
          try meals.begin(seat)
          try Coroutine.yield()
          meals.end(seat)
          try table.tell(.done(seat: seat))
        }
        reply(rounds)
      }
    }
    .map { philosopher in philosopher.ask { $0 } }
    .map { promise in try promise.await() }
  }

  @Test(arguments: SavinaPlace.all, Manner.allCases)
  func `philosophers: no two neighbours eat at the same time, and nobody starves`(
    place: SavinaPlace,
    manner: Manner
  ) throws {
    let eaten = try SavinaStage.run(place) { stage in
      try Self.dine(stage, manner, seats: 7, rounds: 30)
    }
    #expect(eaten == Array(repeating: 30, count: 7))
  }

  @Test(arguments: Manner.allCases)
  func `philosophers: in many orders`(manner: Manner) throws {
    try SavinaStage.exploreOrders { stage in
      let eaten = try Self.dine(stage, manner, seats: 3, rounds: 2)
      try SavinaFailure.unless(eaten == [2, 2, 2], "\(eaten)")
    }
  }

  private enum Fork {
    case take(Reply<Void>)
    case putBack
  }

  /// Each fork an actor of its own, and everybody takes the left one first, but the last one if that is asked for.
  private static func dineWithoutTable(
    _ stage: SavinaStage,
    seats: Int,
    lastTakesRightFirst: Bool
  ) throws {
    let forks = (0..<seats).map { number in
      stage.actor("fork \(number)", of: Fork.self) { mailbox in
        for message in mailbox {
          guard case .take(let reply) = message else { throw SavinaFailure("it lies there") }
          reply()
          // Those who also want it wait behind, so the next message for us is out of turn.
          var line: [Reply<Void>] = []
          var isTaken = true
          while isTaken {
            switch try mailbox.receive() {
            case .take(let reply): line.append(reply)
            case .putBack: if line.isEmpty { isTaken = false } else { line.removeFirst()() }
            }
          }
        }
      }
    }
    let meals = Meals(seats: seats)
    let ends = (0..<seats).map { seat in
      stage.actor("philosopher \(seat)", of: Reply<Void>.self) { mailbox in
        let reply = try mailbox.receive()
        let (left, right) = (forks[seat], forks[(seat + 1) % seats])
        let isLast = seat == seats - 1 && lastTakesRightFirst
        for fork in isLast ? [right, left] : [left, right] {
          try fork.ask { .take($0) }.await()
        }
        try meals.begin(seat)
        try Coroutine.yield()
        meals.end(seat)
        for fork in [left, right] { try fork.tell(.putBack) }
        reply()
      }
    }
    .map { philosopher in philosopher.ask { $0 } }
    for end in ends { try end.await() }
    for fork in forks { fork.stop() }
  }

  @Test func `philosophers: all with the left fork in hand are found as a deadlock`() throws {
    let failure = try #require(throws: ExplorationFailure.self) {
      try SavinaStage.exploreOrders(delays: 4, runs: 2000) { stage in
        try Self.dineWithoutTable(stage, seats: 2, lastTakesRightFirst: false)
      }
    }
    #expect(failure.error is Deadlock)
    // The order can be had again.
    #expect(throws: ExplorationFailure.self) {
      try explore(replay: failure.replay) {
        try SavinaStage.playHere { stage in
          try Self.dineWithoutTable(stage, seats: 2, lastTakesRightFirst: false)
        }
      }
    }
  }

  @Test func `philosophers: with one who takes the right fork first there is no deadlock`() throws {
    try SavinaStage.exploreOrders { stage in
      try Self.dineWithoutTable(stage, seats: 3, lastTakesRightFirst: true)
    }
  }

  // MARK: - Cigarette Smokers

  private enum Arbiter {
    case open(Reply<Void>)
    case started(smoker: Int)
  }

  private enum Smoker {
    case ingredients(arbiter: Mailbox<Arbiter>)
    case smoked(Reply<Int>)
    case exit
  }

  /// To whom the arbiter gives ingredients, round after round.
  private static func choices(smokers: Int, rounds: Int) -> [Int] {
    var random = SavinaRandom(seed: UInt64(smokers * rounds))
    return (0..<rounds).map { _ in Int.random(in: 0..<smokers, using: &random) }
  }

  /// How often each has smoked.
  private static func smoke(_ stage: SavinaStage, smokers: Int, rounds: Int) throws -> [Int] {
    let actors = (0..<smokers).map { number in
      stage.actor("smoker \(number)", of: Smoker.self) { mailbox in
        var smoked = 0
        for message in mailbox {
          switch message {
          case .ingredients(let arbiter):
            // The table is free from here on; the next set may be for this one again.
            try arbiter.post(.started(smoker: number))
            try Coroutine.yield()
            smoked += 1
          case .smoked(let reply): reply(smoked)
          case .exit: return
          }
        }
      }
    }
    let arbiter = stage.actor("arbiter", of: Arbiter.self) { mailbox in
      guard case .open(let reply) = try mailbox.receive() else {
        throw SavinaFailure("somebody smokes before the table is laid")
      }
      for choice in Self.choices(smokers: smokers, rounds: rounds) {
        try actors[choice].tell(.ingredients(arbiter: mailbox))
        guard case .started(choice) = try mailbox.receive() else {
          throw SavinaFailure("another one took the ingredients")
        }
        try SavinaFailure.unless(mailbox.count == 0, "two took the same ingredients")
      }
      reply()
    }
    try arbiter.ask { .open($0) }.await()
    let smoked = try actors.map { smoker in try smoker.ask { .smoked($0) }.await() }
    for smoker in actors { try smoker.tell(.exit) }
    return smoked
  }

  private static func expectedSmoked(smokers: Int, rounds: Int) -> [Int] {
    let choices = choices(smokers: smokers, rounds: rounds)
    return (0..<smokers).map { smoker in choices.count { $0 == smoker } }
  }

  @Test(arguments: SavinaPlace.all)
  func `smokers: everybody smokes as often as its ingredients were there`(
    place: SavinaPlace
  ) throws {
    let smoked = try SavinaStage.run(place) { stage in
      try Self.smoke(stage, smokers: 12, rounds: 300)
    }
    #expect(smoked == Self.expectedSmoked(smokers: 12, rounds: 300))
  }

  @Test func `smokers: in many orders`() throws {
    let expected = Self.expectedSmoked(smokers: 3, rounds: 5)
    try SavinaStage.exploreOrders { stage in
      let smoked = try Self.smoke(stage, smokers: 3, rounds: 5)
      try SavinaFailure.unless(smoked == expected, "\(smoked)")
    }
  }
}
