// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// What the library has counted so far: coroutines of each scheduler, stacks, threads of `offload`.
///
/// ```swift
/// let metrics = RuntimeMetrics()
/// for scheduler in metrics.schedulers { print(scheduler.name, scheduler.live) }
/// ```
///
/// The counts are kept in any case, so asking is all that costs: some microseconds, and two short locks. They are
/// read one after the other while everything runs on, so two of them need not fit each other exactly.
///
/// `prometheusText` has all of them in the form that Prometheus and its relatives read.
public struct RuntimeMetrics: Sendable, Hashable {
  /// What sort of scheduler it is.
  public enum SchedulerKind: String, Sendable, Hashable, CaseIterable {
    /// `runBlocking`, or a `SerialScheduler`.
    case eventLoop = "event_loop"
    /// One loop of a `PoolScheduler`.
    case pool
    /// A dispatch queue.
    case dispatchQueue = "dispatch_queue"
    /// Another loop with one thread: a run loop.
    case hosted
    /// A scheduler of tests.
    case test
  }

  /// What one scheduler has counted.
  public struct SchedulerMetrics: Sendable, Hashable, CustomStringConvertible {
    /// A number that no other scheduler of this process has.
    public let number: Int
    /// Its name.
    public let name: String
    /// What sort it is.
    public let kind: SchedulerKind
    /// Coroutines launched on it.
    ///
    /// In a pool: those for which this loop was chosen first.
    public let launched: Int
    /// Coroutines that have ended on it.
    public let ended: Int
    /// How often its loop has gone to sleep for want of work; 0 for those without a thread.
    public let sleeps: Int
    /// How often something else than time or a descriptor has woken its loop: a launch, or a coroutine that goes on,
    /// from another thread.
    ///
    /// Each takes a system call of that thread's, and some microseconds until the loop runs. 0 for those without a thread.
    public let wakeUps: Int

    /// Coroutines that have been launched and have not ended.
    ///
    /// In a pool a coroutine may end on another loop than where it was launched: add the loops up.
    public var live: Int { launched - ended }

    /// `runBlocking at App/main.swift:3: 388 live, 1158 launched, 770 ended; its loop slept 776 times`.
    public var description: String {
      "\(name): \(live) live, \(launched) launched, \(ended) ended; its loop slept \(sleeps) times"
    }
  }

  /// What is known of stacks.
  public struct StackMetrics: Sendable, Hashable {
    /// Stacks made so far; they are used again and again.
    public let made: Int
    /// Those that lie ready for any thread.
    ///
    /// The others are in use, or kept by a thread for its next launches.
    public let free: Int
    /// Bytes of address space reserved for stacks.
    ///
    /// Only the pages that have been touched take memory.
    public let mappedBytes: Int
  }

  /// What the threads of `offload` do.
  public struct OffloadMetrics: Sendable, Hashable {
    /// Threads that exist.
    public let threads: Int
    /// Those that do work, or are on their way to it.
    public let busyThreads: Int
    /// Most threads there may be: `OffloadPool.threadLimit`.
    public let threadLimit: Int
    /// Work that waits for a thread.
    public let queued: Int
  }

  /// Schedulers that exist, the oldest first.
  public let schedulers: [SchedulerMetrics]
  /// Coroutines launched in this process, on schedulers that have ended too.
  public let launched: Int
  /// Coroutines that have ended in this process.
  public let ended: Int
  /// Stacks of coroutines and generators.
  public let stacks: StackMetrics
  /// Threads for blocking work.
  public let offload: OffloadMetrics

  /// Reads all counts.
  ///
  /// Never parks; can be called from any thread, in a coroutine or outside.
  public init() {
    let counts = SchedulerRoster.counts
    schedulers = counts.schedulers
    launched = counts.schedulers.reduce(counts.launchedBefore) { $0 + $1.launched }
    ended = counts.schedulers.reduce(counts.endedBefore) { $0 + $1.ended }
    let pool = cck_stack_statistics()
    stacks = StackMetrics(
      made: pool.slots_made,
      free: pool.slots_free,
      mappedBytes: pool.bytes_mapped
    )
    offload = OffloadPool.shared.metrics
  }
}
