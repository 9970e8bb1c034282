// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// The time that `withTimeout` or `withDeadline` allowed was over before its body had finished.
public struct TimeoutError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was allowed; nil if a deadline was given.
  public let limit: Duration?
  /// Where the limit was set.
  public let site: String

  /// What happened, to what, and what to do.
  public var description: String {
    "The work limited at \(site) was not done "
      + (limit.map { "within \($0)" } ?? "by its deadline")
      + " and was cancelled. Allow more time, or do less in it."
  }
}

/// Runs `body`, and cancels it when it takes too long.
///
/// When the time is over, the park point where `body` waits throws `CancellationError`, its `defer`
/// blocks run, and once it has unwound, this throws `TimeoutError`. Coroutines launched inside are
/// cancelled too. A body that returns all the same has its value returned. A body that never parks is
/// not interrupted.
///
/// Limits compose: the nearest one ends the wait, and the `withTimeout` that set it throws.
///
/// - Parameters:
///   - limit: How long, by the clock of the coroutine's scheduler. Zero or less: over at once.
///   - file: Where the limit is set; leave out.
///   - line: Where the limit is set; leave out.
///   - body: What to do.
/// - Returns: What `body` returns.
/// - Throws: `TimeoutError`; what `body` throws; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withTimeout<Result>(
  _ limit: Duration,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  var limited = try TimeLimit(lasting: limit, SourceSite(file: file, line: line))
  return try limited.run(body)
}

/// Runs `body`, and cancels it when a moment has come.
///
/// Like `withTimeout`, for a limit that several pieces of work share.
///
/// - Parameters:
///   - deadline: The moment, by the clock of the coroutine's scheduler.
///   - file: Where the limit is set; leave out.
///   - line: Where the limit is set; leave out.
///   - body: What to do.
/// - Returns: What `body` returns.
/// - Throws: `TimeoutError`; what `body` throws; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withDeadline<Result>(
  _ deadline: CoroutineClock.Instant,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  var limited = try TimeLimit(until: deadline, SourceSite(file: file, line: line))
  return try limited.run(body)
}

/// Runs `body`, and cancels it when a moment of the system's continuous clock has come.
///
/// - Parameters:
///   - deadline: The moment.
///   - file: Where the limit is set; leave out.
///   - line: Where the limit is set; leave out.
///   - body: What to do.
/// - Returns: What `body` returns.
/// - Throws: `TimeoutError`; what `body` throws; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withDeadline<Result>(
  _ deadline: ContinuousClock.Instant,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  var limited = try TimeLimit(until: deadline, SourceSite(file: file, line: line))
  return try limited.run(body)
}

/// A limit of time on what the running coroutine does: a scope that a timer cancels.
///
/// All but `run` is independent of the type of what is done.
@usableFromInline
struct TimeLimit: ~Copyable {
  /// First field, so that it leads here; not armed if the time is over before it begins, or endless.
  private var timer: KernelTimer
  private let fiber: UnsafeMutablePointer<Fiber>
  /// With the reference that `end` releases.
  private let scope: Unmanaged<CancellationScope>
  private let limit: Duration?
  private let site: SourceSite

  /// A limit so long from now on.
  @usableFromInline
  init(lasting limit: Duration, _ site: SourceSite) throws {
    let fiber = try Self.runningFiber("withTimeout(_:)")
    let now = CoroutineClock().now
    self.init(fiber, until: now.advanced(by: limit), now, limit, site)
  }

  /// A limit at a moment.
  @usableFromInline
  init(until deadline: CoroutineClock.Instant, _ site: SourceSite) throws {
    let fiber = try Self.runningFiber("withDeadline(_:)")
    self.init(fiber, until: deadline, CoroutineClock().now, nil, site)
  }

  /// A limit at a moment of the system's clock.
  @usableFromInline
  init(until deadline: ContinuousClock.Instant, _ site: SourceSite) throws {
    let fiber = try Self.runningFiber("withDeadline(_:)")
    let now = CoroutineClock().now
    let left = ContinuousClock.now.duration(to: deadline)
    self.init(fiber, until: now.advanced(by: left), now, nil, site)
  }

  private init(
    _ fiber: UnsafeMutablePointer<Fiber>,
    until deadline: CoroutineClock.Instant,
    _ now: CoroutineClock.Instant,
    _ limit: Duration?,
    _ site: SourceSite
  ) {
    self.fiber = fiber
    scope = CancellationScope.open(fiber)
    self.limit = limit
    self.site = site
    // By the context, dumps know whose limit it is.
    timer = KernelTimer(deadline: deadline.nanoseconds, context: fiber) { timer in
      // SAFETY: a limit's first field, and armed only until its end.
      UnsafeMutableRawPointer(timer).assumingMemoryBound(to: TimeLimit.self).pointee.scope
        ._withUnsafeGuaranteedRef { $0.cancel() }
    }
    if deadline <= now { scope._withUnsafeGuaranteedRef { $0.cancel() } }
  }

  private static func runningFiber(
    _ operation: StaticString
  ) throws -> UnsafeMutablePointer<Fiber> {
    guard let fiber = currentThread().runningFiber else {
      throw CoroutineError.outsideCoroutine(operation)
    }
    return fiber
  }

  /// Runs `body` until the limit, once.
  @inlinable @inline(__always)
  mutating func run<Result>(_ body: () throws -> Result) throws -> Result {
    // SAFETY: the timer stays where it is until it is disarmed in `end`, which every way out goes through.
    try withUnsafeMutablePointer(to: &self) { limited in
      Self.begin(limited)
      let result: Result
      do {
        result = try body()
      } catch {
        throw Self.end(limited, after: error)
      }
      _ = Self.end(limited)
      return result
    }
  }

  private var isOver: Bool { scope._withUnsafeGuaranteedRef { $0.isCancelled } }

  @usableFromInline
  static func begin(_ limited: UnsafeMutablePointer<TimeLimit>) {
    guard !limited.pointee.isOver, limited.pointee.timer.deadline < .max else { return }
    // SAFETY: the address of a part of what does not move.
    withUnsafeMutablePointer(to: &limited.pointee.timer) {
      Timers.arm($0, limited.pointee.fiber.pointee.home)
    }
  }

  /// - Returns: The time was over before this.
  @usableFromInline
  static func end(_ limited: UnsafeMutablePointer<TimeLimit>) -> Bool {
    let isOver = limited.pointee.isOver
    // SAFETY: as above.
    withUnsafeMutablePointer(to: &limited.pointee.timer) {
      limited.pointee.fiber.pointee.home.pointee.timers.disarm($0)
    }
    limited.pointee.scope._withUnsafeGuaranteedRef { $0.close() }
    limited.pointee.scope.release()
    return isOver
  }

  /// The same, when the body has thrown.
  ///
  /// - Returns: The error, or that of the limit which was its reason.
  @usableFromInline @inline(never)
  static func end(
    _ limited: UnsafeMutablePointer<TimeLimit>,
    after error: any Error
  ) -> any Error {
    let isOver = end(limited)
    guard isOver, error is CancellationError, !CancellationScope.isCancelled(limited.pointee.fiber)
    else { return error }
    return TimeoutError(limit: limited.pointee.limit, site: limited.pointee.site.description)
  }
}
