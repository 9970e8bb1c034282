// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// Several threads, each with an event loop, that share the coroutines launched on them.
///
/// ```swift
/// let pool = PoolScheduler()
/// let sums = pages.map { page in launch(on: pool) { checksum(page) } }
/// for sum in sums { try print(sum.value()) }
/// ```
///
/// A coroutine that has not started may be taken over by any thread of the pool that has nothing to do.
/// Once it has started it stays on its thread, so thread-locals, `errno` and locks of the system that it
/// does not hold across a wait are as in ordinary code. A coroutine launched inside the pool begins on the
/// launching coroutine's thread, unless another thread is free; one launched from outside begins on a
/// thread that sleeps, if there is one.
///
/// *Order:* those that have started run in the order in which they became ready, thread by thread. Those
/// that have not start the newest first, and there is no promise about it; one that is joined starts next.
/// That way a tree of launches is gone through depth first and needs few stacks.
///
/// *Sharing:* coroutines of a pool run in parallel with each other, also with their parents. What they
/// share must be `Sendable`, or guarded: `launch(on:)` has the compiler check that. Plain `launch { }`, which inside
/// a pool launches on the same pool, cannot check it.
///
/// *Fairness:* launches without end keep neither timers nor wake-ups from elsewhere from being served, and
/// coroutines that run for ever do not keep others from starting, as long as they park now and then.
///
/// When the last reference to the pool goes away, its threads end as soon as the coroutines launched on
/// it have finished. A thread without work looks around for some microseconds, and then sleeps.
///
/// Cost: a launch inside the pool takes one lock of the thread's own, hardly ever contended, and one of the
/// parent's; a wake-up on the same thread is free of atomic operations.
public final class PoolScheduler: Scheduler, @unchecked Sendable {
  // SAFETY: no state of its own.

  private let pool: Pool

  /// Threads of the pool.
  public var threadCount: Int { pool.loops.count }

  /// Starts the threads.
  ///
  /// If the system has fewer threads left, the pool has fewer; if it has none, coroutines launched on it
  /// end at once with `CoroutineError.schedulerShutDown`.
  ///
  /// - Parameters:
  ///   - threads: How many, one at least; as many as there are processors for this process, if left out.
  ///   - name: For dumps and debuggers.
  public init(threads: Int? = nil, name: String = "pool") {
    let count = threads ?? Int(cck_processor_count())
    demand(
      count > 0,
      "A PoolScheduler of \(count) threads would never run anything. Give it one thread or more, or "
        + "leave the number out to have one a processor."
    )
    let pool = Pool(label: name, threads: count)
    self.pool = pool
    super.init(core: pool.loops[0])
    var started = 0
    for (number, loop) in pool.loops.enumerated() {
      // The thread holds the pool, and the pool its loops.
      let hasStarted = startKernelThread(named: "\(name) \(number + 1)") {
        loop.run()
        withExtendedLifetime(pool) {}
      }
      if hasStarted { started += 1 }
    }
    if started == 0 { pool.neverBegins() }
  }

  deinit {
    pool.stopWhenEmpty()
  }
}
