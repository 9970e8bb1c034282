// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// A child of a supervisor: the same one through all restarts.
public final class SupervisedChild: @unchecked Sendable {
  // SAFETY: the variables belong to the supervisor's run loop; the rest is constant, and guards itself.

  /// Its name, which errors and events tell.
  public let name: String
  /// When it is restarted.
  public let restart: ChildRestart

  let shutdown: Duration
  let scheduler: Scheduler
  let stackSize: StackSize
  let site: SourceSite
  let part: any SupervisedPart

  /// Where it is among its supervisor's children; nil if it is not among them.
  var place: Int?
  /// The coroutine that runs it; nil while none does, and once its end is no news.
  var coroutine: Coroutine?
  /// Number of the incarnation that runs, or ran last.
  var incarnation = 0
  /// When that began.
  var startedAt: CoroutineClock.Instant?
  /// Failures in a row, for the back-off.
  var failures = 0

  private let begun = Atomic<Int>(0)

  init(
    _ name: String,
    _ restart: ChildRestart,
    _ shutdown: Duration,
    _ scheduler: Scheduler,
    _ stackSize: StackSize,
    _ site: SourceSite,
    _ part: any SupervisedPart
  ) {
    self.name = name
    self.restart = restart
    self.shutdown = shutdown
    self.scheduler = scheduler
    self.stackSize = stackSize
    self.site = site
    self.part = part
  }

  func noteBeginning() { begun.add(1, ordering: .relaxed) }

  /// How often it has been restarted.
  public var restarts: Int {
    // Each beginning changes it.
    noteAccess(nil)
    return max(0, begun.load(ordering: .relaxed) - 1)
  }

  /// It has ended for good.
  public var isStopped: Bool { part.lifetime.isOver }

  /// Cancels it; it is not restarted.
  ///
  /// Does not park; may be called from any thread.
  public func stop() { part.cancelForGood() }

  /// Parks until it has ended for good.
  ///
  /// *Cancellation:* ends the wait only.
  ///
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError` outside a coroutine or in itself.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func join() throws { try part.lifetime.join("SupervisedChild.join()") }
}

/// What a child is to its supervisor: a body, an actor, or another supervisor.
protocol SupervisedPart: AnyObject, Sendable {
  /// Its coroutines and its end.
  var lifetime: Lifetime { get }
  /// Runs one incarnation, in a coroutine of its own.
  func run(isRestart: Bool) throws
  /// That coroutine has ended; called on its scheduler.
  func incarnationEnded(_ error: (any Error)?)
  /// It is not to be started again.
  var isStopping: Bool { get }
  /// It is about to be cancelled, and will not be started again.
  func willStopForGood()
  /// Cancels it for good.
  func cancelForGood()
  /// There will be no other incarnation.
  func end(_ error: (any Error)?)
}

/// A child that is a body and nothing else.
final class SupervisedBody: SupervisedPart, @unchecked Sendable {
  // SAFETY: constants; the body runs on one scheduler, that of the code that added it or the one it was sent to.
  let lifetime = Lifetime()
  private let body: () throws -> Void

  init(_ body: @escaping () throws -> Void) {
    self.body = body
  }

  func run(isRestart: Bool) throws { try body() }
  func incarnationEnded(_ error: (any Error)?) {}
  var isStopping: Bool { lifetime.isCancelled }
  func willStopForGood() {}
  func cancelForGood() { lifetime.cancel() }

  func end(_ error: (any Error)?) {
    lifetime.fail(error is CancellationError ? nil : error)
    lifetime.finish {}
  }
}

/// A child that is an actor: its mailbox stays through all incarnations.
final class SupervisedActor<Message>: SupervisedPart, @unchecked Sendable {
  // SAFETY: as for `SupervisedBody`.
  private let actor: MessageActor<Message>
  private let body: (Mailbox<Message>) throws -> Void

  init(_ actor: MessageActor<Message>, _ body: @escaping (Mailbox<Message>) throws -> Void) {
    self.actor = actor
    self.body = body
  }

  private var core: ActorCore { actor.core }
  var lifetime: Lifetime { core.lifetime }

  func run(isRestart: Bool) throws {
    try core.live(isRestart: isRestart) { try body(Mailbox(actor.channel, core)) }
  }

  func incarnationEnded(_ error: (any Error)?) { core.incarnationEnded(error, isFinal: false) }
  var isStopping: Bool { core.isStopping }
  func willStopForGood() { core.stop() }
  func cancelForGood() { core.cancel() }
  func end(_ error: (any Error)?) { core.end(error) }
}
