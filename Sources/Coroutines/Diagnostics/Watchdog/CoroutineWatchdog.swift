// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// Looks after the program while it runs, from a thread of its own: who holds up others, who waits in a ring, what
/// grows.
///
/// ```swift
/// let watchdog = CoroutineWatchdog()
/// ```
///
/// It prints to standard error, unless told otherwise, and stops with the last reference to it.
///
/// Each scheduler is asked, again and again, to do next to nothing; one that has not come to it after `turnLimit` is
/// held up, and is reported once, and again each time that has gone on for twice as long. To see where its thread is,
/// that is interrupted with SIGURG, so a call that it sleeps in may return early with `EINTR`.
///
/// Cost: a wake-up of each scheduler each `interval`, and a dump each `cycleInterval`.
public final class CoroutineWatchdog: Sendable {
  /// What is too much.
  public struct Limits: Sendable {
    /// How often schedulers are asked.
    public var interval: Duration = .milliseconds(100)
    /// How long a coroutine may run without parking.
    public var turnLimit: Duration = .milliseconds(500)
    /// How often coroutines are looked through for rings.
    public var cycleInterval: Duration = .seconds(10)
    /// How many values a channel may keep.
    public var keptLimit = 100_000

    /// The limits, as said at each.
    public init() {}
  }

  private final class State: @unchecked Sendable {
    // SAFETY: `isOver` is atomic; the parker is made for this; the rest is constant.
    let isOver = Atomic<Bool>(false)
    let parker = UnsafeMutablePointer<Parker>.allocate(capacity: 1)
    let limits: Limits
    private let handler: (@Sendable (WatchdogFinding) -> Void)?

    init(_ limits: Limits, _ handler: (@Sendable (WatchdogFinding) -> Void)?) {
      self.limits = limits
      self.handler = handler
      cck_parker_initialize(parker)
    }

    deinit { parker.deallocate() }

    func report(_ finding: WatchdogFinding) {
      if let handler { return handler(finding) }
      "swift-coroutines: watchdog: \(finding)\n".withCString { cck_print_error($0) }
    }

    func rest(atMost nanoseconds: Int64) {
      if handler != nil { return parker.sleep(atMost: nanoseconds) }
      // Nothing but time wakes it, and then it wakes nobody for good. (A handler of the user's might.)
      QuietThreads.stands { parker.sleep(atMost: nanoseconds) }
    }
  }

  private let state: State

  /// Begins to watch.
  ///
  /// One at a time: limits of channels are those of the newest.
  ///
  /// - Parameters:
  ///   - limits: What is too much.
  ///   - report: Called with each finding, on the watchdog's thread; prints it if left out.
  public init(
    limits: Limits = Limits(),
    report: (@Sendable (WatchdogFinding) -> Void)? = nil
  ) {
    let state = State(limits, report)
    self.state = state
    ChannelGrowth.limit.store(limits.keptLimit, ordering: .relaxed)
    startKernelThread(named: "watchdog") { Self.watch(state) }
  }

  deinit {
    state.isOver.store(true, ordering: .sequentiallyConsistent)
    ChannelGrowth.limit.store(.max, ordering: .relaxed)
    state.parker.wake()
  }

  private static func watch(_ state: State) {
    var pulses: [ObjectIdentifier: Pulse] = [:]
    var known: Set<Set<UInt64>> = []
    var nextCycles = clockNow() + state.limits.cycleInterval.saturatedNanoseconds
    while sleep(state) {
      var present: [ObjectIdentifier: Pulse] = [:]
      for core in SchedulerRoster.all {
        let pulse = pulses[ObjectIdentifier(core)] ?? Pulse(of: core)
        present[ObjectIdentifier(core)] = pulse
        if let finding = pulse.look(state.limits, core) { state.report(finding) }
      }
      pulses = present
      for note in ChannelGrowth.take() {
        state.report(.growingChannel(name: note.name, creationSite: note.site, room: note.slots))
      }
      if clockNow() >= nextCycles {
        nextCycles = clockNow() + state.limits.cycleInterval.saturatedNanoseconds
        let cycles = CoroutineDump.take().cycles
        for cycle in cycles where !known.contains(Set(cycle.map(\.id))) {
          state.report(.cycle(cycle))
        }
        known = Set(cycles.map { Set($0.map(\.id)) })
      }
    }
  }

  /// - Returns: False when it is over.
  private static func sleep(_ state: State) -> Bool {
    let end = clockNow() + max(state.limits.interval.saturatedNanoseconds, 1_000_000)
    while true {
      state.parker.announce()
      if state.isOver.load(ordering: .sequentiallyConsistent) {
        state.parker.retract()
        return false
      }
      let left = end - clockNow()
      if left <= 0 {
        state.parker.retract()
        return true
      }
      state.rest(atMost: left)
    }
  }
}

/// How one scheduler answers.
private final class Pulse {
  /// What the scheduler puts its answer into.
  private final class Answer: Sendable {
    let hasCome = Atomic<Bool>(false)
  }

  private var asked: Int64 = 0
  private var answer: Answer?
  /// How long it must have been held up for the next report.
  private var nextReport: Int64 = 0
  private var isReported = false

  init(of core: SchedulerCore) {}

  /// - Parameters:
  ///   - limits: What is too much.
  ///   - core: The scheduler.
  /// - Returns: What there is to report.
  func look(_ limits: CoroutineWatchdog.Limits, _ core: SchedulerCore) -> WatchdogFinding? {
    let now = clockNow()
    guard let answer else {
      ask(core, now)
      return nil
    }
    let waited = now - asked
    if answer.hasCome.load(ordering: .acquiring) {
      defer { ask(core, now) }
      guard isReported else { return nil }
      isReported = false
      return .goesOn(scheduler: core.label, duration: .nanoseconds(waited))
    }
    let limit = limits.turnLimit.saturatedNanoseconds
    guard waited > max(limit, nextReport) else { return nil }
    nextReport = waited * 2
    let number = core.home.pointee.threadNumber.load(ordering: .relaxed)
    if let sight = ThreadSight(of: number, at: core.home) {
      isReported = true
      return .heldUp(
        scheduler: core.label,
        coroutine: sight.coroutine,
        what: sight.whatItDoes,
        isCancelled: sight.isCancelled,
        duration: .nanoseconds(waited),
        stack: StackFrame.frames(of: sight.addresses)
      )
    }
    // Somebody else's queue has work of its own.
    guard waited > limit * 10 else {
      nextReport = limit * 10
      return nil
    }
    isReported = true
    return .notServed(scheduler: core.label, duration: .nanoseconds(waited))
  }

  private func ask(_ core: SchedulerCore, _ now: Int64) {
    answer = nil
    nextReport = 0
    // A queue that nothing runs on need not be served.
    guard core.home.live > 0 || cck_stack_count(core.home) > 0 else { return }
    let made = Answer()
    asked = now
    answer = made
    let isPosted = core.postFromOutside { made.hasCome.store(true, ordering: .releasing) }
    if !isPosted { answer = nil }
  }
}
