// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// The threads that `offload` uses.
public final class OffloadPool: @unchecked Sendable {
  // SAFETY: all mutable state is guarded by `lock`, or atomic.

  /// The pool of this process.
  public static let shared = OffloadPool()

  private let lock = AllocatedLock()
  /// Work to be done, from `head` on; slots before it are nil, so that nothing is released with the
  /// lock held when they go.
  private var queue: [(() -> Void)?] = []
  private var head = 0
  private var threads = 0
  /// The threads that run, with the clocks of the processor time that each has used.
  private var clocks: [ObjectIdentifier: Int32] = [:]
  /// Threads that do work, or are on their way to it.
  private var busy = 0 {
    didSet { Self.busyNow.store(busy, ordering: .relaxed) }
  }
  /// `busy`, for who need not know exactly.
  private static let busyNow = Atomic<Int>(0)
  /// Those of them that are on their way: each will take one piece, if one is left, so no other need be called for it.
  private var coming = 0
  /// A thread watches the queue.
  private var isWatched = false
  /// Threads that have nothing to do; the last is called first.
  private var idle: [IdleThread] = []
  /// The last of `idle` looks around and does not sleep.
  ///
  /// One at a time: of two, one would look in vain.
  private var isLooking = false
  private var limit = 64
  private let processors = Int(cck_processor_count())

  /// Idle threads end after so many nanoseconds.
  private static let patience: Int64 = 10_000_000_000
  /// How many nanoseconds work waits before there is one more thread for it than processors.
  ///
  /// One more would only take turns with those that keep all processors busy, and from a heap of its own, whose pages the
  /// system has to clear. But other work of the process may give way at any time, and the pool's own should.
  ///
  /// - Parameters:
  ///   - process: Processor time that the process has used of late.
  ///   - pool: What the pool's threads have used of that.
  ///   - span: How long ago that began.
  ///   - processors: How many there are.
  /// - Returns: Nanoseconds, from when it began to wait.
  package static func watchTime(
    process: Int64,
    pool: Int64,
    over span: Int64,
    on processors: Int
  ) -> Int64 {
    /// One processor had little else to do: 7 tenths of the time, as threads take some to wake up.
    func leavesOneFree(_ used: Int64) -> Bool {
      (Int64(processors) * span - used) * 10 >= span * 7
    }
    if leavesOneFree(process) { return shortestWatchTime }
    return leavesOneFree(pool) ? 10_000_000 : 100_000_000
  }

  private static let shortestWatchTime: Int64 = 250_000

  /// What a thread is called for.
  private enum Role: UInt8, AtomicRepresentable {
    /// Nothing: it is idle.
    case none
    /// To do what is queued.
    case work
    /// To wait for a while, and then to do what is queued still.
    case watch
  }

