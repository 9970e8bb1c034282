// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// Runs blocking work on a thread of a bounded pool, and parks the calling coroutine meanwhile.
///
/// For calls that block their thread (files, `getaddrinfo`, a database driver): the scheduler's thread
/// stays free for other coroutines.
///
/// ```swift
/// let text = try offload { try String(contentsOfFile: path, encoding: .utf8) }
/// ```
///
/// The pool has at most `OffloadPool.threadLimit` threads, started when needed; further work waits its
/// turn, first come first served.
///
/// *Cancellation:* ends the wait. Work that has not begun does not run; work that runs goes on to its end
/// on its thread, and its result is dropped.
///
/// - Parameter work: What to do. It runs outside any coroutine and must not park.
/// - Returns: What `work` returns.
/// - Throws: What `work` throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
@available(*, noasync)
public func offload<Result>(_ work: sending @escaping () throws -> Result) throws -> sending Result
{
  _ = try Parking.begin("offload(_:)", currentThread())
  let promise = Promise<Result>()
  // SAFETY: both are handed over whole: the closure to one pool thread, and its result back.
  nonisolated(unsafe) let work = work
  OffloadPool.shared.run {
    guard promise.isPending else { return }
    promise.settle(.init(catching: work))
  }
  // SAFETY: nobody else knows the promise but the thread, which put the value in and is done with it.
  nonisolated(unsafe) let result = try promise.waitForOutside().get()
  return result
}

/// The threads that `offload` uses.
public final class OffloadPool: @unchecked Sendable {
  // SAFETY: all mutable state is guarded by `lock`.

  /// The pool of this process.
  public static let shared = OffloadPool()

  private let lock = AllocatedLock()
  /// Work to be done, from `head` on; slots before it are nil, so that nothing is released with the
  /// lock held when they go.
  private var queue: [(() -> Void)?] = []
  private var head = 0
  private var threads = 0
  private var idle: [IdleThread] = []
  private var limit = 64

  /// Idle threads end after so many nanoseconds.
  private static let patience: Int64 = 10_000_000_000

  private final class IdleThread {
    let parker = UnsafeMutablePointer<Parker>.allocate(capacity: 1)
    var work: (() -> Void)?

    init() { cck_parker_initialize(parker) }

    deinit { parker.deallocate() }
  }

  private init() {}

  /// Most threads that the pool starts; 64 unless changed.
  ///
  /// Threads that run already are not stopped.
  public var threadLimit: Int {
    get { lock.withLock { limit } }
    set {
      demand(newValue > 0, "The offload pool needs at least one thread.")
      lock.withLock { limit = newValue }
    }
  }

  /// Threads that exist now.
  public var threadCount: Int { lock.withLock { threads } }

  /// Has a thread run `work`; never blocks.
  func run(_ work: @escaping () -> Void) {
    enum Step {
      case wake(IdleThread)
      case start
      case queued
    }
    let step: Step = lock.withLock {
      if let thread = idle.popLast() {
        thread.work = work
        return .wake(thread)
      }
      queue.append(work)
      guard threads < limit else { return .queued }
      threads += 1
      return .start
    }
    switch step {
    case .wake(let thread): thread.parker.wake()
    case .start:
      if !startKernelThread(named: "offload", { self.serve() }) {
        // The system has no thread left: those that run will come to it, if there are any.
        let isAlone = lock.withLock {
          threads -= 1
          return threads == 0
        }
        if isAlone { serveHere() }
      }
    case .queued: break
    }
  }

  /// Without any thread, the work is done on the caller's: late is better than never.
  private func serveHere() {
    while let work = takeWork() { work() }
  }

  private func takeWork() -> (() -> Void)? {
    lock.withLock {
      guard head < queue.count else { return nil }
      let work = queue[head].take()
      head += 1
      // The array is taken apart from the front; its room is used again once half of it is empty.
      if head * 2 >= queue.count {
        queue.removeFirst(head)
        head = 0
      }
      return work
    }
  }

  private func serve() {
    while true {
      while let work = takeWork() { work() }
      guard let work = waitForWork() else { return }
      work()
    }
  }

  /// Sleeps until there is work; nil when none has come for long.
  private func waitForWork() -> (() -> Void)? {
    let thread = IdleThread()
    let isIdle = lock.withLock {
      guard head == queue.count else { return false }
      idle.append(thread)
      return true
    }
    guard isIdle else { return takeWork() ?? {} }
    let deadline = clockNow() + Self.patience
    while true {
      thread.parker.announce()
      if let work = lock.withLock({ thread.work }) {
        thread.parker.retract()
        return work
      }
      let left = deadline - clockNow()
      if left > 0 {
        thread.parker.sleep(atMost: left)
        continue
      }
      thread.parker.retract()
      let work: (() -> Void)? = lock.withLock {
        if let work = thread.work { return work }
        idle.removeAll { $0 === thread }
        threads -= 1
        return nil
      }
      return work
    }
  }
}
