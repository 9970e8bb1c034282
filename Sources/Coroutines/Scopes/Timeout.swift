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
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withTimeout<Result>(
  _ limit: Duration,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  try limited(
    CoroutineClock().now.advanced(by: limit),
    limit,
    SourceSite(file: file, line: line),
    "withTimeout(_:)",
    body
  )
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
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withDeadline<Result>(
  _ deadline: CoroutineClock.Instant,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  try limited(
    deadline,
    nil,
    SourceSite(file: file, line: line),
    "withDeadline(_:)",
    body
  )
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
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withDeadline<Result>(
  _ deadline: ContinuousClock.Instant,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  try limited(
    CoroutineClock().now.advanced(by: ContinuousClock.now.duration(to: deadline)),
    nil,
    SourceSite(file: file, line: line),
    "withDeadline(_:)",
    body
  )
}

private func limited<Result>(
  _ deadline: CoroutineClock.Instant,
  _ limit: Duration?,
  _ site: SourceSite,
  _ operation: StaticString,
  _ body: () throws -> Result
) throws -> Result {
  guard let fiber = currentThread().runningFiber else {
    throw CoroutineError.outsideCoroutine(operation)
  }
  var timedOut = false
  do {
    return try CancellationScope.run(fiber) { scope in
      defer { timedOut = scope.isCancelled }
      let home = fiber.pointee.home
      if deadline.nanoseconds <= home.withCore({ $0.now }) {
        scope.cancel()
        return try body()
      }
      guard deadline.nanoseconds < .max else { return try body() }
      return try Timers.withTimer(
        at: deadline.nanoseconds,
        home,
        { _ in scope.cancel() },
        // By this, dumps know whose limit it is.
        UnsafeMutableRawPointer(fiber),
        body
      )
    }
  } catch is CancellationError where timedOut && !CancellationScope.isCancelled(fiber) {
    throw TimeoutError(limit: limit, site: site.description)
  }
}
