// SPDX-License-Identifier: Apache-2.0

/// A generator that values can be sent into: the generator of ECMAScript.
///
/// ```swift
/// let greeter = TwoWayGenerator<String, String, Void> { yield in
///   let age = try yield("your age?")
///   let name = try yield("your name?")
///   print("Hello, \(name ?? "?"), \(age ?? "?")")
/// }
/// _ = try greeter.next()          // .yielded("your age?")
/// _ = try greeter.next("28")      // .yielded("your name?")
/// _ = try greeter.next("LiLei")   // prints; .returned(())
/// ```
///
/// The semantics are those of ECMAScript's generator objects (ECMA-262, §27.5): the value of the first
/// `next` has no receiver and is dropped; `throw(_:)` and `return(_:)` on a generator that has not
/// started end it without running its body; a body may catch what is thrown into it, and yield again.
/// A generator that its own body asks, or somebody else while the body runs, throws
/// `GeneratorError.alreadyRunning` and goes on undisturbed.
/// Like `Generator` it is lazy, needs no scheduler, unwinds when dropped, and belongs to one user at a
/// time.
public final class TwoWayGenerator<Yielded, Sent, Returned> {
  private let state: TypedState

  /// Where it was made.
  public var creationSite: SourceSite { state.creationSite }

  /// A generator.
  ///
  /// - Parameters:
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: Yields values, gets what is sent, and returns a final value.
  public init(
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (Yield) throws -> Returned
  ) {
    state = TypedState(stackSize: stackSize, SourceSite(file: file, line: line), body)
  }

  deinit {
    state.unwind()
  }

  /// Runs the body to its next yield, or its end.
  ///
  /// The yield where it stands returns nil.
  ///
  /// - Returns: What was yielded or returned; `.returned(nil)` after the end.
  /// - Throws: What the body throws; the generator is then finished.
  public func next() throws -> GeneratorStep<Yielded, Returned> {
    try resume(sending: nil, throwing: nil)
  }

  /// Runs the body to its next yield, or its end.
  ///
  /// The yield where it stands returns `value`.
  ///
  /// - Parameter value: What the yield returns; dropped by the first call, which starts the body.
  /// - Returns: What was yielded or returned; `.returned(nil)` after the end.
  /// - Throws: What the body throws; the generator is then finished.
  public func next(_ value: Sent) throws -> GeneratorStep<Yielded, Returned> {
    try resume(sending: value, throwing: nil)
  }

  /// Makes the yield where the body stands throw.
  ///
  /// - Parameter error: What it throws.
  /// - Returns: What was yielded or returned next, if the body catches it.
  /// - Throws: `error`, if the body does not catch it, has not started or has ended; else what the body
  ///   throws.
  public func `throw`(_ error: any Error) throws -> GeneratorStep<Yielded, Returned> {
    switch state.phase {
    case .fresh:
      state.unwind()
      throw error
    case .finished: throw error
    case .running: throw GeneratorError.alreadyRunning(state.creationSite)
    case .suspended: return try resume(sending: nil, throwing: error)
    }
  }

  /// Makes the body return `value` from the yield where it stands; its `defer` blocks run.
  ///
  /// The yield throws a `GeneratorReturn`, which a body should let through; one that catches it may
  /// yield again, or return something else. If it yields first and lets the `GeneratorReturn` through
  /// later, the call that is then waiting gets `.returned(value)`.
  ///
  /// - Parameter value: What to return.
  /// - Returns: `.returned(value)`, unless the body does otherwise.
  /// - Throws: What the body throws while it unwinds.
  public func `return`(_ value: Returned) throws -> GeneratorStep<Yielded, Returned> {
    try finish(value)
  }

  /// `return`, with a value or without one.
  private func finish(_ value: Returned?) throws -> GeneratorStep<Yielded, Returned> {
    switch state.phase {
    case .fresh:
      state.unwind()
      return .returned(value)
    case .finished: return .returned(value)
    case .running: throw GeneratorError.alreadyRunning(state.creationSite)
    case .suspended: return try resume(sending: nil, throwing: state.issueReturn(value))
    }
  }

  /// The body has ended.
  public var isFinished: Bool { state.phase == .finished }

  private func resume(
    sending value: Sent?,
    throwing error: (any Error)?
  ) throws -> GeneratorStep<Yielded, Returned> {
    guard state.phase != .running else { throw GeneratorError.alreadyRunning(state.creationSite) }
    if state.phase != .fresh { state.sent = value }
    state.thrown = error
    state.resumeSlowly()
    if state.phase == .suspended, let yielded = state.takeYielded() { return .yielded(yielded) }
    defer { state.returns = [] }
    if let failure = state.failure {
      state.failure = nil
      guard let index = state.indexOfReturn(failure) else { throw failure }
      return .returned(state.returns[index].value)
    }
    defer { state.returned = nil }
    return .returned(state.returned)
  }

  /// What a two-way generator's body yields with: `let answer = try yield(value)`.
  public struct Yield {
    fileprivate let state: TypedState

