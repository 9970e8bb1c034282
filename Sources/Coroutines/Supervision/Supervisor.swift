// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Starts children in order, restarts those that fail, and stops them in reverse order.
///
/// ```swift
/// try withSupervisor(strategy: .restForOne, backoff: .exponential(from: .milliseconds(10), to: .seconds(5))) {
///   let pool = $0.actor(name: "pool") { mailbox in try serve(mailbox) }
///   $0.launch(name: "poller") { try poll(into: pool) }
///   try listen(pool)
/// }
/// ```
///
/// A child is a body, an actor, or another supervisor. What a child leaves behind is decided by its `ChildRestart`, by
/// the directive for its error, by the strategy, the intensity and the back-off; see there.
///
/// *Handles stay valid.* The handle of an actor, a child or a supervisor is good for all its incarnations. An actor's
/// mailbox outlives a restart: messages that were waiting are handled by the next incarnation, in their order; the one
/// that was being handled is not given again, and its ask is rejected. A supervisor that is restarted by its own starts
/// the children that it had, in their order.
///
/// *Stopping.* A child is cancelled, and has its `shutdown` time to end; its actor's queued asks are rejected. What
/// runs on after that is left alone, and the supervisor ends with `SupervisorError.childDidNotStop`.
///
/// *Giving up.* After too many restarts, or by a directive, the supervisor stops its children and ends with a
/// `SupervisorError` that names the child, the cause and the failures before; a supervisor above it decides about that
/// as about any child's error.
public final class Supervisor: @unchecked Sendable {
  // SAFETY: constants; the core guards itself.

  let core: SupervisorCore
  private let stopsWithHandle: Bool

  init(_ core: SupervisorCore, stopsWithHandle: Bool = false) {
    self.core = core
    self.stopsWithHandle = stopsWithHandle
  }

  deinit {
    if stopsWithHandle { core.cancelForGood() }
  }

  /// A supervisor that runs as a coroutine of its own, until it is stopped or its last handle goes away.
  ///
  /// It is a child of the coroutine that makes it: cancelled with that, it stops its children in order. Where the
  /// supervision ends with a stretch of code, use `withSupervisor`.
  ///
  /// - Parameters:
  ///   - scheduler: Where it decides; the caller's if left out.
  ///   - name: For errors and dumps.
  ///   - strategy: Who is restarted when a child is.
  ///   - intensity: How often, before it gives up.
  ///   - backoff: How long to wait before a restart.
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  ///   - decide: What to do about an error of a child that may be restarted; must not park. Restarts, if left out.
  public convenience init(
    on scheduler: Scheduler? = nil,
    name: String? = nil,
    strategy: SupervisionStrategy = .oneForOne,
    intensity: RestartIntensity = .default,
    backoff: RestartBackoff = .none,
    file: StaticString = #fileID,
    line: UInt = #line,
    decide: @escaping @Sendable (ChildFailure) -> SupervisionDirective = { _ in .restart }
  ) {
    let site = SourceSite(file: file, line: line)
    let core = SupervisorCore(
      name: name,
      site: site,
      isRoot: true,
      strategy,
      intensity,
      backoff,
      decide
    )
    self.init(core, stopsWithHandle: true)
    let scheduler = scheduler ?? .current
    let coroutine = scheduler.core.launchWatched(
      name ?? "supervisor",
      .default,
      site,
      parent: currentThread().runningFiber
    ) {
      try core.run(isRestart: false)
    } atEnd: { error in
      core.end(error)
    }
    core.lifetime.adopt(coroutine)
  }

  // MARK: - Looking

  /// The name given when it was made.
  public var name: String? { core.name }

  /// It has ended for good.
  public var isStopped: Bool { core.lifetime.isOver }

  /// Why it ended, if it was not asked to: a `SupervisorError`.
  public var error: (any Error)? { isStopped ? core.lifetime.observedFailure : nil }

  /// Children that have not ended for good.
  public var childCount: Int { core.live.count }

  /// Calls `hook` with each event from now on, and at once with the latest one, if there was one.
  ///
  /// - Parameter hook: Called on the supervisor's scheduler; must not park.
  public func onEvent(_ hook: @escaping @Sendable (SupervisionEvent) -> Void) {
    core.events.observe(hook)
  }

  /// The events from now on, beginning with the latest one, if there was one.
  ///
  /// - Returns: A channel without limit, closed after `ended`.
  public func events() -> Channel<SupervisionEvent> {
    core.events.channel { if case .ended = $0 { true } else { false } }
  }

  // MARK: - Ending

  /// Stops the children, last first, and ends.
  ///
  /// Does not park; may be called from any thread.
  public func stop() { core.cancelForGood() }

  /// Parks until the supervisor has ended for good.
  ///
  /// *Cancellation:* ends the wait only.
  ///
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError` outside a coroutine. Why the supervisor
  ///   ended is in `error`.
  @available(*, noasync, message: "In async code, write `try await supervisor.join()`.")
  public func join() throws { try core.lifetime.join("Supervisor.join()") }

  /// Suspends the calling task until the supervisor has ended for good.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func join() async throws { try await core.lifetime.join() }

  /// `stop`, then `join`.
  ///
  /// - Throws: As `join`.
  @available(*, noasync, message: "In async code, write `try await supervisor.stopAndJoin()`.")
  public func stopAndJoin() throws {
    stop()
    try join()
  }

  /// `stop`, then `join`.
  ///
  /// - Throws: As `join`.
  public func stopAndJoin() async throws {
    stop()
    try await join()
  }

  /// Parks until all children have ended for good; returns at once if there is none.
  ///
  /// *Cancellation:* ends the wait only.
  ///
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func waitForChildren() throws { try core.live.wait() }
}

/// Runs `body` with a supervisor, and stops that when `body` has ended.
///
/// If the supervisor gives up, `body` is cancelled, and this throws the supervisor's error.
///
/// *Cancellation:* cancels `body`; the children are stopped in order before this throws.
///
/// - Parameters:
///   - name: For errors and dumps.
///   - strategy: Who is restarted when a child is.
///   - intensity: How often, before it gives up.
///   - backoff: How long to wait before a restart.
///   - file: Where it is made; leave out.
///   - line: Where it is made; leave out.
///   - decide: What to do about an error of a child that may be restarted; must not park. Restarts, if left out.
///   - body: Adds the children, and does what is to be done beside them.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws; `SupervisorError`; `CoroutineError.outsideCoroutine`.
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withSupervisor<Result>(
  name: String? = nil,
  strategy: SupervisionStrategy = .oneForOne,
  intensity: RestartIntensity = .default,
  backoff: RestartBackoff = .none,
  file: StaticString = #fileID,
  line: UInt = #line,
  decide: @escaping (ChildFailure) -> SupervisionDirective = { _ in .restart },
  _ body: (Supervisor) throws -> Result
) throws -> Result {
  try withCoroutineScope { scope in
    let core = SupervisorCore(
      name: name,
      site: SourceSite(file: file, line: line),
      isRoot: true,
      strategy,
      intensity,
      backoff,
      decide
    )
    let coroutine = scope.launch(name: name ?? "supervisor", file: file, line: line) {
      try core.run(isRestart: false)
    }
    // SAFETY: called by the coroutine at its end.
    coroutine.onFinish { [unowned(unsafe) coroutine] in core.end(coroutine.failure) }
    core.lifetime.adopt(coroutine)
    let result = try body(Supervisor(core))
    core.cancelForGood()
    return result
  }
}
