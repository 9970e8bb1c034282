// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
public import Dispatch

/// Runs coroutines, one at a time, in the order in which they became ready.
///
/// A coroutine runs on the scheduler that it was launched on and nowhere else, so coroutines of one
/// scheduler need no locks among themselves. (A pool is several such in one: see `PoolScheduler`.) A
/// wake-up from another thread is posted to the scheduler and never runs the coroutine on the waker's
/// thread.
///
/// | scheduler | thread |
/// |---|---|
/// | `runBlocking { }` | the calling thread |
/// | `SerialScheduler` | one thread of its own |
/// | `PoolScheduler` | one of several; always the same once it has started |
/// | a `DispatchQueue` | whatever thread serves the queue; may change from wake-up to wake-up |
open class Scheduler: @unchecked Sendable, CustomStringConvertible {
  // SAFETY: subclasses have constants only, or say why not. They are in this package: `init` is.

  @usableFromInline
  package let core: SchedulerCore

  package init(core: SchedulerCore) {
    self.core = core
    core.schedulerBegan()
  }

  deinit {
    core.schedulerEnded()
  }

  /// The name given when it was made.
  public final var description: String { core.label }

  /// The scheduler of the code that asks: the running coroutine's, else the one whose thread or queue
  /// this is (the main queue on the main thread), else the serial queue that the process shares.
  ///
  /// To a loop of a pool it stands for the pool: what is launched on it there spreads, without a reference to the pool that
  /// all its threads would count on one cache line. `launch(on: .current)` needs no object at all; see `CurrentScheduler`.
  public static var current: Scheduler {
    let thread = currentThread()
    if let home = thread.currentHome, let handle = home.withCore({ $0.handle }) { return handle }
    return Scheduler(core: SchedulerCore.ofCaller(thread))
  }

  /// The serial queue that the process shares: where coroutines go that are launched on no scheduler.
  public static var shared: Scheduler { Scheduler(core: DispatchCore.of(SchedulerCore.shared)) }

  /// A dispatch queue as a scheduler.
  ///
  /// - Parameter queue: The queue; the scheduler keeps it alive.
  /// - Returns: Its scheduler; always the same one for a queue.
  public static func queue(_ queue: DispatchQueue) -> Scheduler {
    Scheduler(core: DispatchCore.of(queue))
  }
}

extension SchedulerCore {
  /// The shared queue for code that runs on no scheduler.
  static let shared = DispatchQueue(label: "swift-coroutines.default")

  /// The scheduler of a queue.
  @usableFromInline
  static func ofQueue(_ queue: DispatchQueue) -> SchedulerCore { DispatchCore.of(queue) }

  /// The scheduler of the calling code.
  @usableFromInline
  package static func ofCaller(_ thread: ThreadRecord) -> SchedulerCore {
    if let fiber = thread.runningFiber {
      return fiber.pointee.home.core
    }
    if let home = thread.currentHome { return home.core }
    return DispatchCore.ofCurrentQueue() ?? DispatchCore.of(shared)
  }
}