    /// Hands a value to whoever asked, and waits for the next call.
    ///
    /// - Parameter value: The value.
    /// - Returns: What the next call sends, or nil if it sends nothing.
    /// - Throws: What `throw(_:)` throws in; `GeneratorReturn`; `CancellationError` when the generator has
    ///   been dropped; `GeneratorError` if the body does not run.
    @discardableResult
    public func callAsFunction(_ value: Yielded) throws -> Sent? {
      try state.yield(value)
    }

    /// Yields all that another generator yields, passes on what is sent and thrown in, and returns what
    /// it returns: `yield*`.
    ///
    /// A `return` of the outer generator returns the inner one first, with the same value if its type
    /// allows. What the inner one then returns is what the outer one returns. If the inner one yields
    /// instead, the outer one does, and goes on after the delegation when the inner one has ended.
    ///
    /// - Parameter inner: The generator.
    /// - Returns: What `inner` returned; nil if it had ended before.
    /// - Throws: What `inner` throws.
    @discardableResult
    public func all<Inner>(
      of inner: TwoWayGenerator<Yielded, Sent, Inner>
    ) throws -> Inner? {
      var step = try inner.next()
      while case .yielded(let value) = step {
        let sent: Sent?
        do {
          sent = try state.yield(value)
        } catch {
          guard let index = state.indexOfReturn(error) else {
            step = try inner.throw(error)
            continue
          }
          step = try inner.finish(state.returns[index].value.flatMap { $0 as? Inner })
          guard case .returned(let value) = step else { continue }
          if let value = value.flatMap({ $0 as? Returned }) {
            state.replaceReturn(error, by: value)
          }
          throw error
        }
        step = if let sent { try inner.next(sent) } else { try inner.next() }
      }
      if case .returned(let value) = step { return value }
      return nil
    }
  }

  /// Ends the body: the yield where it stands throws `CancellationError`.
  ///
  /// If the body throws something else while it unwinds, the next call of `next` throws that, once.
  public func cancel() {
    let wasSuspended = state.phase == .suspended
    state.unwind()
    if wasSuspended, state.failure is CancellationError { state.failure = nil }
  }

  fileprivate final class TypedState: GeneratorState {
    var sent: Sent?
    var returned: Returned?
    /// The values of `return` calls whose signals may still come out of the body.
    var returns: [(ticket: GeneratorReturn.Ticket, value: Returned?)] = []
    private var yielded: Yielded?
    private var work: ((Yield) throws -> Returned)?

    init(stackSize: StackSize, _ site: SourceSite, _ body: @escaping (Yield) throws -> Returned) {
      self.work = body
      super.init(stackSize: stackSize, site: site, slotSize: 0, slotAlignment: 1)
    }

    override func run() throws {
      guard let work else { return }
      returned = try work(Yield(state: self))
    }

    override func dropBody() {
      work = nil
    }

    /// What the yield throws to end the body with `value`.
    func issueReturn(_ value: Returned?) -> GeneratorReturn {
      // A signal that the body has swallowed leaves its ticket here alone.
      for index in returns.indices.reversed()
      where isKnownUniquelyReferenced(&returns[index].ticket) {
        returns.remove(at: index)
      }
      let ticket = GeneratorReturn.Ticket()
      returns.append((ticket, value))
      return GeneratorReturn(ticket: ticket)
    }

    /// Which of this generator's returns an error stands for, if it stands for one.
    func indexOfReturn(_ error: any Error) -> Int? {
      guard let signal = error as? GeneratorReturn else { return nil }
      return returns.firstIndex { $0.ticket === signal.ticket }
    }

    /// Changes the value of a return that is under way.
    func replaceReturn(_ signal: any Error, by value: Returned) {
      if let index = indexOfReturn(signal) { returns[index].value = value }
    }

    func takeYielded() -> Yielded? {
      defer { yielded = nil }
      return yielded
    }

    func yield(_ value: Yielded) throws -> Sent? {
      if let refusal = refusal() { throw refusal }
      yielded = value
      if suspendSlowly() { throw CancellationError() }
      if let thrown {
        self.thrown = nil
        throw thrown
      }
      defer { sent = nil }
      return sent
    }
  }
}

/// What a two-way generator did when asked.
public enum GeneratorStep<Yielded, Returned> {
  /// It yielded a value.
  case yielded(Yielded)
  /// It has ended: the value the first time, nil from then on.
  case returned(Returned?)

  /// It has ended.
  public var isDone: Bool {
    if case .returned = self { true } else { false }
  }
}

extension GeneratorStep: Equatable where Yielded: Equatable, Returned: Equatable {}

/// What a yield throws when `TwoWayGenerator.return(_:)` ends the body there.
public struct GeneratorReturn: Error, Sendable {
  /// Says which call it belongs to.
  fileprivate final class Ticket: Sendable {}

  fileprivate let ticket: Ticket
}

@available(*, unavailable, message: "A generator belongs to one user at a time.")
extension TwoWayGenerator: Sendable {}
