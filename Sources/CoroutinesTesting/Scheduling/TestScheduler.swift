// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
public import Coroutines

/// A scheduler for tests: virtual time, a chosen order, and an error where a program would hang.
///
/// ```swift
/// let scheduler = TestScheduler()
/// try scheduler.run {
///   let answer = launch {
///     try Coroutine.sleep(for: .seconds(3600))  // takes no time
///     return 42
///   }
///   try #expect(answer.value() == 42)
/// }
/// #expect(scheduler.elapsed == .seconds(3600))
/// ```
///
/// It runs the real library on the thread of the test. When all coroutines wait, the clock jumps to the next
/// timer; when there is none, `Deadlock` says who waits for what.
///
/// Use it from one thread. Wake-ups and launches from other threads arrive; while a coroutine waits in
/// `offload` or `awaitTask`, the clock stands still and the thread waits for the outside. For
/// wake-ups that come from elsewhere, say how long to wait for them: `outsidePatience`.
public final class TestScheduler: Scheduler, @unchecked Sendable {
  // SAFETY: for the thread of the test only, but for what SchedulerCore guards.

  /// Which ready coroutine runs next.
  public enum Order: Sendable {
    /// First come, first served, as on an event loop.
    case firstCome
    /// Any, by a seed: the same in each run.
    case random(seed: UInt64)
    /// As in the run that a report's replay string describes, and first come, first served after that.
    case replay(String)
  }

  private let loop: SteppedLoop

  /// How long, in real time, to wait for a wake-up from another thread before a deadlock is reported.
  ///
  /// Zero unless changed: everything then happens on this scheduler.
  public var outsidePatience: Duration = .zero

  /// A scheduler whose clock shows zero.
  ///
  /// - Parameters:
  ///   - order: Which ready coroutine runs next.
  ///   - name: For messages.
  public convenience init(order: Order = .firstCome, name: String = "test") {
    let chooser: any Chooser =
      switch order {
      case .firstCome: FirstComeChooser()
      case .random(let seed): RandomChooser(seed: seed)
      case .replay(let text): FollowingChooser(Schedule(text).choices, then: FirstComeChooser())
      }
    self.init(chooser, name)
  }

  init(_ chooser: any Chooser, _ name: String) {
    let loop = SteppedLoop(label: name, chooser: chooser)
    self.loop = loop
    super.init(core: loop)
  }

  /// The loop, for the explorers.
  var steppedLoop: SteppedLoop { loop }

  // MARK: - Looking

  /// Virtual time that has passed.
  public var elapsed: Duration { .nanoseconds(loop.clock) }

  /// Coroutines that have not ended, in the order of their launches.
  public var coroutines: [Coroutine] { loop.coroutines }

  // MARK: - Running

  /// Runs `body` in a coroutine, and then on until all coroutines of this scheduler have ended.
  ///
  /// - Parameters:
  ///   - file: Where it is called; leave out.
  ///   - line: Where it is called; leave out.
  ///   - body: The test.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, after the rest has been cancelled and has ended; `Deadlock`, after all
  ///   have been cancelled; the first error of a coroutine that nobody looked at.
  @discardableResult
  public func run<Result>(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping () throws -> Result
  ) throws -> Result {
    loop.unobservedError = nil
    loop.collectsUnobservedErrors = true
    defer { loop.collectsUnobservedErrors = false }
    return try loop.withTurn {
      var main: ValueCoroutine<Result>? = loop.launch(
        "main",
        .default,
        .queued,
        SourceSite(file: file, line: line)
      ) { [loop] in
        do {
          return try body()
        } catch {
          for coroutine in loop.coroutines where coroutine !== Coroutine.current {
            coroutine.cancel()
          }
          throw error
        }
      }
      let deadlock = finish()
      guard let finished = main else { fatalError("a test lost its coroutine") }
      main = nil
      if let deadlock { throw deadlock }
      let result = try finished.outcome()
      if let report = loop.unobservedError { throw report.error }
      return result
    }
  }

  /// Launches a coroutine that runs when the test says so: `step`, `advance`, `runUntilFinished`.
  ///
  /// As `launch(on:)`, but the closure need not be handed over: all happens on the test's thread.
  ///
  /// - Parameters:
  ///   - name: For reports.
  ///   - file: Where it is called; leave out.
  ///   - line: Where it is called; leave out.
  ///   - body: What it does.
  /// - Returns: The handle.
  @discardableResult
  public func launch<Value>(
    name: String? = nil,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    loop.launch(name, .default, .queued, SourceSite(file: file, line: line), body)
  }

  /// Runs one ready coroutine up to where it parks or ends.
  ///
  /// - Returns: False if none was ready. The clock stands still.
  @discardableResult
  public func step() -> Bool {
    loop.withTurn { loop.step() }
  }

  /// Runs what is ready, and what that makes ready, until all wait.
  ///
  /// The clock stands still.
  public func runUntilIdle() {
    loop.withTurn { while loop.step() {} }
  }

  /// Lets time pass: runs what is ready, and what the timers up to then wake, each at its time.
  ///
  /// - Parameter duration: How much; not negative.
  public func advance(by duration: Duration) {
    demand(duration >= .zero, "Time was to be set back by \(duration); it only goes forward.")
    let target = CoroutineClock.Instant(nanoseconds: loop.clock).advanced(by: duration).nanoseconds
    loop.withTurn {
      repeat { while loop.step() {} } while loop.jump(notBeyond: target)
      loop.set(clock: target)
      while loop.step() {}
    }
  }

  /// Runs until all coroutines have ended, letting time pass as needed.
  ///
  /// - Throws: `Deadlock`, after all have been cancelled; the first error that nobody looked at.
  public func runUntilFinished() throws {
    loop.unobservedError = nil
    loop.collectsUnobservedErrors = true
    defer { loop.collectsUnobservedErrors = false }
    let deadlock = loop.withTurn { finish() }
    if let deadlock { throw deadlock }
    if let report = loop.unobservedError { throw report.error }
  }

  /// Runs until all have ended; cancels those that wait in vain, and tells.
  private func finish() -> Deadlock? {
    var deadlock: Deadlock?
    while true {
      while loop.step() {}
      let waiting = loop.coroutines
      if waiting.isEmpty { return deadlock }
      if waitsForOutside { continue }
      if loop.jump() { continue }
      // What cannot even be cancelled (a shield around a wait) is left where it is.
      if deadlock != nil { return deadlock }
      deadlock = Deadlock(waiting)
      for coroutine in waiting { coroutine.cancel() }
    }
  }

  /// Waits for another thread, if there is reason to.
  ///
  /// - Returns: True if something came.
  private var waitsForOutside: Bool {
    // Those who sleep by this scheduler's time wait for it, not it for them.
    if loop.outsideWaits > loop.outsideSleepers {
      return loop.waitForOutside(atMost: .max)
    }
    guard outsidePatience > .zero else { return false }
    return loop.waitForOutside(atMost: outsidePatience.saturatedNanoseconds)
  }
}
