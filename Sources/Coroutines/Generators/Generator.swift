// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// A sequence whose values are produced, one at a time and only when asked for, by ordinary code.
///
/// ```swift
/// let fibonacci = Generator<Int> { yield in
///   var (a, b) = (0, 1)
///   while true {
///     try yield(a)
///     (a, b) = (b, a + b)
///   }
/// }
/// print(Array(fibonacci.prefix(10)))  // [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
/// ```
///
/// The body may yield from any depth: from functions that it calls, from inside `forEach`, from a
/// comparator, from a callback of a C function. It needs no scheduler and no coroutine around it. It
/// never runs ahead: after n calls of `next` it has run to its n-th yield and no further.
///
/// A generator is used up by its first loop: leaving a `for` loop early, cancelling it, or dropping the
/// generator ends the body. The yield where it stands throws `CancellationError`, and its `defer` blocks
/// run. Inside a coroutine the body may park; it then parks the coroutine that asked.
///
/// A generator belongs to one user at a time and is not `Sendable`. One started on an event loop or the
/// main thread must be used there; others may be handed from thread to thread between values.
///
/// Cost: a pooled stack from the first value to the last, two context switches a value.
public final class Generator<Element>: Sequence, IteratorProtocol {
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
  ///   - body: Produces the values. What it throws ends the sequence and is then in `error`.
  @inlinable
  public init(
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (Yield) throws -> Void
  ) {
    state = TypedState(stackSize: stackSize, SourceSite(file: file, line: line), body)
    core = state.core
  }

  deinit {
    state.unwind()
    if let error = state.failure, !state.isObserved, !(error is CancellationError) {
      Coroutine.unobservedErrorHandler(
        UnobservedError(
          error: error,
          coroutine: "a Generator<\(Element.self)>",
          creationSite: creationSite,
          beginning: "made",
          remedy: "Look at the generator's `error` when it has no more values."
        )
      )
    }
  }

  /// Runs the body to its next yield and returns the value; nil when the body has ended.
  ///
  /// Does not throw, as sequences do not: if nil may mean an error, look at `error` then.
  ///
  /// - Returns: The value.
  @inlinable @inline(__always)
  public func next() -> Element? {
    var core = core
    defer { withExtendedLifetime(self) {} }
    return TypedState.next(&core, state)
  }

  /// What the body threw, once it has ended by throwing.
  ///
  /// Nil before that, and after a normal end.
  public var error: (any Error)? {
    state.isObserved = true
    return state.failure
  }

  /// Ends the body: the yield where it stands throws, its `defer` blocks run.
  ///
  /// Further calls of `next` return nil.
  public func cancel() {
    state.unwind()
  }

  /// A view that ends the body when the loop that uses it is left.
  @inlinable
  public func makeIterator() -> Iterator {
    Iterator(self)
  }

  /// Asks a generator for its values, and ends its body when it goes away.
  public struct Iterator: IteratorProtocol {
    /// Ends the body with the last copy of the iterator.
    @usableFromInline
    final class Guardian {
      @usableFromInline let generator: Generator

      @inlinable
      init(_ generator: Generator) { self.generator = generator }

      deinit { generator.cancel() }
    }

    @usableFromInline let guardian: Guardian
    @usableFromInline let state: TypedState
    /// The state's.
    ///
    /// A variable, because each switch back brings it along in a register, where a constant would be
    /// loaded from the stack again.
    @usableFromInline var core: UnsafeMutablePointer<GeneratorCore>

    @inlinable
    init(_ generator: Generator) {
      guardian = Guardian(generator)
      state = generator.state
      core = generator.core
    }

    /// The next value; see `Generator.next()`.
    @inlinable @inline(__always)
    public mutating func next() -> Element? {
      defer { withExtendedLifetime(guardian) {} }
      return TypedState.next(&core, state)
    }
  }

  /// What a generator's body yields with: `try yield(value)`.
  public struct Yield {
    @usableFromInline let state: TypedState
    @usableFromInline let core: UnsafeMutablePointer<GeneratorCore>

