// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Coroutines

/// A clock for code under test that takes a clock: its time is set by the test, or is that of a `TestScheduler`.
///
/// ```swift
/// let clock = TestClock()
/// let poller = Poller(clock: clock)  // where the program has a ContinuousClock
/// launch { try poller.run() }
/// try clock.waitForSleepers()        // it sleeps now
/// clock.advance(by: .seconds(30))
/// ```
///
/// Which time for which code:
///
/// | code that | is tested with |
/// |---|---|
/// | calls `Coroutine.sleep`, `withTimeout`, `select` with `After` | `TestScheduler`: it goes by the scheduler's time, and needs no clock |
/// | takes a `Clock`, in coroutines or in `async` code | a `TestClock` that the test moves |
/// | does both | `TestClock(following:)` |
///
/// By hand, nothing happens until the test moves the clock. Sleepers wake in the order of their deadlines, and
/// of their coming if those are equal. One that goes to sleep again counts from the time that the clock
/// shows then, which is where the test has moved it to: to let a ticker tick three times, move the clock three
/// times. `waitForSleepers` says when that may be done.
///
/// A clock that follows a scheduler cannot be moved: the scheduler's time jumps when all of its coroutines wait,
/// and stands still while one of them waits for a task or a thread that does not sleep by such a clock.
/// A task that runs others in parallel is better tested by hand: of those the scheduler sees the sleepers only.
///
/// May be used from any thread.
public final class TestClock: Clock, @unchecked Sendable {
  // SAFETY: constants; the state is guarded by `lock`.

  /// A moment of a test's time.
  public struct Instant: InstantProtocol {
    /// Time since the clock's beginning.
    public let elapsed: Duration

    /// A moment.
    ///
    /// - Parameter elapsed: Time since the clock's beginning.
    public init(elapsed: Duration) { self.elapsed = elapsed }

    /// The moment that lies `duration` later.
    ///
    /// - Parameter duration: How much later; may be negative.
    /// - Returns: The moment.
    public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }

    /// How much later `other` is.
    ///
    /// - Parameter other: The other moment.
    /// - Returns: The time in between; negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }

