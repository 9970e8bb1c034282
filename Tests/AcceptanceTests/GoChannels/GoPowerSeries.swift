// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A fraction in lowest terms, with a positive denominator.
struct Fraction: Equatable, CustomStringConvertible {
  let numerator: Int
  let denominator: Int

  init(_ numerator: Int, _ denominator: Int = 1) {
    var (divisor, rest) = (abs(numerator), abs(denominator))
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    let sign = denominator < 0 ? -1 : 1
    self.numerator = sign * numerator / divisor
    self.denominator = sign * denominator / divisor
  }

  var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }

  static func + (one: Fraction, other: Fraction) -> Fraction {
    let common = Fraction(one.denominator, other.denominator)
    // one.denominator / common.numerator is the greatest common divisor of the two.
    return Fraction(
      one.numerator * common.denominator + other.numerator * common.numerator,
      one.denominator * common.denominator
    )
  }

  static func * (one: Fraction, other: Fraction) -> Fraction {
    let (left, right) = (
      Fraction(one.numerator, other.denominator), Fraction(other.numerator, one.denominator)
    )
    return Fraction(left.numerator * right.numerator, left.denominator * right.denominator)
  }

  static prefix func - (one: Fraction) -> Fraction { Fraction(-one.numerator, one.denominator) }

  var inverse: Fraction { Fraction(denominator, numerator) }
}

/// Power series as processes, after Doug McIlroy's "Squinting at Power Series" (1990).
///
/// A series is asked for its next coefficient over one channel and gives it over another; nothing is
/// computed that nobody asked for. `Item` is what the channels carry: coefficients as they are, or boxed.
final class PowerSeriesWorkshop<Item: Sendable> {
  /// The two channels of a series.
  ///
  /// An item that stands for nil is its end.
  final class Series {
    let demands = Channel<Void>()
    let items = Channel<Item>()
  }

  private let program: GoProgram
  private let wrap: (Fraction?) -> Item
  private let unwrap: (Item) throws -> Fraction?
  // Switch clauses off. One is only sent to, the other only received from: no two clauses meet.
  private let nobodyAsks = Channel<Void>()
  private let nobodyGives = Channel<Item>()

  init(
    _ program: GoProgram,
    wrap: @escaping (Fraction?) -> Item,
    unwrap: @escaping (Item) throws -> Fraction?
  ) {
    self.program = program
    self.wrap = wrap
    self.unwrap = unwrap
  }

  // MARK: - Asking and giving

  /// The next coefficient; nil at the end.
  func next(of series: Series) throws -> Fraction? {
    try series.demands.send(())
    return try unwrap(series.items.receive())
  }

  /// The next so many coefficients, fewer if the series ends.
  func first(_ count: Int, of series: Series) throws -> [Fraction] {
    var coefficients: [Fraction] = []
    while coefficients.count < count, let next = try next(of: series) { coefficients.append(next) }
    return coefficients
  }

  /// The next coefficients of two series, asked for and taken in whatever order they are ready.
  private func next(of one: Series, _ other: Series) throws -> (Fraction?, Fraction?) {
    var demands = (one.demands, other.demands)
    var items = (nobodyGives, nobodyGives)
    var found: (Item?, Item?)
    for _ in 0..<4 {
      try select {
        Send((), to: demands.0) { [nobodyAsks] in
          demands.0 = nobodyAsks
          items.0 = one.items
        }
        Send((), to: demands.1) { [nobodyAsks] in
          demands.1 = nobodyAsks
          items.1 = other.items
        }
        Receive(from: items.0) { [nobodyGives] in
          found.0 = $0
          items.0 = nobodyGives
        }
        Receive(from: items.1) { [nobodyGives] in
          found.1 = $0
          items.1 = nobodyGives
        }
      }
    }
    guard let left = found.0, let right = found.1 else {
      throw GoPanic("a clause that was switched off has won")
    }
    return (try unwrap(left), try unwrap(right))
  }

  private func give(_ coefficient: Fraction?, to series: Series) throws {
    try series.demands.receive()
    try series.items.send(wrap(coefficient))
  }

