// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// Decides who goes next: which ready coroutine, or which thread.
package protocol Chooser: AnyObject {
  /// The place of the one that goes.
  ///
  /// - Parameter candidates: Numbers that tell two or more apart, with the one first that goes unless there
  ///   is a reason for another.
  /// - Returns: An index.
  func choose(among candidates: [UInt64]) -> Int
}

/// Who is told what a stepped loop does, as it does it.
package protocol StepWatcher: AnyObject {
  /// A coroutine is about to run.
  ///
  /// - Parameters:
  ///   - index: Its place among the ready ones.
  ///   - ready: All that are ready, first come first.
  ///   - isForced: Nobody else may run now.
  func willRun(_ index: Int, of ready: [Coroutine], isForced: Bool)

  /// The running coroutine's select takes one of several ready clauses.
  ///
  /// - Parameters:
  ///   - index: Its place among the ready ones.
  ///   - ready: Their numbers.
  func willTakeClause(_ index: Int, of ready: [Int])

  /// A coroutine has been launched.
  func didLaunch()

  /// All wait, and the clock is set forward to the nearest timer.
  func willJump()
}

/// A scheduler that runs one coroutine at a time when told so, chooses which one by a `Chooser`, and
/// keeps its own time: what tests and simulations run on.
package final class SteppedLoop: SchedulerCore, @unchecked Sendable {
  // SAFETY: see SchedulerCore; `live` is guarded by `lock`, all else belongs to the thread that runs the
  // loop.

  /// Decides among ready coroutines.
  package let chooser: any Chooser

  /// The thread's random numbers while this runs, by which `select` is fair: the same in each run.
  private var random: UInt32 = 1

  /// Nanoseconds of virtual time; atomic, because clocks that follow it are read on any thread.
  private let time = Atomic<Int64>(0)

  /// Nanoseconds of virtual time.
  package private(set) var clock: Int64 {
    get { time.load(ordering: .relaxed) }
    set { time.store(newValue, ordering: .relaxed) }
  }

  /// Parties outside that wait for this loop's time.
  private var alarms: [ObjectIdentifier: Alarm] = [:]

  /// Number of these.
  package var outsideSleepers: Int { alarms.count }

  /// Called for each timer whose time has come; so many nanoseconds later its time comes again.
  package var lateness: (() -> Int64)?

  /// Called after each step with the coroutine that ran.
  package var afterStep: ((Coroutine) -> Void)?

  /// Called before a coroutine gets its stack; true makes it fail as if there were no memory.
  package var failsToStart: ((Coroutine) -> Bool)?

  /// Told of each step.
  package weak var watcher: (any StepWatcher)?

  private let lock = AllocatedLock()
  /// Coroutines that have not ended, by number.
  private var live: [UInt64: Coroutine] = [:]

  package init(label: String, chooser: any Chooser) {
    self.chooser = chooser
    super.init(.text(label), migrates: false, choosesItself: true)
  }

  deinit {
    for alarm in alarms.values { home.pointee.timers.disarm(alarm.timer) }
  }

  package override var now: Int64 { clock }

  package override var kind: RuntimeMetrics.SchedulerKind { .test }

  package override func post(_ work: @escaping () -> Void) -> Bool {
    guard home.post(work) else { return false }
    home.pointee.parker.wake()
    return true
  }

  package override var choosesClauses: Bool { true }

  package override func chooseClause(among ready: [Int]) -> Int {
    // Numbers that no coroutine has.
    let index = chooser.choose(among: ready.map { UInt64.max - UInt64($0) })
    watcher?.willTakeClause(index, of: ready)
    return index
  }

  package override func coroutineBegan(_ coroutine: Coroutine) {
    lock.withUnobservedLock { live[coroutine.id] = coroutine }
    watcher?.didLaunch()
  }

  package override func coroutineEnded(_ coroutine: Coroutine) {
    let ended = lock.withUnobservedLock { live.removeValue(forKey: coroutine.id) }
    // Released after the lock.
    _ = ended
  }

  /// Those that have not ended, in the order of their launches.
  package var coroutines: [Coroutine] {
    lock.withUnobservedLock { live.values.sorted { $0.id < $1.id } }
  }

  // MARK: - Running

  /// Runs `body` as the loop of the calling thread.
  package func withTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = currentThread()
    cck_overflow_install(thread)
    demand(
      thread.runningFiber == nil,
      "A TestScheduler was to be run inside a coroutine. Run it from the test itself."
    )
    let outer = thread.currentHome
    thread.currentHome = home
    swap(&thread.pointee.random, &random)
    defer {
      swap(&thread.pointee.random, &random)
      home.dropSpareStack(thread)
      thread.currentHome = outer
    }
    return try body()
  }

  /// Ready coroutines, first come first.
  ///
  /// With the turn.
  package var ready: [Coroutine] {
    home.takePosts()
    fireTimers()
    var coroutines: [Coroutine] = []
    var fiber = home.pointee.runFirst
    while let current = fiber {
      coroutines.append(current.coroutine)
      fiber = current.next
    }
    return coroutines
  }

  private func fireTimers() {
    guard let lateness else {
      home.fireTimers(at: clock)
      return
    }
    while let timer = home.pointee.timers.popDue(at: clock) {
      let more = lateness()
      if more > 0 {
        timer.pointee.deadline = clock.addingReportingOverflow(more).partialValue
        home.pointee.timers.arm(timer)
      } else {
        timer.pointee.fire(timer)
      }
    }
  }

  /// Runs one ready coroutine up to where it parks or ends.
  ///
  /// With the turn.
  ///
  /// - Returns: False if none was ready.
  package func step() -> Bool {
    let ready = ready
    guard !ready.isEmpty else { return false }
    var index = 0
    let isForced = home.pointee.urgent > 0
    if isForced {
      // One was started by another with `immediately`: no choice.
      home.pointee.urgent -= 1
    } else if ready.count > 1 {
      index = chooser.choose(among: ready.map(\.id))
    }
    let coroutine = ready[index]
    watcher?.willRun(index, of: ready, isForced: isForced)
    lookAtClock()
    let fiber = home.pop(at: index)
    if fiber.pointee.stack == nil, failsToStart?(coroutine) == true {
      Coroutine.failToStart(fiber)
    } else if let unstarted = home.resume(fiber, currentThread()) {
      Coroutine.failToStart(unstarted)
    }
    home.releaseUnused()
    afterStep?(coroutine)
    return true
  }

  /// Sets the clock forward to the nearest timer.
  ///
  /// - Parameter limit: No further than this.
  /// - Returns: False if there is none, or none so near.
  package func jump(notBeyond limit: Int64 = .max) -> Bool {
    guard let nearest = home.pointee.timers.nearest, nearest <= limit else { return false }
    watcher?.willJump()
    clock = max(clock, nearest)
    return true
  }

  /// Sets the clock.
  package func set(clock: Int64) { self.clock = clock }

  /// Something outside that waits for this loop's time.
  package final class Alarm: @unchecked Sendable {
    // SAFETY: touched with the loop's turn.
    fileprivate let timer: UnsafeMutablePointer<KernelTimer>

    fileprivate init(_ deadline: Int64, _ fire: @escaping () -> Void) {
      timer = .allocate(capacity: 1)
      timer.initialize(to: KernelTimer(deadline: deadline, context: nil, fire: { _ in fire() }))
    }

    deinit {
      timer.deinitialize(count: 1)
      timer.deallocate()
    }
  }

  /// Calls `ring`, with the turn, when the clock shows `deadline`.
  ///
  /// From any thread. The loop takes notice when it runs next.
  ///
  /// - Returns: For `cancel`.
  package func setAlarm(at deadline: Int64, _ ring: @escaping () -> Void) -> Alarm {
    noteAccess(UnsafeRawPointer(bitPattern: Int(truncatingIfNeeded: deadline)))
    var id: ObjectIdentifier?
    let alarm = Alarm(deadline) { [weak self] in
      // The timer's memory, and this closure, last until it has returned.
      let own = id.flatMap { self?.alarms.removeValue(forKey: $0) }
      ring()
      withExtendedLifetime(own) {}
    }
    id = ObjectIdentifier(alarm)
    _ = post { [weak self] in
      guard let self else { return }
      alarms[ObjectIdentifier(alarm)] = alarm
      home.pointee.timers.arm(alarm.timer)
    }
    return alarm
  }

  /// Takes an alarm back, if it has not rung.
  ///
  /// From any thread.
  package func cancel(_ alarm: Alarm) {
    _ = post { [weak self] in
      guard let self, alarms.removeValue(forKey: ObjectIdentifier(alarm)) != nil else { return }
      home.pointee.timers.disarm(alarm.timer)
    }
  }

  /// Waits for something from outside: another thread's wake-up or launch.
  ///
  /// - Parameter nanoseconds: No longer than this, of real time.
  /// - Returns: False if nothing came.
  package func waitForOutside(atMost nanoseconds: Int64) -> Bool {
    let start = cck_clock_now()
    while true {
      home.pointee.parker.announce()
      if home.hasPost {
        home.pointee.parker.retract()
        return true
      }
      let left = nanoseconds - (cck_clock_now() - start)
      guard left > 0 else {
        home.pointee.parker.retract()
        return false
      }
      // Who has posted before, and was seen at once, may wake this later, for nothing.
      home.pointee.parker.sleep(atMost: left)
    }
  }
}
