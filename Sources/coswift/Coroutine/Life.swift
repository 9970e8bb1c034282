// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// What a coroutine's handle and its running body have in common.
///
/// ```
///   handle (Coroutine, Generator, COActor)      body, on its stack
///              │                                      │
///              └──────────────▶ Life ◀────────────────┘
/// ```
///
/// The body of a plain coroutine also holds the handle. Those of generators and actors do not: nobody
/// could make them go on once the handle is gone, so its end is theirs.
final class Life: @unchecked Sendable {
  // SAFETY: guarded by the lock of `point`, except `awaitError` and `machine`; see there.

  private enum Phase {
    /// Made, and not resumed.
    case made
    /// Handed to its scheduler.
    case launched
    /// The body has ended, or will not run.
    case finished
  }

  /// Those who join, and the lock.
  private let point = WaitPoint()
  private var phase = Phase.made
  /// The body, until it begins.
  private var block: (() throws -> Void)?
  /// The coroutine of the core, once known.
  private var core: Coroutines.Coroutine?
  /// `cancel` was called while `core` was unknown.
  private var isCancelledEarly = false
  private var failure: (any Error)?
  /// The body was never run: it was cancelled before, or the core could not.
  private var neverRan = false
  private var finishHook: (() -> Void)?
  /// The finish hook has run: joiners may go on.
  private var releasesJoiners = false

  /// The handle, while there is one.
  ///
  /// Set once, before anybody else sees this object.
  weak var handle: Coroutine?

  /// Called with the body's error when it has ended, before anything of the user's.
  ///
  /// Set before the launch.
  var onEnd: ((any Error)?) -> Void = { _ in }

  /// Called before the body.
  ///
  /// Set before the launch.
  var prologue: () throws -> Void = {}

  /// What the running `yield` talks to; constant from before the launch.
  var machine: (any YieldTarget)?

  /// The error of the last await; touched by the coroutine itself only.
  var awaitError: (any Error)?

  init(block: @escaping () throws -> Void) {
    self.block = block
  }

  // MARK: - The running one

  /// The life of the running coroutine; nil outside, and in coroutines that another module launched.
  static var current: Life? {
    guard let fiber = currentThread().runningFiber else { return nil }
    return Lives.find(fiber.pointee.identifier)
  }

  // MARK: - Beginning and end

  /// Hands the body to its scheduler; the second time nothing happens.
  func launch(
    on scheduler: Scheduler,
    stackSize: StackSize,
    start: LaunchStart,
    keeping keepsake: AnyObject?
  ) {
    let isFirst = point.lock.withLock {
      guard phase == .made else { return false }
      phase = .launched
      return true
    }
    guard isFirst else { return }
    // SAFETY: the closure runs once, on its own scheduler; that the block may go there is what the user of
    // a language without this check had to know.
    nonisolated(unsafe) let ticket = Ticket(self, keepsake)
    let core = Coroutines.launch(on: scheduler, stackSize: stackSize, start: start) {
      try ticket.life.run()
    }
    learn(core)
  }

  /// Notes the core's coroutine, and passes on a cancellation that came before.
  private func learn(_ core: Coroutines.Coroutine) {
    let isCancelled = point.lock.withLock {
      self.core = core
      return isCancelledEarly
    }
    if isCancelled { core.cancel() }
  }

  /// Runs the body, on its scheduler and stack.
  private func run() throws {
    guard let core = Coroutines.Coroutine.current else { return }
    learn(core)
    Lives.add(self, core.id)
    defer { Lives.remove(core.id) }
    let block = point.lock.withLock {
      defer { self.block = nil }
      return self.block
    }
    do {
      // Cancelled before it started: the body does not run.
      try Coroutines.Coroutine.checkCancellation()
      try prologue()
      try block?()
      finish(nil)
    } catch {
      let error = COError.translating(error)
      finish(error)
      // The core reports what nobody looks at, and knows its own error from a failure.
      if core.isCancelled, error is COError { throw CancellationError() }
      throw error
    }
  }

  /// Tells everybody that there is nothing more to come.
  private func finish(_ error: (any Error)?, neverRan: Bool = false) {
    let isFirst = point.lock.withLock {
      if phase == .finished { return false }
      phase = .finished
      failure = error
      self.neverRan = neverRan
      return true
    }
    guard isFirst else { return }
    onEnd(error)
    let (hook, block): ((() -> Void)?, (() throws -> Void)?) = point.lock.withLock {
      defer { (finishHook, self.block) = (nil, nil) }
      return (finishHook, self.block)
    }
    // Out here: its end may run anything.
    withExtendedLifetime(block) {}
    hook?()
    var wakes = ResumeList()
    point.lock.withLock {
      releasesJoiners = true
      point.claimAll(&wakes)
    }
    wakes.resumeAll()
  }

  /// What the launched closure holds: if it goes away without having run, the body never will.
  private final class Ticket {
    let life: Life
    /// The handle of a plain coroutine.
    private let keepsake: AnyObject?

    init(_ life: Life, _ keepsake: AnyObject?) {
      self.life = life
      self.keepsake = keepsake
    }

    deinit {
      life.finish(COError.coroutineCancelled, neverRan: true)
    }
  }

  // MARK: - What handles do

  var isResumed: Bool { point.lock.withLock { phase != .made } }

  var isFinished: Bool { point.lock.withLock { phase == .finished } }

  var isCancelled: Bool {
    point.lock.withLock { isCancelledEarly || core?.isCancelled ?? false }
  }

  /// The body's error, which somebody now looks at.
  var error: (any Error)? {
    let (error, core, neverRan): ((any Error)?, Coroutines.Coroutine?, Bool) = point.lock.withLock {
      (phase == .finished ? failure : nil, self.core, self.neverRan)
    }
    guard error != nil, let core else { return error }
    core.isObserved.set()
    // Why the core did not run it: there was no memory, for instance.
    if neverRan, let reason = core.error { return COError.translating(reason) }
    return error
  }

  var finishedBlock: (() -> Void)? {
    get { point.lock.withLock { finishHook } }
    set {
      // The old one is released after the lock.
      let old = point.lock.withLock {
        defer { if phase != .finished { finishHook = newValue } }
        return finishHook
      }
      withExtendedLifetime(old) {}
    }
  }

  func cancel() {
    let (core, isUnborn): (Coroutines.Coroutine?, Bool) = point.lock.withLock {
      if phase != .finished, self.core == nil { isCancelledEarly = true }
      return (phase == .finished ? nil : self.core, phase == .made)
    }
    core?.cancel()
    // It will not run any more, and whoever joins it must not wait for that.
    if isUnborn { finish(COError.coroutineCancelled) }
  }

  /// Parks until the end.
  ///
  /// - Throws: `CancellationError`; `CoroutineError` outside a coroutine.
  func join() throws {
    try Parking.wait(
      "join()",
      on: point.queue,
      point.lock,
      unless: { releasesJoiners }
    )
    let core = point.lock.withLock { self.core }
    core?.isObserved.set()
  }

  /// Ends the wait that the coroutine is in, if that is on this channel.
  func withdrawWait<Element>(on channel: Channel<Element>) {
    let core = point.lock.withLock { self.core }
    if let core { channel.withdrawWait(of: core) }
  }
}