    @inlinable
    init(_ state: TypedState) {
      self.state = state
      core = state.core
    }

    /// Hands a value to whoever asked, and waits until the next one is asked for.
    ///
    /// - Parameter element: The value.
    /// - Throws: `CancellationError` when the generator has been dropped, cancelled, or left by its
    ///   loop; `GeneratorError` if the body does not run.
    @inlinable @inline(__always)
    public func callAsFunction(@_eagerMove _ element: __owned Element) throws {
      // Owned, and free to move early: what was made for this yield is moved into the slot. A borrowed one is copied, and
      // lives on until the switch is back. (With `consuming`, which does the same, the optimiser of Swift 6.3 stops with an
      // error of its own for callers that have copied a field out of what they consume.)
      let core = core
      guard core.mayYieldAtOnce else {
        // Functions that take no element and throw nothing: an element would be put into memory for them, and
        // the error register be saved around each switch, on the fast way, too.
        if let refusal = state.refusal() { throw refusal }
        core.slot(of: Element.self).initialize(to: element)
        if state.suspendSlowly() { throw CancellationError() }
        return
      }
      core.slot(of: Element.self).initialize(to: element)
      core.pointee.ready = core.pointee.whenSuspended
      // SAFETY: whoever resumed keeps the state alive, and with it the core, until the body has ended.
      let argument = cck_context_switch_to_partner(core.caller, UnsafeMutableRawPointer(core))
      if argument != nil { throw CancellationError() }
    }

    /// Yields all values of another sequence, one by one as they are asked for.
    ///
    /// - Parameter elements: The values; another generator, for instance.
    /// - Throws: As a single yield; what the body of a generator among `elements` threw.
    @inlinable
    public func all<Elements: Sequence>(of elements: Elements) throws
    where Elements.Element == Element {
      for element in elements { try self(element) }
      if let generator = elements as? Generator, let error = generator.error { throw error }
    }
  }

  /// The machine, with a place for a value.
  @usableFromInline
  final class TypedState: GeneratorState {
    @exclusivity(unchecked)
    @usableFromInline var work: ((Yield) throws -> Void)?

    @exclusivity(unchecked)
    @usableFromInline var isObserved = false

    @inlinable
    init(stackSize: StackSize, _ site: SourceSite, _ body: @escaping (Yield) throws -> Void) {
      self.work = body
      super.init(
        stackSize: stackSize,
        site: site,
        slotSize: MemoryLayout<Element>.size,
        slotAlignment: MemoryLayout<Element>.alignment
      )
    }

    /// Runs the body to its next yield; see `Generator.next()`.
    ///
    /// `core` is the state's, before and after.
    @inlinable @inline(__always)
    static func next(
      _ core: inout UnsafeMutablePointer<GeneratorCore>,
      _ state: TypedState
    ) -> Element? {
      let now = currentThread()
      guard core.pointee.ready == UInt(bitPattern: now) else { return state.nextSlowly() }
      core.pointee.ready = 0
      core.noteResumer(now.pointee.fiber)
      // SAFETY: the caller keeps the state alive until the switch returns.
      let arrival = cck_context_switch_arriving(core.caller, core.body, nil)
      // SAFETY: the context that is saved here is the core's first field.
      core = UnsafeMutableRawPointer(arrival.context).assumingMemoryBound(to: GeneratorCore.self)
      guard arrival.argument != nil else {
        state.giveBackStack()
        return nil
      }
      // SAFETY: a body that has yielded has put a value into the slot.
      return core.slot(of: Element.self).move()
    }

    @usableFromInline @inline(never)
    func nextSlowly() -> Element? {
      resumeSlowly()
      // SAFETY: as above.
      return phase == .suspended ? core.slot(of: Element.self).move() : nil
    }

    @usableFromInline
    override func run() throws {
      guard let work else { return }
      try work(Yield(self))
    }

    @usableFromInline
    override func dropBody() {
      work = nil
    }
  }
}

@available(*, unavailable, message: "A generator belongs to one user at a time.")
extension Generator: Sendable {}
