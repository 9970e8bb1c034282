// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Filter Bank and Sieve of Eratosthenes: pipelines that are given, and that grow.
@Suite(.timeLimit(.minutes(30))) struct SavinaPipelineTests {
  // MARK: - Filter Bank

  private struct Bank: Sendable {
    let channels = 3
    let columns = 6

    /// Coefficients of the first filter of a channel.
    func first(_ channel: Int) -> [Int] {
      (0..<columns).map { $0 * columns + channel * channels + channel + $0 + 1 }
    }

    /// Coefficients of the second filter of a channel.
    func second(_ channel: Int) -> [Int] {
      (0..<columns).map { $0 * channel + channel * channel + channel - $0 }
    }
  }

  private enum Integrator {
    case value(channel: Int, Int)
    case end
  }

  /// A part of a pipeline that makes one value out of each.
  private static func part(
    _ stage: SavinaStage,
    _ name: String,
    to next: MessageActor<Int>,
    _ makeStep: @escaping @Sendable () -> (Int) -> Int
  ) -> MessageActor<Int> {
    stage.actor(name, capacity: 4) { mailbox in
      let step = makeStep()
      for value in mailbox { try next.tell(step(value)) }
      next.stop()
    }
  }

  private static func delay(_ length: Int) -> (Int) -> Int {
    var line = Array(repeating: 0, count: length)
    return { value in
      line.append(value)
      return line.removeFirst()
    }
  }

  private static func filter(_ coefficients: [Int]) -> (Int) -> Int {
    var latest = Array(repeating: 0, count: coefficients.count)
    return { value in
      latest.removeLast()
      latest.insert(value, at: 0)
      return zip(latest, coefficients).reduce(0) { $0 + $1.0 * $1.1 }
    }
  }

  private static func sample(every rate: Int) -> (Int) -> Int {
    var count = 0
    return { value in
      defer { count = (count + 1) % rate }
      return count == 0 ? value : 0
    }
  }

  /// What comes out at the end.
  private static func filterBank(
    _ stage: SavinaStage,
    _ bank: Bank,
    _ input: [Int]
  ) throws -> [Int] {
    let output = SavinaGuarded<[Int]>([])
    let sink = stage.actor("sink", of: Int.self, capacity: 4) { mailbox in
      for value in mailbox { output.withLock { $0.append(value) } }
    }
    let combine = stage.actor("combine", of: [Int].self, capacity: 4) { mailbox in
      for values in mailbox { try sink.tell(values.reduce(0, +)) }
      sink.stop()
    }
    let integrator = stage.actor("integrator", of: Integrator.self, capacity: 4) { mailbox in
      var columns: [[Int]] = Array(repeating: [], count: bank.channels)
      var endsLeft = bank.channels
      while endsLeft > 0 {
        switch try mailbox.receive() {
        case .end: endsLeft -= 1
        case .value(let channel, let value):
          columns[channel].append(value)
          if columns.allSatisfy({ !$0.isEmpty }) {
            try combine.tell(columns.indices.map { columns[$0].removeFirst() })
          }
        }
      }
      try SavinaFailure.unless(columns.allSatisfy(\.isEmpty), "a channel has more than another")
      combine.stop()
    }
    let heads = (0..<bank.channels).map { channel in
      let tag = stage.actor("tag \(channel)", of: Int.self, capacity: 4) { mailbox in
        for value in mailbox { try integrator.tell(.value(channel: channel, value)) }
        try integrator.tell(.end)
      }
      let name = "of channel \(channel)"
      let second = part(stage, "second filter \(name)", to: tag) { filter(bank.second(channel)) }
      let again = part(stage, "second delay \(name)", to: second) { delay(bank.columns - 1) }
      let thinner = part(stage, "sample \(name)", to: again) { sample(every: bank.columns) }
      let first = part(stage, "first filter \(name)", to: thinner) { filter(bank.first(channel)) }
      return part(stage, "first delay \(name)", to: first) { delay(bank.columns - 1) }
    }
    let branches = stage.actor("branches", of: Int.self, capacity: 4) { mailbox in
      for value in mailbox { for head in heads { try head.tell(value) } }
      for head in heads { head.stop() }
    }
    for value in input { try branches.tell(value) }
    branches.stop()
    try sink.join()
    return output.withLock { $0 }
  }

  /// The same by whole signals: shifted, convolved, thinned out.
  private static func expected(_ bank: Bank, _ input: [Int]) -> [Int] {
    func shifted(_ signal: [Int]) -> [Int] {
      signal.indices.map { $0 < bank.columns - 1 ? 0 : signal[$0 - (bank.columns - 1)] }
    }
    func convolved(_ signal: [Int], _ coefficients: [Int]) -> [Int] {
      signal.indices.map { time in
        coefficients.indices.reduce(0) { sum, tap in
          time < tap ? sum : sum + coefficients[tap] * signal[time - tap]
        }
      }
    }
    let outputs = (0..<bank.channels).map { channel in
      let filtered = convolved(shifted(input), bank.first(channel))
      let thinned = filtered.enumerated().map { $0 % bank.columns == 0 ? $1 : 0 }
      return convolved(shifted(thinned), bank.second(channel))
    }
    return input.indices.map { time in outputs.reduce(0) { $0 + $1[time] } }
  }

  @Test(arguments: SavinaPlace.all)
  func `filter bank: channels of actors give what convolution gives`(place: SavinaPlace) throws {
    let input = (0..<80).map { $0 % 23 }
    let output = try SavinaStage.run(place) { stage in try Self.filterBank(stage, Bank(), input) }
    #expect(output == Self.expected(Bank(), input))
    #expect(output.contains { $0 != 0 })
  }

  // MARK: - Sieve of Eratosthenes

  private enum Candidate {
    case number(Int)
    /// Goes through the chain with the primes found on the way.
    case collect([Int], Reply<[Int]>)
  }

  /// A link that knows some primes; it makes the next one when it has enough of them.
  private static func sieve(_ stage: SavinaStage, primesEach: Int) -> MessageActor<Candidate> {
    stage.actor("sieve") { mailbox in
      var primes: [Int] = []
      var next: MessageActor<Candidate>?
      for message in mailbox {
        switch message {
        case .number(let number):
          if primes.contains(where: { number.isMultiple(of: $0) }) { continue }
          if primes.count < primesEach {
            primes.append(number)
          } else {
            let link = next ?? sieve(stage, primesEach: primesEach)
            next = link
            try link.tell(.number(number))
          }
        case .collect(let found, let reply):
          if let next {
            try next.tell(.collect(found + primes, reply))
          } else {
            reply(found + primes)
          }
        }
      }
      next?.stop()
    }
  }

  private static func primes(
    _ stage: SavinaStage,
    upTo limit: Int,
    each: Int
  ) throws -> [Int] {
    let first = sieve(stage, primesEach: each)
    for number in 2...limit { try first.tell(.number(number)) }
    defer { first.stop() }
    return try first.ask { .collect([], $0) }.await()
  }

  private static func expectedPrimes(upTo limit: Int) -> [Int] {
    var isCrossed = Array(repeating: false, count: limit + 1)
    return (2...limit).filter { number in
      if isCrossed[number] { return false }
      for multiple in stride(from: 2 * number, through: limit, by: number) {
        isCrossed[multiple] = true
      }
      return true
    }
  }

  @Test(arguments: SavinaPlace.all, [1, 8, 1000])
  func `sieve: a chain that grows while it works finds the primes`(
    place: SavinaPlace,
    each: Int
  ) throws {
    let limit = each == 1 ? 150 : 500
    let (primes, links) = try SavinaStage.run(place) { stage in
      (try Self.primes(stage, upTo: limit, each: each), stage.actorCount)
    }
    #expect(primes == Self.expectedPrimes(upTo: limit))
    #expect(links == (primes.count + each - 1) / each)
  }

  @Test func `sieve: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      let primes = try Self.primes(stage, upTo: 12, each: 2)
      try SavinaFailure.unless(primes == [2, 3, 5, 7, 11], "\(primes)")
    }
  }
}
