// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
import CoroutineKernel

/// The machine under a generator: a stack of its own that runs only while somebody asks for a value.
///
/// ```
///          start             yield
///  fresh ────────▶ running ────────▶ suspended
///                     ▲  │ end           │
///                     │  ▼               │ resume
///                     │ finished         │
///                     └──────────────────┘
/// ```
///
/// Invariants:
/// - G1. Whoever resumes waits on its own stack until the body yields or ends, so exactly one of the two
///   runs. A body that parks its coroutine parks both.
/// - G2. A stack is given back only after its body has ended: unwinding comes first, because open
///   accesses and retained objects live on it.
/// - G3. A started one is suspended exactly while `core.ready` is not 0.
/// - G4. A pinned generator is resumed on the thread that started it only. One that is not carries its
///   exclusivity records from thread to thread.
@usableFromInline
package class GeneratorState {
  @usableFromInline
  package enum Phase: UInt8, Sendable {
    case fresh
    case running
    case suspended
    case finished
  }

  /// What the two sides touch at every value, in memory of its own.
  @exclusivity(unchecked)
  @usableFromInline
  package final let core: UnsafeMutablePointer<GeneratorCore>

  /// The body's stack, from its start to its end.
  @exclusivity(unchecked)
  @usableFromInline
  package final var stack: UnsafeMutablePointer<cck_stack_t>?

  /// How far it has come; see `phase`.
  @exclusivity(unchecked)
  private final var stage = Stage.fresh

  private enum Stage: UInt8 {
    case fresh
    case started
    case finished
  }

  /// The thread that a pinned generator belongs to; nil before the start and if it is not pinned.
  @exclusivity(unchecked)
  private final var thread: ThreadRecord?

  /// What the yield where the body stands throws, instead of returning.
  @exclusivity(unchecked)
  @usableFromInline
  package final var thrown: (any Error)?

  /// What the body threw.
  @exclusivity(unchecked)
  @usableFromInline
  package final var failure: (any Error)?

  /// The generator has been dropped or cancelled: every yield throws.
  @exclusivity(unchecked)
  @usableFromInline
  package final var isCancelled = false

  /// Yields refused since then.
  @exclusivity(unchecked)
  private final var refusals = 0

  @exclusivity(unchecked)
  private final let stackSize: StackSize

  /// Where the generator was made.
  @exclusivity(unchecked)
  package final let creationSite: SourceSite

  /// A generator that has not started.
  ///
  /// - Parameters:
  ///   - stackSize: Of its stack.
  ///   - site: Where the generator was made.
  ///   - slotSize: Bytes for values, behind the core.
  ///   - slotAlignment: Of the values' types, the largest.
  @usableFromInline
  package init(stackSize: StackSize, site: SourceSite, slotSize: Int, slotAlignment: Int) {
    self.stackSize = stackSize
    creationSite = site
    core = GeneratorCore.allocate(slotSize: slotSize, slotAlignment: slotAlignment)
  }

  deinit {
    UnsafeMutableRawPointer(core).deallocate()
  }

  /// Where it is in the diagram above.
  @usableFromInline
  package final var phase: Phase {
    switch stage {
    case .fresh: .fresh
    case .started: core.pointee.ready == 0 ? .running : .suspended
    case .finished: .finished
    }
  }

  /// Runs the body, on its own stack.
  @usableFromInline
  package func run() throws {}

  /// Lets go of a body that has ended, or will not run.
  @usableFromInline
  package func dropBody() {}

  // MARK: - From outside

  /// Runs the body to its next yield, or its end, for callers that are not on the fast path: the first
  /// time, from any thread if it is not pinned, and to report misuse.
  @usableFromInline @inline(never)
  package final func resumeSlowly() {
    switch phase {
    case .finished: return
    case .running:
      fatalError(
        "The generator made at \(creationSite) was asked for a value by its own body, by something that "
          + "its body calls, or by another coroutine while its body runs. A body cannot wait for itself: take "
          + "the value from another generator, or ask later."
      )
    case .fresh: start()
    case .suspended: break
    }
    let now = currentThread()
    if let thread, thread != now {
      fatalError(
        "The generator made at \(creationSite) started on an event loop or on the main thread, and was used "
          + "on another thread. Use it where it started, or make and start it inside a Swift task or on a dispatch queue: "
          + "such generators may change threads."
      )
    }
    guard let stack else { fatalError("a generator lost its stack") }
    // The first switch brings the body's function its state, the others bring the order to throw, or nil.
    let argument =
      stage == .fresh || isCancelled || thrown != nil
      ? Unmanaged.passUnretained(self).toOpaque() : nil
    stage = .started
    core.pointee.ready = 0
    core.noteResumer(now.pointee.fiber)
    // SAFETY: the caller keeps the state alive until the switch returns, and its owner until the body has ended.
    if thread == nil {
      cck_exclusivity_enter(exclusivity(stack))
      _ = cck_context_switch(core.caller, core.body, argument)
      cck_exclusivity_exit(exclusivity(stack))
    } else {
      _ = cck_context_switch(core.caller, core.body, argument)
    }
    if stage == .finished { giveBackStack() }
  }

  private final func start() {
    let now = currentThread()
    cck_overflow_install(now)
    guard let stack = cck_stack_acquire(now, stackSize.stackClass) else {
      let who = "the generator made at \(creationSite)"
      fatalError("\(CoroutineError.noMemoryForStack(bytes: stackSize.byteCount, who))")
    }
    stack.pointee.identifier = 0
    self.stack = stack
    if Self.isPinnedHere(now) { thread = now }
    core.start(on: stack, pinnedTo: thread)
    if Census.isOpen { Census.begins(self, now) }
    cck_context_make(core.body, stack.pointee.low, stack, runGenerator)
  }

  /// On event loops and on the main thread outside tasks, code stays on its thread.
  private static func isPinnedHere(_ thread: ThreadRecord) -> Bool {
    if let home = thread.currentHome { return !home.pointee.migrates }
    return cck_thread_is_main() != 0 && withUnsafeCurrentTask { $0 == nil }
  }

  @usableFromInline
  package final func giveBackStack() {
    guard let stack else { return }
    self.stack = nil
    dropBody()
    if Census.isOpen { Census.ends(self) }
    cck_context_retire(core.body)
    cck_stack_release(currentThread(), stack)
  }

  /// Unwinds the body if it is suspended: its yield throws, its `defer` blocks run.
  @usableFromInline
  package final func unwind() {
    isCancelled = true
    core.endFastYields()
    switch phase {
    case .suspended:
      // With every yield throwing, the body can only end.
      resumeSlowly()
    case .fresh:
      stage = .finished
      dropBody()
    case .running, .finished: break
    }
  }

  // MARK: - From inside

  /// The body runs, and it is the body that asks.
  private final var canYield: Bool {
    phase == .running && !isCancelled && core.pointee.resumer == currentThread().pointee.fiber
  }

  /// What a yield here and now is refused with, if it is.
  @usableFromInline @inline(never)
  package final func refusal() -> (any Error)? { canYield ? nil : refuseYield() }

  /// Gives the processor back to whoever resumed the body, until the next time.
  ///
  /// - Returns: Whether the yield is to throw `CancellationError`.
  @usableFromInline @inline(never)
  package final func suspendSlowly() -> Bool {
    core.pointee.ready = core.pointee.whenSuspended
    _ = cck_context_switch(core.body, core.caller, UnsafeMutableRawPointer(core))
    return isCancelled
  }

  /// The body has returned or thrown.
  fileprivate final func end() {
    stage = .finished
    core.endFastYields()
  }

  /// Why a yield is not possible here and now.
  private final func refuseYield() -> any Error {
    switch phase {
    case .running where isCancelled:
      refusals += 1
      demand(
        refusals < 1_000_000,
        "The generator made at \(creationSite) was dropped, but its body goes on: it has caught the error "
          + "that its yield throws a million times. Let that error end the body."
      )
      return CancellationError()
    case .finished: return GeneratorError.finished(creationSite)
    default: return GeneratorError.yieldedElsewhere(creationSite)
    }
  }
}

/// The first function on a generator's stack.
///
/// It holds no reference, since it never returns: what is retained here would be retained for ever.
private let runGenerator: cck_entry_t = { argument in
  // SAFETY: `resumeSlowly` passes the state with the first switch to this stack.
  let (own, caller) = runBody(argument.unsafelyUnwrapped)
  cck_context_leave(own, caller, nil)
}

/// A function of its own, so that nothing of it is alive when the stack is left.
@inline(never)
private func runBody(
  _ argument: UnsafeMutableRawPointer
) -> (own: UnsafeMutablePointer<cck_context_t>, caller: UnsafeMutablePointer<cck_context_t>) {
  // SAFETY: `resumeSlowly` passes the state, and its caller keeps it alive until the body has ended.
  let state = Unmanaged<GeneratorState>.fromOpaque(argument).takeUnretainedValue()
  do {
    try state.run()
  } catch {
    state.failure = error
  }
  state.end()
  return (state.core.body, state.core.caller)
}
