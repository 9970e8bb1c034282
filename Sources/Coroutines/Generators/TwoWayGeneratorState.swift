// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

extension TwoWayGenerator {
  /// The machine, with places for what goes either way.
  ///
  /// Behind the core there are two slots: one for a `Yielded`, as of a generator, and one for a `Sent?`. The first
  /// holds a value from a yield to the return of the call that resumed the body, the second from a call to the
  /// return of the yield where the body stands; a yield that throws finds nothing in it.
  @usableFromInline
  final class TypedState: GeneratorState {
    @exclusivity(unchecked)
    private var work: ((Yield) throws -> Returned)?
    /// The values of `return` calls whose signals may still come out of the body.
    @exclusivity(unchecked)
    @usableFromInline var returns: [(ticket: GeneratorReturn.Ticket, value: Returned?)] = []
    /// What the body has returned, until it is told.
    @exclusivity(unchecked)
    @usableFromInline var returned: Returned?

    @usableFromInline
    init(stackSize: StackSize, _ site: SourceSite, _ body: @escaping (Yield) throws -> Returned) {
      self.work = body
      let end =
        GeneratorCore.offset(of: Sent?.self, behind: Yielded.self) + MemoryLayout<Sent?>.size
      super.init(
        stackSize: stackSize,
        site: site,
        slotSize: end - MemoryLayout<GeneratorCore>.size,
        slotAlignment: max(MemoryLayout<Yielded>.alignment, MemoryLayout<Sent?>.alignment)
      )
    }

    @usableFromInline
    override func run() throws {
      guard let work else { return }
      returned = try work(Yield(self))
    }

    @usableFromInline
    override func dropBody() {
      work = nil
    }

    // MARK: - From outside

    /// Runs the body to its next yield, or its end; see `TwoWayGenerator.next(_:)`.
    ///
    /// `core` is the state's.
    @inlinable @inline(__always)
    static func next(
      _ core: UnsafeMutablePointer<GeneratorCore>,
      _ state: TypedState,
      sending value: Sent?
    ) throws -> GeneratorStep<Yielded, Returned> {
      let now = currentThread()
      guard core.pointee.ready == UInt(bitPattern: now) else {
        return try state.resume(sending: value)
      }
      core.slot(of: Sent?.self, behind: Yielded.self).initialize(to: value)
      core.pointee.ready = 0
      core.noteResumer(now.pointee.fiber)
      // SAFETY: the caller keeps the state alive until the switch returns.
      let arrival = cck_context_switch_arriving(core.caller, core.body, nil)
      guard arrival.argument != nil else {
        state.giveBackStack()
        return try state.outcome()
      }
      // SAFETY: the context that is saved here is the core's first field. A body that has yielded has put a value
      // into the slot.
      let core = UnsafeMutableRawPointer(arrival.context)
        .assumingMemoryBound(to: GeneratorCore.self)
      return .yielded(core.slot(of: Yielded.self).move())
    }

    /// The same, for callers that are not on the fast path.
    @inlinable @inline(never)
    func resume(sending value: Sent?) throws -> GeneratorStep<Yielded, Returned> {
      switch phase {
      case .running: throw refusalToRun()
      case .suspended: core.slot(of: Sent?.self, behind: Yielded.self).initialize(to: value)
      // A yield that would return it there is not.
      case .fresh, .finished: break
      }
      return try step()
    }

    /// Runs a body that is suspended, by having its yield throw.
    @inlinable @inline(never)
    func resume(throwing error: any Error) throws -> GeneratorStep<Yielded, Returned> {
      thrown = error
      return try step()
    }

    @inlinable @inline(__always)
    func step() throws -> GeneratorStep<Yielded, Returned> {
      resumeSlowly()
      // SAFETY: a body that has yielded has put a value into the slot.
      return phase == .suspended ? .yielded(core.slot(of: Yielded.self).move()) : try outcome()
    }

    /// What the body's end says: the first time what it has returned or thrown, then nothing.
    @inlinable @inline(never)
    func outcome() throws -> GeneratorStep<Yielded, Returned> {
      if failure != nil || !returns.isEmpty { return try outcomeOfReturn() }
      let value = returned
      returned = nil
      return .returned(value)
    }

    /// The same, of a body that has thrown, or that was told to return.
    @inlinable @inline(never)
    func outcomeOfReturn() throws -> GeneratorStep<Yielded, Returned> {
      defer { returns = [] }
      if let failure {
        self.failure = nil
        guard let index = indexOfReturn(failure) else { throw failure }
        return .returned(returns[index].value)
      }
      defer { returned = nil }
      return .returned(returned)
    }

    /// Why a body that runs cannot be resumed.
    @usableFromInline @inline(never)
    func refusalToRun() -> any Error { GeneratorError.alreadyRunning(creationSite) }

    // MARK: - From inside

    /// What the yield where the body has been resumed throws, if it throws.
    @usableFromInline @inline(never)
    func takeInterruption() -> (any Error)? {
      if isCancelled { return CancellationError() }
      defer { thrown = nil }
      return thrown
    }

    /// Passes what a yield of this generator has thrown on to the one that it delegates to.
    ///
    /// - Returns: What that one does then.
    /// - Throws: What it throws; `error` if that stands for a return, and it has returned.
    @usableFromInline @inline(never)
    func passOn<Inner>(
      _ error: any Error,
      to inner: TwoWayGenerator<Yielded, Sent, Inner>
    ) throws -> GeneratorStep<Yielded, Inner> {
      guard let index = indexOfReturn(error) else { return try inner.throw(error) }
      let step = try inner.finish(returns[index].value.flatMap { $0 as? Inner })
      guard case .returned(let value) = step else { return step }
      if let value = value.flatMap({ $0 as? Returned }) { replaceReturn(error, by: value) }
      throw error
    }

    // MARK: - Returns

    /// What the yield throws to end the body with `value`.
    @inlinable @inline(never)
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
    @inlinable
    func indexOfReturn(_ error: any Error) -> Int? {
      guard let signal = error as? GeneratorReturn else { return nil }
      return returns.firstIndex { $0.ticket === signal.ticket }
    }

    /// Changes the value of a return that is under way.
    private func replaceReturn(_ signal: any Error, by value: Returned) {
      if let index = indexOfReturn(signal) { returns[index].value = value }
    }
  }
}