  private func pass(_ source: Series, to target: Series) throws {
    while true {
      try target.demands.receive()
      try target.items.send(wrap(next(of: source)))
    }
  }

  /// A series that a process of its own gives.
  private func series(_ name: String, _ body: @escaping (Series) throws -> Void) -> Series {
    let series = Series()
    program.go(name) { try body(series) }
    return series
  }

  // MARK: - Two from one

  /// Two copies of a series, which may be read at different paces.
  func twice(_ source: Series) -> (Series, Series) {
    let copies = (Series(), Series())
    copy(source, to: copies)
    return copies
  }

  private func copy(_ source: Series, to copies: (Series, Series)) {
    let turn = Channel<Void>()
    program.go("copy") { [self] in try copyOne(source, copies.0, copies.1, turn) }
    program.go("turn") { try turn.send(()) }
  }

  /// Copies one coefficient, and leaves the next one to a process of its own.
  ///
  /// The newest process serves the copy that is ahead; the ones before it hold a coefficient each for the copy
  /// behind, and get their turn one after the other.
  private func copyOne(
    _ source: Series,
    _ one: Series,
    _ other: Series,
    _ turn: Channel<Void>
  ) throws {
    var (ahead, behind) = (one, other)
    let isAlone = try select {
      Receive(from: one.demands) { _ in false }
      Receive(from: turn) { _ in true }
    }
    if isAlone {
      try select {
        Receive(from: one.demands) { _ in }
        Receive(from: other.demands) { _ in (ahead, behind) = (other, one) }
      }
    }
    let (newAhead, newBehind) = (ahead, behind)
    try source.demands.send(())
    let nextTurn = Channel<Void>()
    program.go("copy") { [self] in try copyOne(source, newAhead, newBehind, nextTurn) }
    let item = try source.items.receive()
    try newAhead.items.send(item)
    if !isAlone { try turn.receive() }
    try newBehind.demands.receive()
    try newBehind.items.send(item)
    try nextTurn.send(())
  }

  // MARK: - Making

  /// c + c x + c x² and so on.
  func constant(_ coefficient: Fraction) -> Series {
    series("constant") { [self] in while true { try give(coefficient, to: $0) } }
  }

  /// c xⁿ, which ends.
  func monomial(_ coefficient: Fraction, _ power: Int) -> Series {
    series("monomial") { [self] in
      if coefficient != Fraction(0) {
        for _ in 0..<power { try give(Fraction(0), to: $0) }
        try give(coefficient, to: $0)
      }
      try give(nil, to: $0)
    }
  }

  /// (1 + x)ᶜ.
  func binomial(_ exponent: Fraction) -> Series {
    series("binomial") { [self] in
      var (coefficient, exponent, index) = (Fraction(1), exponent, 1)
      while exponent != Fraction(0) {
        try give(coefficient, to: $0)
        coefficient = coefficient * exponent * Fraction(1, index)
        exponent = exponent + Fraction(-1)
        index += 1
      }
      try give(coefficient, to: $0)
      try give(nil, to: $0)
    }
  }

  // MARK: - Calculating

  /// U + V.
  func sum(_ one: Series, _ other: Series) -> Series {
    series("sum") { [self] in
      while true {
        try $0.demands.receive()
        switch try next(of: one, other) {
        case (let u?, let v?): try $0.items.send(wrap(u + v))
        case (nil, let v?):
          try $0.items.send(wrap(v))
          try pass(other, to: $0)
        case (let u?, nil):
          try $0.items.send(wrap(u))
          try pass(one, to: $0)
        case (nil, nil):
          try $0.items.send(wrap(nil))
          return
        }
      }
    }
  }

  /// c U.
  func product(_ factor: Fraction, _ source: Series) -> Series {
    series("multiple") { [self] in
      try $0.demands.receive()
      while let u = try next(of: source) {
        try $0.items.send(wrap(factor * u))
        try $0.demands.receive()
      }
      try $0.items.send(wrap(nil))
    }
  }

  /// U - V.
  func difference(_ one: Series, _ other: Series) -> Series {
    sum(one, product(Fraction(-1), other))
  }

