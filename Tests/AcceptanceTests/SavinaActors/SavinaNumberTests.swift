// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Trapezoidal Approximation and Precise Pi: a master adds up what workers compute.
@Suite(.timeLimit(.minutes(30))) struct SavinaNumberTests {
  // MARK: - Trapezoidal Approximation

  private struct Piece {
    let range: ClosedRange<Double>
    let steps: Int
    let area: Reply<Double>
  }

  /// Its integral from 0 to 1 is pi.
  private static func curve(_ x: Double) -> Double { 4 / (1 + x * x) }

  private static func area(under range: ClosedRange<Double>, steps: Int) -> Double {
    let width = (range.upperBound - range.lowerBound) / Double(steps)
    return (0..<steps).reduce(0) { sum, step in
      let left = range.lowerBound + Double(step) * width
      return sum + (curve(left) + curve(left + width)) / 2 * width
    }
  }

  private static func pieces(_ count: Int) -> [ClosedRange<Double>] {
    (0..<count).map { Double($0) / Double(count)...Double($0 + 1) / Double(count) }
  }

  private static func trapezoids(_ stage: SavinaStage, workers: Int, steps: Int) throws -> Double {
    let areas = pieces(workers).map { range in
      stage.actor("worker \(range)", of: Piece.self) { mailbox in
        let piece = try mailbox.receive()
        piece.area(area(under: piece.range, steps: piece.steps))
      }
      .ask { Piece(range: range, steps: steps, area: $0) }
    }
    return try areas.reduce(0) { try $0 + $1.await() }
  }

  @Test(arguments: SavinaPlace.all)
  func `trapezoids: the workers' areas add up to the integral`(place: SavinaPlace) throws {
    let (workers, steps) = (20, 50)
    let area = try SavinaStage.run(place) { stage in
      try Self.trapezoids(stage, workers: workers, steps: steps)
    }
    #expect(area == Self.pieces(workers).reduce(0) { $0 + Self.area(under: $1, steps: steps) })
    // The second derivative is at most 8, so the error is at most 8 / 12 of the width's square.
    let width = 1 / Double(workers * steps)
    #expect(abs(area - .pi) <= 8 * width * width / 12)
  }

  // MARK: - Precise Pi

  private struct Work {
    let index: Int
    let term: Reply<SavinaFixedPoint>
  }

  private static let places = 120

  /// The term of Bailey, Borwein and Plouffe's series.
  private static func term(_ index: Int) -> SavinaFixedPoint {
    let base = 8 * UInt32(index)
    var sum = SavinaFixedPoint(4, places: places).divided(by: base + 1)
    sum.subtract(SavinaFixedPoint(2, places: places).divided(by: base + 4))
    sum.subtract(SavinaFixedPoint(1, places: places).divided(by: base + 5))
    sum.subtract(SavinaFixedPoint(1, places: places).divided(by: base + 6))
    return (0..<index).reduce(sum) { term, _ in term.divided(by: 16) }
  }

  /// Asks each worker for the next term as soon as it has given one, until a term is zero.
  private static func pi(
    _ ask: [(Int) throws -> SavinaFixedPoint]
  ) throws -> (sum: SavinaFixedPoint, terms: Int) {
    var (next, terms, isPreciseEnough) = (0, 0, false)
    var sum = SavinaFixedPoint(0, places: places)
    try withCoroutineScope { scope in
      for ask in ask {
        scope.launch {
          while !isPreciseEnough {
            let index = next
            next += 1
            let term = try ask(index)
            if term.isZero { isPreciseEnough = true }
            sum.add(term)
            terms += 1
          }
        }
      }
    }
    return (sum, terms)
  }

  private static func pi(
    _ stage: SavinaStage,
    workers count: Int
  ) throws -> (sum: SavinaFixedPoint, terms: Int) {
    let workers = (0..<count).map { number in
      stage.actor("worker \(number)", of: Work.self) { mailbox in
        for work in mailbox { work.term(term(work.index)) }
      }
    }
    defer { for worker in workers { worker.stop() } }
    return try pi(
      workers.map { worker in
        { index in try worker.ask { Work(index: index, term: $0) }.await() }
      }
    )
  }

  /// Machin's formula, with the same arithmetic.
  private static func machin() -> SavinaFixedPoint {
    func arctangent(ofOneOver divisor: UInt32, times factor: UInt32) -> SavinaFixedPoint {
      var power = SavinaFixedPoint(factor, places: places).divided(by: divisor)
      var (positive, negative) = (power, SavinaFixedPoint(0, places: places))
      var index: UInt32 = 1
      while !power.isZero {
        power = power.divided(by: divisor * divisor)
        let term = power.divided(by: 2 * index + 1)
        if index.isMultiple(of: 2) { positive.add(term) } else { negative.add(term) }
        index += 1
      }
      positive.subtract(negative)
      return positive
    }
    var pi = arctangent(ofOneOver: 5, times: 16)
    pi.subtract(arctangent(ofOneOver: 239, times: 4))
    return pi
  }

  private static func check(_ sum: SavinaFixedPoint, _ terms: Int) throws {
    let serial = (0..<terms).reduce(into: SavinaFixedPoint(0, places: places)) {
      $0.add(term($1))
    }
    try SavinaFailure.unless(sum == serial, "terms were lost or added twice")
    try SavinaFailure.unless(
      sum.decimal(places) == machin().decimal(places),
      "Machin's formula gives another number"
    )
    try SavinaFailure.unless(
      sum.decimal(50) == "3.14159265358979323846264338327950288419716939937510",
      "that is not pi: \(sum.decimal(50))"
    )
  }

  @Test(arguments: SavinaPlace.all)
  func `precise pi: the workers' terms add up to the digits`(place: SavinaPlace) throws {
    let (sum, terms) = try SavinaStage.run(place) { stage in try Self.pi(stage, workers: 5) }
    try Self.check(sum, terms)
  }

  private struct Exhausted: Error {}

  /// Workers that fail at every fifth term when they first get it, and are started again.
  private static func piWithFailures() throws -> (
    sum: SavinaFixedPoint, terms: Int, failures: Int
  ) {
    let intensity = RestartIntensity(1000, within: .seconds(1))
    return try withSupervisor(intensity: intensity) { supervisor in
      let hasFailed = SavinaGuarded<Set<Int>>([])
      let workers = (0..<3).map { number in
        supervisor.actor(of: Work.self, name: "worker \(number)") { mailbox in
          for work in mailbox {
            let isFirst = hasFailed.withLock { $0.insert(work.index).inserted }
            if isFirst, work.index.isMultiple(of: 5) { throw Exhausted() }
            work.term(term(work.index))
          }
        }
      }
      var failures = 0
      let (sum, terms) = try pi(
        workers.map { worker in
          { index in
            while true {
              do {
                return try worker.ask { Work(index: index, term: $0) }.await()
              } catch is Exhausted { failures += 1 }
            }
          }
        }
      )
      return (sum, terms, failures)
    }
  }

  @Test(arguments: [nil, 1, 2, 3])
  func `precise pi: with workers that fail and are restarted the digits are the same`(
    seed: UInt64?
  ) throws {
    let (sum, terms, failures) =
      if let seed {
        try TestScheduler(order: .random(seed: seed)).run { try Self.piWithFailures() }
      } else {
        try runBlocking { try Self.piWithFailures() }
      }
    try Self.check(sum, terms)
    #expect(failures == (terms + 4) / 5)
  }
}
