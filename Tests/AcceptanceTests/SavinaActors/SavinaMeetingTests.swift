// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Big and Chameneos: everybody with everybody, and two by two.
@Suite(.timeLimit(.minutes(30))) struct SavinaMeetingTests {
  // MARK: - Big

  private enum Big {
    case start([MessageActor<Big>], pings: Int, Reply<Void>)
    case ping(from: Int)
    case pong(from: Int)
    case pingsReceived(Reply<Int>)
  }

  /// Whom an actor pings, one after the other.
  private static func targets(of number: Int, among size: Int, pings: Int) -> [Int] {
    var random = SavinaRandom(seed: UInt64(number))
    return (0..<pings).map { _ in Int.random(in: 0..<size, using: &random) }
  }

  private static func bigActor(
    _ stage: SavinaStage,
    _ number: Int
  ) -> MessageActor<Big> {
    stage.actor("big \(number)") { mailbox in
      var neighbours: [MessageActor<Big>] = []
      var targets: ArraySlice<Int> = []
      var isDone: Reply<Void>?
      // Pings may come before the start.
      var early: [Int] = []
      var received = 0

      func answer(_ sender: Int) throws {
        received += 1
        try neighbours[sender].tell(.pong(from: number))
      }
      func pingNext() throws {
        guard let target = targets.first else {
          isDone?()
          return
        }
        try neighbours[target].tell(.ping(from: number))
      }

      for message in mailbox {
        switch message {
        case .start(let all, let pings, let reply):
          (neighbours, isDone) = (all, reply)
          targets = Self.targets(of: number, among: all.count, pings: pings)[...]
          for sender in early { try answer(sender) }
          try pingNext()
        case .ping(let sender):
          if neighbours.isEmpty { early.append(sender) } else { try answer(sender) }
        case .pong(let sender):
          try SavinaFailure.unless(targets.popFirst() == sender, "a pong that nobody asked for")
          try pingNext()
        case .pingsReceived(let reply): reply(received)
        }
      }
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `big: every ping among many actors is answered by whom it was for`(
    place: SavinaPlace
  ) throws {
    let (size, pings) = (12, 60)
    let received = try SavinaStage.run(place) { stage in
      let actors = (0..<size).map { Self.bigActor(stage, $0) }
      defer { for actor in actors { actor.stop() } }
      let ends = actors.map { actor in actor.ask { .start(actors, pings: pings, $0) } }
      for end in ends { try end.await() }
      return try actors.map { actor in try actor.ask { .pingsReceived($0) }.await() }
    }
    var expected = Array(repeating: 0, count: size)
    for number in 0..<size {
      for target in Self.targets(of: number, among: size, pings: pings) { expected[target] += 1 }
    }
    #expect(received == expected)
  }

  // MARK: - Chameneos

  private enum Colour: Int {
    case red, yellow, blue

    /// What both become who meet: the third colour, or the one they share.
    func complement(_ other: Colour) -> Colour {
      switch (self, other) {
      case (.red, .red), (.yellow, .blue), (.blue, .yellow): .red
      case (.yellow, .yellow), (.red, .blue), (.blue, .red): .yellow
      case (.blue, .blue), (.red, .yellow), (.yellow, .red): .blue
      }
    }
  }

  private struct Chameneo: Sendable {
    let number: Int
    let colour: Colour
  }

  private struct Meeting: Sendable {
    let first: Chameneo
    let second: Chameneo
  }

  private enum Mall {
    /// Answered with the other one; nil when the mall is closed.
    case meet(Chameneo, Reply<Chameneo?>)
    case history(Reply<[Meeting]>)
  }

  /// What the mall noted, and how often each creature met another one.
  private static func chameneos(
    _ stage: SavinaStage,
    creatures: Int,
    meetings: Int
  ) throws -> (history: [Meeting], counts: [Int]) {
    let mall = stage.actor("mall", of: Mall.self) { mailbox in
      var left = meetings
      var waiting: (Chameneo, Reply<Chameneo?>)?
      var history: [Meeting] = []
      for message in mailbox {
        switch message {
        case .meet(_, let reply) where left == 0: reply(nil)
        case .meet(let second, let reply):
          guard let (first, firstReply) = waiting else {
            waiting = (second, reply)
            continue
          }
          (waiting, left) = (nil, left - 1)
          history.append(Meeting(first: first, second: second))
          firstReply(second)
          reply(first)
        case .history(let reply): reply(history)
        }
      }
    }
    let counts = try (0..<creatures).map { number in
      stage.actor("creature \(number)", of: Reply<Int>.self) { mailbox in
        let reply = try mailbox.receive()
        var colour = colour(number)
        var count = 0
        while let other = try mall.ask({
          .meet(Chameneo(number: number, colour: colour), $0)
        }).await() {
          try SavinaFailure.unless(other.number != number, "it met itself")
          colour = colour.complement(other.colour)
          count += 1
        }
        reply(count)
      }
    }
    .map { creature in creature.ask { $0 } }
    .map { promise in try promise.await() }
    defer { mall.stop() }
    return (try mall.ask { .history($0) }.await(), counts)
  }

  private static func colour(_ number: Int) -> Colour { Colour(rawValue: number % 3) ?? .red }

  /// The history is one in which everybody has the colour that the meetings before have given it.
  private static func check(
    _ history: [Meeting],
    _ counts: [Int],
    meetings: Int
  ) throws {
    try SavinaFailure.unless(history.count == meetings, "\(history.count) meetings")
    try SavinaFailure.unless(counts.reduce(0, +) == 2 * meetings, "not two in each meeting")
    // Colours by arithmetic: the complement of a and b is -(a + b) modulo 3.
    var colours = counts.indices.map { $0 % 3 }
    var seen = counts.map { _ in 0 }
    for meeting in history {
      let (first, second) = (meeting.first, meeting.second)
      try SavinaFailure.unless(colours[first.number] == first.colour.rawValue, "a wrong colour")
      try SavinaFailure.unless(colours[second.number] == second.colour.rawValue, "a wrong colour")
      let both = (6 - first.colour.rawValue - second.colour.rawValue) % 3
      for one in [first.number, second.number] {
        colours[one] = both
        seen[one] += 1
      }
    }
    try SavinaFailure.unless(seen == counts, "the mall counts otherwise than the creatures")
  }

  @Test(arguments: SavinaPlace.all)
  func `chameneos: two in each meeting, and both change colour as the rule says`(
    place: SavinaPlace
  ) throws {
    let (history, counts) = try SavinaStage.run(place) { stage in
      try Self.chameneos(stage, creatures: 10, meetings: 300)
    }
    try Self.check(history, counts, meetings: 300)
  }

  @Test func `chameneos: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      let (history, counts) = try Self.chameneos(stage, creatures: 3, meetings: 4)
      try Self.check(history, counts, meetings: 4)
    }
  }
}
