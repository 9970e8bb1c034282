// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel
import Synchronization

/// What a scheduler calls to run a coroutine's body.
@usableFromInline
let runCoroutine: KernelFunction = { fiber in
  let object = fiber.assumingMemoryBound(to: Fiber.self).owner
  // SAFETY: the scheduler passes the fiber that it runs, whose second reference is the scheduler's.
  Unmanaged<Coroutine>.fromOpaque(object)._withUnsafeGuaranteedRef { Coroutine.live($0) }
}

extension Coroutine {
  /// Runs the body, then everything that its end entails, and ends the scheduler's reference: the one that `make` made,
  /// after which the fiber may be gone.
  ///
  /// Runs on the coroutine's own stack. One function with one frame, and of no object: a register would have to be
  /// kept for that.
  @inline(never)
  fileprivate static func live(_ coroutine: Coroutine) {
    if coroutine.extras != nil { coroutine.fiber.pointee.stack?.pointee.label = coroutine.label }
    coroutine.runBody()
    coroutine.end()
    // Nothing touches the coroutine any more.
    SpareCoroutines.release(Unmanaged.passUnretained(coroutine).toOpaque())
  }

  /// Runs the body and keeps its result.
  ///
  /// What the body holds on to is released with it, as soon as it has ended, whoever keeps the
  /// handle.
  @inline(__always)
  private final func runBody() {
    preemptionPoint(.flag, fiber)
    if cancellationRequest.isSet {
      // Cancelled before it started: the body does not run at all.
      dropWork()
      fiber.cell.store(failure: CancellationError())
      return
    }
    do {
      try perform(runs: true)
    } catch {
      fiber.cell.store(failure: error)
    }
  }

  /// Tells everyone that the body has ended.
  ///
  /// Runs with the turn of the home scheduler.
  @inline(__always)
  private final func end() {
    if extras != nil || fiber.cell.pointee.content == .error || cancellationRequest.isSet {
      endUnusually()
    }
    if isScoped { endInScope() } else { end(in: nil) }
  }

  /// A function of its own, so that others keep no scope in mind.
  @inline(never)
  private final func endInScope() { end(in: leaveScope()) }

  @inline(__always)
  private final func end(in scope: WaitingScope?) {
    let fiber = fiber
    let home = fiber.pointee.home
    FiberList.remove(fiber)
    // One of a scope stays in the registry until the scope has been told.
    if scope?.isHere ?? true, fiber.pointee.registry != nil { RemoteChildren.leave(fiber) }
    if fiber.pointee.children.first != nil { FiberList.move(fiber.children, to: nil) }
    if fiber.pointee.locals != nil {
      // Their values may end here, in code of the user's, whose hooks are to go in line (K2).
      fiber.pointee.phase.store(.ending, ordering: .releasing)
      CoroutineLocals.drop(fiber)
    }
    if fiber.pointee.locksByHand != 0 { LocksByHand.holderEnds(self) }
    if let stack = fiber.pointee.stack {
      cck_stack_occupy(stack, nil)
      fiber.pointee.stack = nil
    }

    let thread = currentThread()
    wakeJoiners(thread)

    if let scope { tell(scope) }
    // From here on nothing may take this for the running coroutine: it may be freed any moment.
    thread.runningFiber = nil
    home.noteEnd()
    if !home.pointee.isPlain {
      if isTracing { Recorder.ends(self, thread) }
      home.withCore { $0.coroutineEnded(self) }
    }
  }

  /// Makes the end seen, and wakes those who wait for it.
  @inline(__always)
  private final func wakeJoiners(_ thread: ThreadRecord) {
    let (lock, joiners) = (fiber.joinLock, fiber.joiners)
    if lock.acquireIfBiased(thread) {
      // Of a coroutine that waits there is nothing more to ask.
      if joiners.pointee.first?.pointee.fiber != nil || joiners.pointee.isEmpty {
        let wakes = finish()
        lock.release(CCK_LOCK_TAKEN_BIASED)
        return wakes.resumeAll()
      }
      lock.release(CCK_LOCK_TAKEN_BIASED)
    }
    wakeJoinersSlowly(thread)
  }

  /// The same, whoever has the lock, and whatever is in line.
  @inline(never)
  private final func wakeJoinersSlowly(_ thread: ThreadRecord) {
    let lock = fiber.joinLock
    var mode = lock.acquire(thread)
    callHooksFromElsewhere(&mode)
    preemptionPoint(.flag, fiber)
    let wakes = finish()
    lock.release(mode)
    wakes.resumeAll()
  }

  /// What is to be done under `joinLock`.
  @inline(__always)
  private final func finish() -> ResumeList {
    var wakes = ResumeList()
    fiber.pointee.phase.store(.dead, ordering: .releasing)
    wakes.claimAll(of: &fiber.pointee.joiners, .delivered)
    return wakes
  }

  /// Tells the scope that waits for it how it ended: it looks at the error.
  final func tell(_ scope: WaitingScope) {
    let failure = failure
    if failure != nil { isObserved.set() }
    scope.note(endOf: fiber, failure)
  }

