// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `powser1` and `powser2`: power series over channels.
@Suite(.timeLimit(.minutes(30))) struct GoPowerSeriesTests {
  /// What the channels carry.
  enum Carried: CaseIterable {
    /// Coefficients as they are, as in `powser1`.
    case plain
    /// Objects behind a protocol, as in `powser2`.
    case boxed
  }

  private final class Boxed: Term {
    let coefficient: Fraction?
    init(_ coefficient: Fraction?) { self.coefficient = coefficient }
  }

  /// A series and its first coefficients, as the Go programs print them.
  enum Example: String, CaseIterable {
    case ones = "1 1 1 1 1 1 1 1 1 1"
    case twos = "2 2 2 2 2 2 2 2 2 2"
    case sum = "3 3 3 3 3 3 3 3 3 3"
    case difference = "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1"
    case multiple = "-2 -2 -2 -2 -2 -2 -2 -2 -2 -2"
    case derivative = "1 2 3 4 5 6 7 8 9 10"
    case integral = "0 1 1/2 1/3 1/4 1/5 1/6 1/7 1/8 1/9"
    case square = "1 2 3 4 5 6 7 8 9 10 "
    case exponential =
      """
      1 1 3/2 13/6 73/24 167/40 4051/720 37633/5040 43817/4480 4596553/362880 58941091/3628800 \
      274691047/13305600 12470162233/479001600 202976401213/6227020800 1178339174801/29059430400
      """
    case alternating = "1 0 -1 0 1 0 -1 0 1 0"
    case arcTangent = "0 1 0 -1/3 0 1/5 0 -1/7 0 1/9"
    // What the Go programs define and do not run.
    case shifted = "0 0 1 1 1 1"
    case prefixed = "7 1 1 1 1"
    case monomial = "0 0 0 5"
    case cube = "1 3 3 1"
    case squareRoot = "1 1/2 -1/8 1/16 -5/128"
    case reciprocal = "1 -1 0 0 0 0"
    case composition = "1 1 2 4 8 16"
    case finiteSum = "1 4 6 4"
    case finiteProduct = "1 3 3 1 "

    var coefficients: [String] { rawValue.split(separator: " ").map(String.init) }

    /// Asked for so many, the finite ones end.
    var isFinite: Bool { self == .monomial || self == .cube || self == .finiteSum }

    func series<Item: Sendable>(
      _ shop: PowerSeriesWorkshop<Item>
    ) -> PowerSeriesWorkshop<Item>.Series {
      let ones = shop.constant(Fraction(1))
      let twos = shop.constant(Fraction(2))
      switch self {
      case .ones: return ones
      case .twos: return twos
      case .sum: return shop.sum(ones, twos)
      case .difference: return shop.difference(ones, twos)
      case .multiple: return shop.product(Fraction(-1), twos)
      case .derivative: return shop.derivative(ones)
      case .integral: return shop.integral(Fraction(0), ones)
      // One series in both places: its coefficients would be shared out, so each has its own.
      case .square: return shop.product(ones, shop.constant(Fraction(1)))
      case .exponential: return shop.exponential(ones)
      case .alternating: return shop.composition(ones, Fraction(-1), 2)
      case .arcTangent:
        return shop.integral(Fraction(0), shop.composition(ones, Fraction(-1), 2))
      case .shifted: return shop.shifted(ones, by: 2)
      case .prefixed: return shop.prefixed(Fraction(7), ones)
      case .monomial: return shop.monomial(Fraction(5), 3)
      case .cube: return shop.binomial(Fraction(3))
      case .squareRoot: return shop.binomial(Fraction(1, 2))
      case .reciprocal: return shop.reciprocal(ones)
      case .composition:
        return shop.composition(ones, shop.shifted(shop.constant(Fraction(1)), by: 1))
      case .finiteSum:
        let three = shop.sum(shop.monomial(Fraction(3), 1), shop.monomial(Fraction(3), 2))
        let cube = shop.binomial(Fraction(3))
        return shop.sum(
          shop.sum(cube, shop.monomial(Fraction(3), 3)),
          shop.sum(shop.product(Fraction(1, 3), three), shop.monomial(Fraction(2), 2))
        )
      case .finiteProduct:
        return shop.product(shop.binomial(Fraction(2)), shop.binomial(Fraction(1)))
      }
    }
  }

  private static func calculate(
    _ example: Example,
    _ carried: Carried,
    in program: GoProgram
  ) throws -> [String] {
    func ask<Item: Sendable>(_ shop: PowerSeriesWorkshop<Item>) throws -> [String] {
      let count = example.coefficients.count + (example.isFinite ? 1 : 0)
      return try shop.first(count, of: example.series(shop)).map(\.description)
    }
    return switch carried {
    case .plain:
      try ask(PowerSeriesWorkshop<Fraction?>(program, wrap: { $0 }, unwrap: { $0 }))
    case .boxed:
      try ask(
        PowerSeriesWorkshop<any Term>(
          program,
          wrap: { Boxed($0) },
          unwrap: { item in
            guard let boxed = item as? Boxed else { throw GoPanic("another type") }
            return boxed.coefficient
          }
        )
      )
    }
  }

  @Test(arguments: Example.allCases, Carried.allCases)
  func `power series made of processes have their coefficients`(
    example: Example,
    carried: Carried
  ) throws {
    let found = try GoProgram.run { try Self.calculate(example, carried, in: $0) }
    #expect(found == example.coefficients)
  }

  @Test(arguments: [Example.square, .arcTangent, .exponential, .reciprocal], 1...3)
  func `power series have the same coefficients in any order of their processes`(
    example: Example,
    seed: UInt64
  ) throws {
    let found = try GoProgram.run(seed: seed) { try Self.calculate(example, .plain, in: $0) }
    #expect(found == example.coefficients)
  }

  @Test(arguments: 1...20)
  func `copies of a series may be read at different paces`(seed: UInt64) throws {
    // Not explored: a demand and the turn may both be ready, and `select` takes either.
    try GoProgram.run(seed: seed) { program in
      let shop = PowerSeriesWorkshop<Fraction?>(program, wrap: { $0 }, unwrap: { $0 })
      let numbers = shop.derivative(shop.constant(Fraction(1)))
      let (one, other) = shop.twice(numbers)
      let early = try shop.first(3, of: one) + shop.first(1, of: other)
      let late = try shop.first(4, of: other) + shop.first(1, of: one)
      try GoPanic.unless(
        (early + late).map(\.numerator) == [1, 2, 3, 1, 2, 3, 4, 5, 4],
        "the copies are \(early) and \(late)"
      )
    }
  }

  @Test func `a series is summed up by a recursion that waits at each level`() throws {
    try GoProgram.run { program in
      let shop = PowerSeriesWorkshop<Fraction?>(program, wrap: { $0 }, unwrap: { $0 })
      let half = try shop.value(of: shop.constant(Fraction(1)), at: Fraction(1, 2), terms: 20)
      #expect(half == Fraction((1 << 20) - 1, 1 << 19))
      // Two terms, and then the end.
      let ended = try shop.value(of: shop.binomial(Fraction(1)), at: Fraction(3), terms: 20)
      #expect(ended == Fraction(4))
    }
  }
}

/// What the channels carry in `powser2`.
private protocol Term: Sendable {}
