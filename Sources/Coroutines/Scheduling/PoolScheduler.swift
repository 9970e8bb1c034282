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
/// What is launched *on the pool*, from anywhere, may begin on any of its threads: on one that is awake, but as long as it has
/// not started, a thread that has nothing to do may take it over, and is given it if fewer coroutines live there. So workers
/// that all wait for their first job, and connections that are accepted one after the other, are on all threads by the time that
/// there is work for all. Once a coroutine has started it stays on its thread, so thread-locals and `errno` are as in ordinary
/// code.
///
/// What is launched *inside* the pool without naming a scheduler begins and stays on its parent's thread, as
/// everywhere else: it never runs beside its parent, so its closure may share what the parent has, and two that
/// talk to each other do so without crossing threads. So name the pool for what is to be spread, and leave it
/// out for what belongs together:
///
/// ```swift
/// launch(on: pool) {
///   let lines = Channel<String>()
///   launch { try read(into: lines) }  // on this thread
///   for line in lines {
///     launch(on: pool) { parse(line) }  // on any thread
///   }
/// }
/// ```
///
/// Code inside that cuts its work into pieces writes `launch(on: .current)`: they begin on its own thread, unless another that
/// has nothing to do comes for them. None is sent away, which would not pay for what soon ends, and none has to carry the pool
/// with it: a closure that holds the pool counts a reference to it, and so do all the others; the count is one word, which the
/// threads then take turns to write.
///
/// *Order:* on each thread those that are ready run in the order in which they became so. Those that any thread
/// may start begin when nothing else is ready, the newest first, and there is no promise about it; one that
/// is joined starts next. That way a tree of launches is gone through depth first and needs few stacks.
///
/// *Fairness:* launches without end keep neither timers nor wake-ups from elsewhere from being served, and
/// coroutines that run for ever do not keep others from starting, as long as they park now and then.
///
/// When the last reference to the pool goes away, its threads end as soon as the coroutines launched on
/// it have finished. A thread without work looks around for some microseconds, and then sleeps.
///
/// Cost: a launch on the pool takes one lock of the thread's own, hardly ever contended, and one of the parent's;
/// everything else costs what it does on an event loop.
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
      if hasStarted { started += 1 } else { loop.neverBegins() }
    }
    if started == 0 { pool.neverBegins() }
  }

  deinit {
    pool.stopWhenEmpty()
  }
}