  /// What the end of few coroutines entails, before their joiners go on.
  @inline(never)
  private final func endUnusually() {
    let home = fiber.pointee.home
    if let extras, !extras.finishHooks.isEmpty {
      let hooks = extras.finishHooks
      extras.finishHooks = []
      fiber.pointee.phase.store(.ending, ordering: .releasing)
      for hook in hooks { hook() }
    }
    if fiber.cell.pointee.content == .error, !wasCancelled {
      let core = home.core
      if core.collectsUnobservedErrors { requiredExtras.collector = core }
    }
    // A cancellation from elsewhere is carried out by a message, which this end may have overtaken.
    if cancellationRequest.isSet { CancellationScope.cancelChildren(of: fiber) }
    // Whoever has only launched children elsewhere is then as good for the next launch as any other.
    if let extras, extras.isSpent { self.extras = nil }
  }

  /// Ends a coroutine that cannot start for lack of memory.
  ///
  /// Runs with the turn of its home.
  package static func failToStart(_ fiber: UnsafeMutablePointer<Fiber>) {
    // SAFETY: takes over the retain that `make` made.
    let coroutine = Unmanaged<Coroutine>.fromOpaque(fiber.owner).takeRetainedValue()
    coroutine.dropWork()
    coroutine.fiber.cell.store(
      failure: CoroutineError.noMemoryForStack(
        bytes: StackSize(stackClass: fiber.pointee.stackClass).byteCount,
        "\(coroutine), launched at \(coroutine.creationSite)"
      )
    )
    // As in `enqueue`: the end goes on by address.
    withExtendedLifetime(coroutine) { coroutine.end() }
  }

  /// Called with errors that nobody waits for: of coroutines without a scope or a `runBlocking` around
  /// them, whose handles were dropped before anyone called `join` or `value`, and of those inside a `runBlocking`
  /// that throws another error.
  ///
  /// The default prints the error, the coroutine and where it was launched to standard error. A
  /// `CancellationError` is no failure and is not reported. Called on the thread where the last
  /// reference to the coroutine went away; must not park.
  public static var unobservedErrorHandler: @Sendable (UnobservedError) -> Void {
    get { UnobservedError.handler }
    set { UnobservedError.handler = newValue }
  }

  /// The body, which has ended with an error, has ended with a `CancellationError`: nobody need look at that.
  ///
  /// A comparison of types, which is all that it takes, is a fraction of a cast. (A structure of Swift's has no subclass,
  /// and no error of Foundation's becomes one.)
  private final var wasCancelled: Bool {
    guard let failure else { return false }
    return type(of: failure) == CancellationError.self
  }

  /// Sends an error that nobody has looked at to where it can be seen.
  final func reportUnobservedFailure() {
    guard !isObserved.isSet, !wasCancelled, let failure else { return }
    let thread = currentThread()
    let report = UnobservedError(
      error: failure,
      coroutine: "\(self)",
      creationSite: creationSite,
      beginning: "launched",
      remedy: "Call `join()` or `value()` on the handle, or launch it in a scope."
    )
    // The loop that it ran on may be over, and its home another's by now: so compare the scheduler.
    if let collector = extras?.collector, let home = thread.currentHome, home.core === collector {
      // A test fails with the first; an explorer would print the others in each of its runs.
      if collector.unobservedError == nil {
        collector.unobservedError = report
      } else if collector is EventLoop {
        Coroutine.unobservedErrorHandler(report)
      }
    } else {
      Coroutine.unobservedErrorHandler(report)
    }
  }
}

/// An error that a coroutine threw and nobody waited for.
public struct UnobservedError: Sendable, CustomStringConvertible {
  /// What was thrown.
  public let error: any Error
  /// The coroutine, or the generator, described.
  public let coroutine: String
  /// Where it was launched or made.
  public let creationSite: SourceSite
  /// What happened at that place: `launched`.
  let beginning: String
  /// What to do about it.
  let remedy: String

  /// What happened, to what, and what to do.
  public var description: String {
    let what = "\(error)"
    // Many an error is a sentence.
    let end = what.last.map { ".!?".contains($0) } == true ? "" : "."
    return "\(coroutine), \(beginning) at \(creationSite), threw an error that nobody looked at: "
      + "\(what)\(end) \(remedy)"
  }

  /// Guards `storedHandler`. (The standard library's `Mutex` is not seen by ThreadSanitizer on Linux.)
  private static let lock = AllocatedLock()

  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var storedHandler: @Sendable (UnobservedError) -> Void = {
    "swift-coroutines: \($0)\n".withCString { cck_print_error($0) }
  }

  static var handler: @Sendable (UnobservedError) -> Void {
    get { lock.withLock { storedHandler } }
    set {
      // The old one is released after the lock: it may hold the last reference to something.
      let old = lock.withLock {
        defer { storedHandler = newValue }
        return storedHandler
      }
      withExtendedLifetime(old) {}
    }
  }
}