    /// True if `one` is earlier.
    public static func < (one: Instant, other: Instant) -> Bool { one.elapsed < other.elapsed }
  }

  /// One party that sleeps, from its call to its return.
  private final class Sleeper {
    let deadline: Instant
    /// The sleeper, unless it is not yet, or no more, there.
    let queue: UnsafeMutablePointer<WaitQueue>
    /// Its time has come.
    var isDue = false

    init(_ deadline: Instant) {
      self.deadline = deadline
      queue = .allocate(capacity: 1)
      queue.initialize(to: WaitQueue())
    }

    deinit { queue.deallocate() }
  }

  /// Guards everything below.
  private let lock: UnsafeMutablePointer<Lock>
  private var time = Duration.zero
  /// Those whose time has not come: nearest first, and of equal ones first come first.
  private var sleepers: [Sleeper] = []
  /// Those who wait for sleepers.
  private let watchers: UnsafeMutablePointer<WaitQueue>
  /// The scheduler whose time this is.
  private let scheduler: TestScheduler?

  /// A clock that shows zero until it is moved.
  public convenience init() { self.init(scheduler: nil) }

  /// A clock that shows the time of a scheduler.
  ///
  /// - Parameter scheduler: Whose `elapsed` is the clock's time. It is kept alive.
  public convenience init(following scheduler: TestScheduler) { self.init(scheduler: scheduler) }

  private init(scheduler: TestScheduler?) {
    self.scheduler = scheduler
    lock = .allocate(capacity: 1)
    lock.initialize(to: cck_lock_make_shared())
    watchers = .allocate(capacity: 1)
    watchers.initialize(to: WaitQueue())
  }

  deinit {
    // Nobody waits: whoever waits holds the clock.
    lock.deallocate()
    watchers.deallocate()
  }

  // MARK: - Looking

  /// This moment.
  public var now: Instant {
    if let scheduler { return Instant(elapsed: scheduler.elapsed) }
    return lock.withLock { Instant(elapsed: time) }
  }

  /// The clock's resolution.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Number of those who sleep.
  ///
  /// Coroutines of the scheduler that the clock follows do not count: they sleep in the scheduler.
  public var sleeperCount: Int { lock.withLock { sleepers.count } }

  /// The deadline of the sleeper that wakes next, if anybody sleeps.
  public var nextDeadline: Instant? { lock.withLock { sleepers.first?.deadline } }

  // MARK: - Moving it

  /// Moves the clock forward, and wakes those whose deadlines have come.
  ///
  /// They become ready, in the order of their deadlines; the caller runs on. Does not park; may be called from
  /// any thread.
  ///
  /// - Parameter duration: How far; not negative.
  public func advance(by duration: Duration) {
    demand(
      duration >= .zero,
      "TestClock.advance(by:): the clock was to be set back by \(.zero - duration). Time only goes forward."
    )
    move("TestClock.advance(by:)") { Instant(elapsed: self.time + duration) }
  }

  /// Moves the clock forward to a moment, and wakes those whose deadlines have come.
  ///
  /// As `advance(by:)`.
  ///
  /// - Parameter instant: The moment; not before `now`.
  public func advance(to instant: Instant) {
    move("TestClock.advance(to:)") { instant }
  }

  /// Moves the clock forward to the nearest deadline, and wakes those whose it is.
  ///
  /// - Returns: False if nobody sleeps; then the clock stays where it is.
  @discardableResult
  public func advanceToNextDeadline() -> Bool {
    move("TestClock.advanceToNextDeadline()") { self.sleepers.first?.deadline }
  }

  /// Moves to where `target`, asked under the lock, says.
  @discardableResult
  private func move(_ operation: String, _ target: () -> Instant?) -> Bool {
    demand(
      scheduler == nil,
      "\(operation): this clock follows a TestScheduler. Move that one: `scheduler.advance(by:)`."
    )
    var wakes = ResumeList()
    let mode = lock.acquire(currentThread())
    let before = time
    guard let target = target() else {
      lock.release(mode)
      return false
    }
    guard target.elapsed >= before else {
      lock.release(mode)
      fatalError(
        "\(operation): the clock shows \(before) and was to be set back to \(target.elapsed). Time "
          + "only goes forward."
      )
    }
    time = target.elapsed
    while let first = sleepers.first, first.deadline <= target {
      sleepers.removeFirst()
      first.isDue = true
      wakes.claimAll(of: &first.queue.pointee, .delivered)
    }
    lock.release(mode)
    wakes.resumeAll()
    return true
  }

  // MARK: - Sleeping

  /// Suspends the calling task until the clock shows the deadline.
  ///
  /// *Cancellation:* of the task: ends the sleep at once.
  ///
  /// - Parameters:
  ///   - deadline: When to go on. One that has passed lets others run first.
  ///   - tolerance: Not used: the sleep ends at its deadline.
  /// - Throws: `CancellationError`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    guard let (sleeper, alarm) = begin(deadline) else {
      try Task.checkCancellation()
      return await Task.yield()
    }
    defer { end(sleeper, alarm) }
    try await TaskWait.wait(on: sleeper.queue, lock, unless: { sleeper.isDue })
  }

  /// Parks the calling coroutine until the clock shows the deadline.
  ///
  /// *Cancellation:* ends the sleep at once.
  ///
  /// - Parameter deadline: When to go on. One that has passed gives up the turn like `Coroutine.yield`.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await clock.sleep(until:)`.")
  public func sleep(until deadline: Instant) throws {
    if let scheduler, currentThread().currentHome == scheduler.steppedLoop.home {
      let time = CoroutineClock.Instant(nanoseconds: deadline.elapsed.saturatedNanoseconds)
      return try Coroutine.sleep(until: time)
    }
    guard let (sleeper, alarm) = begin(deadline) else { return try Coroutine.yield() }
    defer { end(sleeper, alarm) }
    try Parking.wait(
      "TestClock.sleep(until:)",
      on: sleeper.queue,
      lock,
      of: self,
      unless: { sleeper.isDue }
    )
  }

  /// Parks the calling coroutine for a time of this clock.
  ///
  /// *Cancellation:* ends the sleep at once.
  ///
  /// - Parameter duration: How long. Zero or less gives up the turn like `Coroutine.yield`.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await clock.sleep(for:)`.")
  public func sleep(for duration: Duration) throws {
    try sleep(until: now.advanced(by: duration))
  }

  /// Enters a sleeper, unless its time has come.
  private func begin(_ deadline: Instant) -> (Sleeper, SteppedLoop.Alarm?)? {
    let sleeper = Sleeper(deadline)
    var wakes = ResumeList()
    let mode = lock.acquire(currentThread())
    guard deadline.elapsed > scheduler?.elapsed ?? time else {
      lock.release(mode)
      return nil
    }
    sleepers.insert(sleeper, at: sleepers.firstIndex { deadline < $0.deadline } ?? sleepers.count)
    // Each looks again whether these are enough.
    wakes.claimAll(of: &watchers.pointee, .delivered)
    lock.release(mode)
    wakes.resumeAll()
    let alarm = scheduler?.steppedLoop.setAlarm(at: deadline.elapsed.saturatedNanoseconds) {
      self.ring(sleeper)
    }
    return (sleeper, alarm)
  }

  /// Takes a sleeper out that was cancelled; one whose time had come is out already.
  private func end(_ sleeper: Sleeper, _ alarm: SteppedLoop.Alarm?) {
    let isEarly = lock.withLock {
      guard let index = sleepers.firstIndex(where: { $0 === sleeper }) else { return false }
      sleepers.remove(at: index)
      return true
    }
    if isEarly, let alarm { scheduler?.steppedLoop.cancel(alarm) }
  }

  /// A sleeper's time has come, by the scheduler that the clock follows.
  private func ring(_ sleeper: Sleeper) {
    var wakes = ResumeList()
    let mode = lock.acquire(currentThread())
    if let index = sleepers.firstIndex(where: { $0 === sleeper }) { sleepers.remove(at: index) }
    sleeper.isDue = true
    wakes.claimAll(of: &sleeper.queue.pointee, .delivered)
    lock.release(mode)
    wakes.resumeAll()
  }

  // MARK: - Waiting for sleepers

  /// Parks until so many sleep: the code under test has come to where the test may move the clock.
  ///
  /// *Cancellation:* ends the wait.
  ///
  /// - Parameter count: How many; those of the scheduler that the clock follows do not count.
  /// - Throws: `CancellationError`; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await clock.waitForSleepers()`.")
  public func waitForSleepers(_ count: Int = 1) throws {
    repeat {
      try Parking.wait(
        "TestClock.waitForSleepers(_:)",
        on: watchers,
        lock,
        of: self,
        unless: { self.sleepers.count >= count }
      )
    } while sleeperCount < count
  }

  /// Suspends the calling task until so many sleep.
  ///
  /// *Cancellation:* of the task: ends the wait.
  ///
  /// - Parameter count: How many; those of the scheduler that the clock follows do not count.
  /// - Throws: `CancellationError`.
  public func waitForSleepers(_ count: Int = 1) async throws {
    repeat {
      try await TaskWait.wait(on: watchers, lock, unless: { self.sleepers.count >= count })
    } while sleeperCount < count
  }
}

extension TestClock: WaitSubject {
  package var waitSubjectDescription: String {
    scheduler == nil
      ? "a test clock that shows \(now.elapsed) and is moved by hand"
      : "a test clock that follows a scheduler and shows \(now.elapsed)"
  }
}