  /// xⁿ U.
  func shifted(_ source: Series, by power: Int) -> Series {
    series("shifted") { [self] in
      for _ in 0..<power { try give(Fraction(0), to: $0) }
      try pass(source, to: $0)
    }
  }

  /// c + x U.
  func prefixed(_ constant: Fraction, _ source: Series) -> Series {
    series("prefixed") { [self] in
      try give(constant, to: $0)
      try pass(source, to: $0)
    }
  }

  /// U V = u v + x (u V' + v U') + x² U' V', where U = u + x U' and V = v + x V'.
  func product(_ one: Series, _ other: Series) -> Series {
    series("product") { [self] in
      try $0.demands.receive()
      guard case (let u?, let v?) = try next(of: one, other) else {
        return try $0.items.send(wrap(nil))
      }
      try $0.items.send(wrap(u * v))
      let (ones, others) = (twice(one), twice(other))
      let middle = sum(product(u, others.0), product(v, ones.0))
      try give(next(of: middle), to: $0)
      try pass(sum(middle, product(ones.1, others.1)), to: $0)
    }
  }

  /// dU/dx.
  func derivative(_ source: Series) -> Series {
    series("derivative") { [self] in
      try $0.demands.receive()
      var (power, u) = (0, try next(of: source))
      while u != nil {
        u = try next(of: source)
        power += 1
        guard let u else { break }
        try $0.items.send(wrap(Fraction(power) * u))
        try $0.demands.receive()
      }
      try $0.items.send(wrap(nil))
    }
  }

  /// c + ∫ U dx.
  func integral(_ constant: Fraction, _ source: Series) -> Series {
    series("integral") { [self] in
      try give(constant, to: $0)
      try $0.demands.receive()
      var power = 1
      while let u = try next(of: source) {
        try $0.items.send(wrap(Fraction(1, power) * u))
        try $0.demands.receive()
        power += 1
      }
      try $0.items.send(wrap(nil))
    }
  }

  /// 1 / U: with U = u + x U', it is Z = 1/u - x (U'/u) Z, made out of itself.
  func reciprocal(_ source: Series) -> Series {
    series("reciprocal") { [self] in
      try $0.demands.receive()
      guard let u = try next(of: source) else { throw GoPanic("1 / 0") }
      try $0.items.send(wrap(u.inverse))
      let copies = (Series(), Series())
      copy(
        product(product(-u.inverse, source), prefixed(u.inverse, copies.0)),
        to: copies
      )
      try pass(copies.1, to: $0)
    }
  }

  /// exp U, whose constant coefficient counts as zero: Z = 1 + ∫ Z dU, made out of itself.
  func exponential(_ source: Series) -> Series {
    let copies = (Series(), Series())
    copy(integral(Fraction(1), product(copies.0, derivative(source))), to: copies)
    return copies.1
  }

  /// U(V), where V has no constant coefficient: u + V' U'(V) x.
  func composition(_ outer: Series, _ inner: Series) -> Series {
    series("composition") { [self] in
      let inners = twice(inner)
      try $0.demands.receive()
      let u = try next(of: outer)
      try $0.items.send(wrap(u))
      if u == nil { return }
      guard try next(of: inners.0) != nil else { return try give(nil, to: $0) }
      try pass(product(inners.0, composition(outer, inners.1)), to: $0)
    }
  }

  /// U(c xⁿ).
  func composition(_ source: Series, _ factor: Fraction, _ power: Int) -> Series {
    series("monomial in place of x") { [self] in
      var scale = Fraction(1)
      try $0.demands.receive()
      while let u = try next(of: source) {
        try $0.items.send(wrap(u * scale))
        scale = scale * factor
        for _ in 1..<power { try give(Fraction(0), to: $0) }
        try $0.demands.receive()
      }
      try $0.items.send(wrap(nil))
    }
  }

  /// The sum of the first so many terms at a place.
  func value(of series: Series, at x: Fraction, terms: Int) throws -> Fraction {
    // Horner's rule, from the inside out: deep in the call, a process waits.
    guard terms > 0, let u = try next(of: series) else { return Fraction(0) }
    return try u + x * value(of: series, at: x, terms: terms - 1)
  }
}
