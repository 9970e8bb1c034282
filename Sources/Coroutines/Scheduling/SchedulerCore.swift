// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel
import Synchronization

/// What every scheduler is made of: a home, and a way to get somebody to take its turn.
@usableFromInline
package class SchedulerCore: @unchecked Sendable {
  // SAFETY: `home` is a constant pointer; what it points to is guarded by the home's turn (H1) or is
  // atomic. The other properties are marked one by one.

  /// Run queue, inbox and timers.
  @usableFromInline
  package let home: UnsafeMutablePointer<Home>

  private let name: SchedulerName

  /// For people: "main queue", "worker 3".
  package final var label: String { name.text }

  /// The first error of a coroutine of this scheduler that nobody looked at.
  ///
  /// Touched with the turn.
  package final var unobservedError: UnobservedError?

  /// Unobserved errors are kept for whoever runs the loop, instead of being reported at once.
  package final var collectsUnobservedErrors = false

  /// Coroutines that wait for a thread or a task: the world outside, whose time is not this scheduler's.
  ///
  /// Touched with the turn.
  package final var outsideWaits = 0

  package init(
    _ name: SchedulerName,
    migrates: Bool,
    choosesItself: Bool = false,
    pool: UnsafeMutableRawPointer? = nil
  ) {
    self.name = name
    poolIdentity = pool
    // SAFETY: a number that is not 0; the pointer to self is filled in below, and nothing runs in between.
    self.home = .take(
      scheduler: UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped,
      migrates: migrates,
      choosesItself: choosesItself
    )
    // SAFETY: `deinit` gives the home back, which forgets the pointer.
    home.pointee.scheduler = Unmanaged.passUnretained(self).toOpaque()
    home.pointee.pool = pool
    // Every launch counts.
    if Census.isOpen { home.addListener() }
    SchedulerRoster.enter(self, name)
  }

  deinit {
    SchedulerRoster.leave(self)
    home.giveBack()
  }

  /// What sort of scheduler it is, for counters.
  package var kind: RuntimeMetrics.SchedulerKind { .eventLoop }

  /// Has the holder of the turn run `work` soon.
  ///
  /// - Returns: False if the scheduler has shut down.
  package func post(_ work: @escaping () -> Void) -> Bool {
    fatalError("SchedulerCore is abstract")
  }

  /// The same for those who know no coroutine that lives here, so that what the turns are taken on may go away meanwhile.
  ///
  /// - Returns: False, too, if it may have gone already: then no coroutine lives here.
  package func postFromOutside(_ work: @escaping () -> Void) -> Bool { post(work) }

  /// The nearest timer has changed; the caller holds the turn.
  package func timersChanged() {}

  /// Runs an unstarted coroutine up to its first park, right here, if the caller is where this
  /// scheduler's coroutines run.
  ///
  /// - Returns: False if the caller is elsewhere: then the coroutine must be queued.
  package func startHere(_ fiber: UnsafeMutablePointer<Fiber>, _ thread: ThreadRecord) -> Bool {
    false
  }

  /// The pool that this is a loop of; nil for all others.
  ///
  /// Its home knows too, but on a cache line that a launch on another loop had better leave alone.
  @usableFromInline
  package final let poolIdentity: UnsafeMutableRawPointer?

  /// A loop of a pool: what is launched on it may be taken over by the others until it starts.
  @inlinable
  package final var isPool: Bool { poolIdentity != nil }

  /// The `Scheduler` that code on this one is given as the current one; nil if each time it is another.
  ///
  /// Asked with the turn.
  package var handle: Scheduler? { nil }

  /// A pool's loop says where a coroutine is to begin that none of the pool's loops launches.
  package func homeForLaunch(_ thread: ThreadRecord) -> UnsafeMutablePointer<Home> { home }

  /// A pool's loop takes a coroutine that has not started, and sees to it that somebody runs it.
  ///
  /// - Returns: False if the pool has ended.
  package func offer(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) -> Bool {
    fatalError("only pools are offered coroutines")
  }

  /// It decides which ready clause of a select wins, which is otherwise left to chance.
  package var choosesClauses: Bool { false }

  /// Decides which clause of a select wins.
  ///
  /// - Parameter ready: The numbers of two or more, in random order.
  /// - Returns: An index in `ready`.
  package func chooseClause(among ready: [Int]) -> Int { 0 }

  /// A coroutine was launched here; keeps the scheduler alive until `coroutineEnded`.
  package func coroutineBegan(_ coroutine: Coroutine) {}

  /// A coroutine has ended.
  ///
  /// The caller holds the turn.
  package func coroutineEnded(_ coroutine: Coroutine) {}

  /// A `Scheduler` of the user's stands for this; keeps what it needs alive until `schedulerEnded`.
  package func schedulerBegan() {}

  /// That `Scheduler` is gone.
  ///
  /// Called from any thread.
  package func schedulerEnded() {}

  /// Time of this scheduler, in nanoseconds.
  package var now: Int64 { clockNow() }

  /// Notes what the time is, for those who park from now on.
  ///
  /// The caller holds the turn.
  @discardableResult
  package final func lookAtClock() -> Int64 {
    let now = now
    home.noteLook(at: now)
    return now
  }

  /// Notes which thread has the turn, for those who look at it from outside.
  package final func noteThread() {
    home.pointee.threadNumber.store(currentThread().number, ordering: .relaxed)
  }

  /// Runs `work` on the turn's holder: at once if that is the caller.
  package final func perform(_ work: @escaping () -> Void) {
    if currentThread().currentHome == home {
      work()
    } else {
      _ = post(work)
    }
  }
}

extension UnsafeMutablePointer where Pointee == Home {
  /// The scheduler that this home belongs to.
  @usableFromInline
  package var core: SchedulerCore {
    // SAFETY: set for as long as the home is in use, and the scheduler outlives its coroutines.
    Unmanaged<SchedulerCore>.fromOpaque(pointee.scheduler.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// Runs `body` with `core`, and does not count the reference: for paths where that would cost.
  @inline(__always)
  func withCore<Result>(_ body: (SchedulerCore) -> Result) -> Result {
    // SAFETY: as above.
    Unmanaged<SchedulerCore>.fromOpaque(pointee.scheduler.unsafelyUnwrapped)
      ._withUnsafeGuaranteedRef(body)
  }
}