  private final class IdleThread {
    let parker = UnsafeMutablePointer<Parker>.allocate(capacity: 1)
    /// What it has been called for; changed under the pool's lock.
    let role = Atomic<Role>(.none)

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
      demand(newValue > 0, "OffloadPool.threadLimit was set to \(newValue); it must be 1 or more.")
      lock.withLock { limit = newValue }
    }
  }

  /// Threads that exist now.
  public var threadCount: Int { lock.withLock { threads } }

  /// A thread of the pool does work, or is on its way to it; a hint.
  static var isAtWork: Bool { busyNow.load(ordering: .relaxed) > 0 }

  /// As many threads of the pool as there are processors do work; a hint.
  static var takesAllProcessors: Bool {
    let busy = busyNow.load(ordering: .relaxed)
    return busy > 0 && busy >= shared.processors
  }

  /// Threads that sleep until they are called.
  var sleepingThreads: Int { lock.withUnobservedLock { idle.count } }

  /// What its threads do now.
  var metrics: RuntimeMetrics.OffloadMetrics {
    lock.withLock {
      RuntimeMetrics.OffloadMetrics(
        threads: threads,
        busyThreads: busy,
        threadLimit: limit,
        queued: queue.count - head
      )
    }
  }

  /// Has a thread run `work`; never blocks.
  func run(_ work: @escaping () -> Void) {
    let step = lock.withLock {
      queue.append(work)
      return engage()
    }
    carryOut(step)
  }

  private enum Step {
    case none
    case wake(IdleThread)
    case start(Role)
  }

  /// Decides who is to do the work that is queued; under the lock.
  ///
  /// More threads than processors make work that computes or copies slower. Work that blocks its thread shows by
  /// what waits behind it, so each further thread watches the queue before it begins.
  private func engage() -> Step {
    let isCrowded = busy >= processors
    if isCrowded, isWatched { return .none }
    guard queue.count - head > coming else { return .none }
    guard !idle.isEmpty || threads < limit else { return .none }
    let role: Role = isCrowded ? .watch : .work
    if isCrowded { isWatched = true } else { sendToWork() }
    if let thread = idle.popLast() {
      isLooking = false
      thread.role.store(role, ordering: .sequentiallyConsistent)
      return .wake(thread)
    }
    threads += 1
    return .start(role)
  }

  /// One more thread is on its way to what is queued; under the lock.
  private func sendToWork() {
    busy += 1
    coming += 1
  }

  private func carryOut(_ step: Step) {
    switch step {
    case .none: break
    case .wake(let thread): thread.parker.wake()
    case .start(let role):
      if startKernelThread(named: "offload", { self.serve(role) }) { return }
      // The system has no thread left: those that run will come to it, if there are any.
      let isAlone = lock.withLock {
        threads -= 1
        if role == .watch {
          isWatched = false
        } else {
          busy -= 1
          coming -= 1
        }
        return threads == 0
      }
      if isAlone { serveHere() }
    }
  }

  /// Without any thread, the work is done on the caller's: late is better than never.
  private func serveHere() {
    while let work = takeWork(arrives: false) { work() }
    currentThread().wakeOwed()
  }

  /// The next piece of work; `arrives` for a thread that has been on its way to it.
  private func takeWork(arrives: Bool) -> (() -> Void)? {
    lock.withLock {
      if arrives { coming -= 1 }
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

  private func serve(_ first: Role) {
    let thread = IdleThread()
    let clock = cck_thread_clock()
    lock.withLock { clocks[ObjectIdentifier(thread)] = clock }
    defer { lock.withLock { _ = clocks.removeValue(forKey: ObjectIdentifier(thread)) } }
    var spin = IdleSpin()
    var role = first
    while role != .none {
      if role == .watch { watch(thread) }
      var arrives = true
      while let work = takeWork(arrives: arrives) {
        arrives = false
        work()
      }
      currentThread().wakeOwed()
      role = waitForCall(thread, &spin)
    }
  }

  /// Processor time, in nanoseconds, up to a moment.
  private struct Usage {
    let moment = clockNow()
    let ofProcess = cck_process_time()
    let ofPool: Int64
  }

  private func usage() -> Usage {
    lock.withLock { Usage(ofPool: clocks.values.reduce(0) { $0 + cck_thread_time($1) }) }
  }

  /// Lets the watch time pass, and then counts as busy; if there is more to do than it will take, another watches.
  private func watch(_ thread: IdleThread) {
    var last = usage()
    let start = last.moment
    while true {
      sleep(thread, until: last.moment + Self.shortestWatchTime)
      let now = usage()
      let end = Self.watchTime(
        process: now.ofProcess - last.ofProcess,
        pool: now.ofPool - last.ofPool,
        over: now.moment - last.moment,
        on: processors
      )
      if now.moment - start >= end { break }
      last = now
    }
    let step = lock.withLock {
      isWatched = false
      sendToWork()
      return engage()
    }
    carryOut(step)
  }

  private func sleep(_ thread: IdleThread, until end: Int64) {
    while true {
      let left = end - clockNow()
      if left <= 0 { break }
      thread.parker.announce()
      thread.parker.sleep(atMost: left)
    }
    thread.parker.retract()
  }

  /// Where a thread that has done its work stands.
  private enum Pause {
    /// There is more already.
    case none
    /// It is called next.
    case look
    /// Another one is.
    case sleep
  }

  /// Waits until the thread is called: looks for a while, as whose work is short is soon followed by more, and then sleeps.
  ///
  /// - Returns: What for; none, when that has not happened for long: the thread is no longer the pool's.
  private func waitForCall(_ thread: IdleThread, _ spin: inout IdleSpin) -> Role {
    switch goIdle(thread) {
    case .none: return .work
    case .sleep: break
    case .look:
      let isCalled = spin.wait(until: nil, for: .threads, besideWork: Self.takesAllProcessors) {
        thread.role.load(ordering: .acquiring) != .none
      } poll: {
        false
      }
      if isCalled { return thread.role.load(ordering: .relaxed) }
      lock.withLock {
        // If it has been called, another one may look by now.
        if thread.role.load(ordering: .relaxed) == .none { isLooking = false }
      }
    }
    return sleepUntilCall(thread, &spin)
  }

  private func goIdle(_ thread: IdleThread) -> Pause {
    lock.withLock {
      guard head == queue.count else {
        coming += 1
        return .none
      }
      busy -= 1
      thread.role.store(.none, ordering: .relaxed)
      if isLooking {
        idle.insert(thread, at: idle.count - 1)
        return .sleep
      }
      isLooking = true
      idle.append(thread)
      return .look
    }
  }

  private func sleepUntilCall(_ thread: IdleThread, _ spin: inout IdleSpin) -> Role {
    let deadline = clockNow() + Self.patience
    while true {
      thread.parker.announce()
      let role = thread.role.load(ordering: .sequentiallyConsistent)
      if role != .none {
        thread.parker.retract()
        spin.noteWoken(by: .threads)
        return role
      }
      let left = deadline - clockNow()
      if left > 0 {
        thread.parker.sleep(atMost: left)
        continue
      }
      thread.parker.retract()
      return lock.withLock {
        let role = thread.role.load(ordering: .relaxed)
        if role == .none {
          idle.removeAll { $0 === thread }
          threads -= 1
        }
        return role
      }
    }
  }
}
