// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// A supervisor's state, and the loop that runs it.
///
/// Invariants:
/// - S1. Only the run loop touches the variables and those of the children. It runs in one coroutine at a time, and is
///   told everything through `news`.
/// - S2. A child's incarnation is its only one: the next is not started before the last has ended.
/// - S3. Children run as nobody's children, because cancelling the supervisor must stop them one after the other, last
///   first, and not all at once. The loop does not end before they have, or have had their time to.
final class SupervisorCore: SupervisedPart, @unchecked Sendable {
  // SAFETY: as S1 says; the rest is constant, and guards itself.

  enum News {
    /// A child is to be started.
    case added(SupervisedChild)
    /// A child's incarnation, for which nobody waited, has begun its body.
    case begun(SupervisedChild, Int)
    /// A child's incarnation has ended.
    case ended(SupervisedChild, Int, (any Error)?)
  }

  let name: String?
  let site: SourceSite
  private let strategy: SupervisionStrategy
  private let intensity: RestartIntensity
  private let backoff: RestartBackoff
  private let decide: (ChildFailure) -> SupervisionDirective

  let lifetime = Lifetime()
  let events = EventHub<SupervisionEvent>()
  /// Children that have not ended for good.
  let live = CoroutineWaitGroup()
  private let news = Channel<News>(capacity: .unbounded)
  private let stopping = AtomicFlag()
  /// It is not the child of another, which might start it again.
  private let isRoot: Bool

  /// Their order is that of their starts.
  private var children = SupervisedChildren()
  private var restarts: [CoroutineClock.Instant] = []
  private var history: [ChildFailure] = []
  private var jitter: JitterSource

  init(
    name: String?,
    site: SourceSite,
    isRoot: Bool,
    _ strategy: SupervisionStrategy,
    _ intensity: RestartIntensity,
    _ backoff: RestartBackoff,
    _ decide: @escaping (ChildFailure) -> SupervisionDirective
  ) {
    self.name = name
    self.site = site
    self.isRoot = isRoot
    self.strategy = strategy
    self.intensity = intensity
    self.backoff = backoff
    self.decide = decide
    jitter = JitterSource(seed: backoff.seed)
  }

  var description: String {
    name.map { "The supervisor \"\($0)\"" } ?? "The supervisor made at \(site)"
  }

  // MARK: - From anywhere

  /// Has a child started and looked after; a supervisor that has ended ends it at once.
  func add(_ child: SupervisedChild) {
    live.add()
    if case .closed = news.sendIfReady(.added(child)) { conclude(child, lifetime.failure) }
  }

  var isStopping: Bool { stopping.isSet }

  func willStopForGood() { _ = stopping.setFirst() }

  func cancelForGood() {
    _ = stopping.setFirst()
    lifetime.cancel()
  }

  /// Nothing to say here: the loop has stopped the children.
  func incarnationEnded(_ error: (any Error)?) {}

  /// It has ended for good, and so have its children: they are told.
  func end(_ error: (any Error)?) {
    let failure = error is CancellationError ? nil : error
    lifetime.fail(failure)
    news.close()
    for child in children.removeAll() { conclude(child, failure) }
    while let item = news.receiveIfReady().value {
      if case .added(let child) = item { conclude(child, failure) }
    }
    lifetime.finish { events.send(.ended(failure), isLast: true) }
  }

  // MARK: - The loop

  func run(isRestart: Bool) throws {
    restarts = []
    history = []
    do {
      // Those of the last time, if the supervisor was itself restarted.
      for child in children.all { try start(child, after: .zero, isAwaited: true) }
      while true { try handle(news.receive()) }
    } catch {
      // Only those who asked for the end get a quiet one.
      let stuck = stopAll(because: error is CancellationError ? nil : error)
      if error is CancellationError, let stuck {
        throw SupervisorError.childDidNotStop(description, stuck.name, stuck.shutdown)
      }
      if error is CancellationError, isStopping { return }
      throw error
    }
  }

  private func handle(_ item: News) throws {
    switch item {
    case .added(let child):
      children.append(child)
      try start(child, after: .zero, isAwaited: true)
    case .begun(let child, let incarnation):
      if child.incarnation == incarnation { noteBeginning(of: child) }
    case .ended(let child, let incarnation, let error):
      guard child.incarnation == incarnation, child.coroutine != nil else { return }
      child.coroutine = nil
      try childEnded(child, error)
    }
  }

  /// A child has ended by itself: by what it is and what it threw, it goes, comes back, or brings all down.
  private func childEnded(_ child: SupervisedChild, _ error: (any Error)?) throws {
    let failure = error is CancellationError ? nil : error
    if let failure { events.send(.failed(child.name, failure)) }
    if child.part.isStopping || child.restart == .temporary {
      return remove(child, failure)
    }
    guard failure != nil || child.restart == .permanent else { return remove(child, nil) }

    let now = CoroutineClock().now
    restarts.removeAll { $0.advanced(by: intensity.window) < now }
    let report = ChildFailure(
      child: child.name,
      error: failure ?? SupervisorError.childReturned(child.name),
      restarts: restarts.count,
      instant: now
    )
    history.append(report)
    if history.count > max(8, intensity.restarts + 1) { history.removeFirst() }
    // A return is no error to decide about.
    switch failure == nil ? .restart : decide(report) {
    case .restart: try restart(child, now)
    case .stop: remove(child, failure)
    case .escalate: throw SupervisorError.escalated(description, history)
    }
  }

