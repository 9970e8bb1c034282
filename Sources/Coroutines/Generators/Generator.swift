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

  /// Where it was made.
  public let creationSite: SourceSite

  /// A generator.
  ///
  /// - Parameters:
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - body: Produces the values. What it throws ends the sequence and is then in `error`.
  public init(
    stackSize: StackSize = .default,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping (Yield) throws -> Void
  ) {
    creationSite = SourceSite(file: file, line: line)
    state = TypedState(stackSize: stackSize, body)
  }

  deinit {
    state.unwind()
    if let error = state.failure, !state.isObserved, !(error is CancellationError) {
      Coroutine.unobservedErrorHandler(
        UnobservedError(
          error: error,
          coroutine: "a Generator<\(Element.self)>",
          creationSite: creationSite,
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
    state.next()
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
  public final class Iterator: IteratorProtocol {
    @usableFromInline let generator: Generator
    /// The generator's: one load less on the way to every value.
    @usableFromInline let state: TypedState

    @inlinable
    init(_ generator: Generator) {
      self.generator = generator
      self.state = generator.state
    }

    deinit {
      generator.cancel()
    }

    /// The next value; see `Generator.next()`.
    @inlinable @inline(__always)
    public func next() -> Element? {
      state.next()
    }
  }

  /// What a generator's body yields with: `try yield(value)`.
  public struct Yield {
    @usableFromInline let state: TypedState

    @inlinable
    init(_ state: TypedState) {
      self.state = state
    }

    /// Hands a value to whoever asked, and waits until the next one is asked for.
    ///
    /// - Parameter element: The value.
    /// - Throws: `CancellationError` when the generator has been dropped, cancelled, or left by its
    ///   loop; `GeneratorError` if the body does not run.
    @inlinable @inline(__always)
    public func callAsFunction(_ element: Element) throws {
      let state = state
      guard state.phase == .running, !state.isCancelled,
        state.resumer == currentThread().pointee.fiber
      else { throw state.refuseYield() }
      state.slot.initialize(to: element)
      state.phase = .suspended
      _ = cck_context_switch(state.body, state.caller, nil)
      if state.isCancelled { throw CancellationError() }
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
    @usableFromInline let slot: UnsafeMutablePointer<Element>

    @exclusivity(unchecked)
    private var work: ((Yield) throws -> Void)?

    @exclusivity(unchecked)
    var isObserved = false

    init(stackSize: StackSize, _ body: @escaping (Yield) throws -> Void) {
      self.work = body
      self.slot = .allocate(capacity: 1)
      super.init(stackSize: stackSize)
    }

    deinit {
      slot.deallocate()
    }

    /// Runs the body to its next yield; see `Generator.next()`.
    @inlinable @inline(__always)
    func next() -> Element? {
      let now = currentThread()
      if phase == .suspended, thread == now {
        phase = .running
        resumer = now.pointee.fiber
        _ = cck_context_switch(caller, body, nil)
        if phase == .finished { giveBackStack() }
      } else {
        resumeSlowly()
      }
      // SAFETY: a body that has yielded has put a value into the slot.
      return phase == .suspended ? slot.move() : nil
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
