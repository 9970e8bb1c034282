// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

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
///
/// Cost: as of a `Generator`; `throw` and `return` take longer.
public final class TwoWayGenerator<Yielded, Sent, Returned> {
  @usableFromInline
  let state: TypedState

  /// The state's: one load less on the way to every value.
  @usableFromInline
  let core: UnsafeMutablePointer<GeneratorCore>

  /// Where it was made.
  public var creationSite: SourceSite { state.creationSite }

  /// A generator.
  ///
  /// - Parameters:
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: Yields values, gets what is sent, and returns a final value.
  @inlinable
  public init(
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (Yield) throws -> Returned
  ) {
    state = TypedState(stackSize: stackSize, SourceSite(file: file, line: line), body)
    core = state.core
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
  @inlinable @inline(__always)
  public func next() throws -> GeneratorStep<Yielded, Returned> {
    defer { withExtendedLifetime(self) {} }
    return try TypedState.next(core, state, sending: nil)
  }

  /// Runs the body to its next yield, or its end.
  ///
  /// The yield where it stands returns `value`.
  ///
  /// - Parameter value: What the yield returns; dropped by the first call, which starts the body.
  /// - Returns: What was yielded or returned; `.returned(nil)` after the end.
  /// - Throws: What the body throws; the generator is then finished.
  @inlinable @inline(__always)
  public func next(_ value: Sent) throws -> GeneratorStep<Yielded, Returned> {
    defer { withExtendedLifetime(self) {} }
    return try TypedState.next(core, state, sending: value)
  }

  /// Makes the yield where the body stands throw.
  ///
  /// - Parameter error: What it throws.
  /// - Returns: What was yielded or returned next, if the body catches it.
  /// - Throws: `error`, if the body does not catch it, has not started or has ended; else what the body
  ///   throws.
  @inlinable
  public func `throw`(_ error: any Error) throws -> GeneratorStep<Yielded, Returned> {
    switch state.phase {
    case .fresh:
      state.unwind()
      throw error
    case .finished: throw error
    case .running: throw state.refusalToRun()
    case .suspended: return try state.resume(throwing: error)
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
  @inlinable
  public func `return`(_ value: Returned) throws -> GeneratorStep<Yielded, Returned> {
    try finish(value)
  }

  /// `return`, with a value or without one.
  @inlinable
  func finish(_ value: Returned?) throws -> GeneratorStep<Yielded, Returned> {
    switch state.phase {
    case .fresh:
      state.unwind()
      return .returned(value)
    case .finished: return .returned(value)
    case .running: throw state.refusalToRun()
    case .suspended: return try state.resume(throwing: state.issueReturn(value))
    }
  }

  /// The body has ended.
  public var isFinished: Bool { state.phase == .finished }

  /// What a two-way generator's body yields with: `let answer = try yield(value)`.
  public struct Yield {
    @usableFromInline let state: TypedState
    @usableFromInline let core: UnsafeMutablePointer<GeneratorCore>

    @inlinable
    init(_ state: TypedState) {
      self.state = state
      core = state.core
    }

    /// Hands a value to whoever asked, and waits for the next call.
    ///
    /// - Parameter value: The value.
    /// - Returns: What the next call sends, or nil if it sends nothing.
    /// - Throws: What `throw(_:)` throws in; `GeneratorReturn`; `CancellationError` when the generator has
    ///   been dropped; `GeneratorError` if the body does not run.
    @inlinable @inline(__always)
    @discardableResult
    public func callAsFunction(@_eagerMove _ value: __owned Yielded) throws -> Sent? {
      // Owned: as a generator's.
      let core = core
      if core.mayYieldAtOnce {
        core.slot(of: Yielded.self).initialize(to: value)
        core.pointee.ready = core.pointee.whenSuspended
        // SAFETY: whoever resumed keeps the state alive, and with it the core, until the body has ended.
        let argument = cck_context_switch_to_partner(core.caller, UnsafeMutableRawPointer(core))
        if argument != nil, let error = state.takeInterruption() { throw error }
      } else {
        // As of a generator: functions that take no element and throw nothing.
        if let refusal = state.refusal() { throw refusal }
        core.slot(of: Yielded.self).initialize(to: value)
        _ = state.suspendSlowly()
        if let error = state.takeInterruption() { throw error }
      }
      // SAFETY: who resumes a body without having its yield throw has put something into the slot.
      return core.slot(of: Sent?.self, behind: Yielded.self).move()
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
    @inlinable
    @discardableResult
    public func all<Inner>(
      of inner: TwoWayGenerator<Yielded, Sent, Inner>
    ) throws -> Inner? {
      var step = try inner.next()
      while case .yielded(let value) = step {
        let sent: Sent?
        do {
          sent = try self(value)
        } catch {
          step = try state.passOn(error, to: inner)
          continue
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
  @usableFromInline
  final class Ticket: Sendable {
    @inlinable
    init() {}
  }

  @usableFromInline let ticket: Ticket

  @inlinable
  init(ticket: Ticket) {
    self.ticket = ticket
  }
}

@available(*, unavailable, message: "A generator belongs to one user at a time.")
extension TwoWayGenerator: Sendable {}