  private func restart(_ child: SupervisedChild, _ now: CoroutineClock.Instant) throws {
    restarts.append(now)
    guard restarts.count <= intensity.restarts else {
      throw SupervisorError.tooManyRestarts(description, intensity, history)
    }
    let ranFor = child.startedAt.map { $0.duration(to: now) } ?? .zero
    child.failures = ranFor >= backoff.resetAfter ? 1 : child.failures + 1
    let delay = backoff.delay(after: child.failures, chance: jitter.next())
    events.send(.restarting(child.name, after: delay))

    if strategy == .oneForOne { return try start(child, after: delay, isAwaited: false) }
    var affected: [SupervisedChild] {
      strategy == .allForOne ? children.all : children.from(child)
    }
    for other in affected.reversed() where other !== child {
      // Two incarnations must not run at a time (S2), so one that does not stop ends the supervisor.
      guard stop(other, forGood: other.restart == .temporary) else {
        throw SupervisorError.childDidNotStop(description, other.name, other.shutdown)
      }
      if other.restart == .temporary { remove(other, nil) }
    }
    var wait = delay
    for other in affected {
      try start(other, after: wait, isAwaited: true)
      wait = .zero
    }
  }

  // MARK: - Starting and stopping

  /// Starts an incarnation of a child.
  ///
  /// - Parameters:
  ///   - child: The child; none of its incarnations runs.
  ///   - delay: To sleep before the body begins.
  ///   - isAwaited: Go on when the body has begun, so that starts keep their order across schedulers.
  /// - Throws: `CancellationError` if that is cut short; the incarnation is there all the same.
  private func start(_ child: SupervisedChild, after delay: Duration, isAwaited: Bool) throws {
    // An actor that was stopped before its first start handles what it has.
    if child.part.lifetime.isCancelled || (child.incarnation > 0 && child.part.isStopping) {
      return remove(child, nil)
    }
    child.incarnation += 1
    child.startedAt = nil
    let incarnation = child.incarnation
    let hasBegun = Promise<Bool>()
    let (news, part) = (news, child.part)
    let coroutine = child.scheduler.core.launchWatched(
      child.name,
      child.stackSize,
      child.site,
      parent: nil
    ) {
      if delay > .zero { try Coroutine.sleep(for: delay) }
      child.noteBeginning()
      if isAwaited { hasBegun.fulfill(true) } else { news.sendIfReady(.begun(child, incarnation)) }
      try part.run(isRestart: incarnation > 1)
    } atEnd: { error in
      part.incarnationEnded(error)
      news.sendIfReady(.ended(child, incarnation, error))
      hasBegun.fulfill(false)
    }
    coroutine.isObserved.set()
    child.coroutine = coroutine
    part.lifetime.adopt(coroutine)
    if isAwaited, try hasBegun.await() { noteBeginning(of: child) }
  }

  private func noteBeginning(of child: SupervisedChild) {
    child.startedAt = CoroutineClock().now
    events.send(child.incarnation == 1 ? .started(child.name) : .restarted(child.name))
  }

  /// Cancels a child and waits for its end, cancelled or not, for as long as it is allowed.
  ///
  /// - Returns: False if it runs on.
  private func stop(_ child: SupervisedChild, forGood: Bool) -> Bool {
    if forGood { child.part.willStopForGood() }
    guard let coroutine = child.coroutine else { return true }
    // From here on its end is no news.
    child.coroutine = nil
    coroutine.cancel()
    do {
      try withCancellationShield { try withTimeout(child.shutdown) { try coroutine.join() } }
      return true
    } catch {
      events.send(.didNotStop(child.name))
      return false
    }
  }

  /// Stops all children, last first; for good, unless this supervisor may be started again.
  ///
  /// - Parameter failure: What ends them.
  /// - Returns: The first one that runs on.
  private func stopAll(because failure: (any Error)?) -> SupervisedChild? {
    let forGood = isRoot || isStopping
    var stuck: SupervisedChild?
    for child in children.all.reversed() {
      let isLast = forGood || child.restart == .temporary
      if !stop(child, forGood: isLast) { stuck = stuck ?? child }
      if isLast { remove(child, failure) }
    }
    return stuck
  }

  /// Takes a child out that has ended for good.
  private func remove(_ child: SupervisedChild, _ error: (any Error)?) {
    children.remove(child)
    conclude(child, error)
  }

  private func conclude(_ child: SupervisedChild, _ error: (any Error)?) {
    child.part.end(error)
    events.send(.stopped(child.name))
    live.done()
  }
}
