// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// An error of a test's own.
struct TrioError: Error, Equatable {
  let name: String

  init(_ name: String) { self.name = name }
}

/// Runs a test in virtual time; what hangs is a `Deadlock`.
///
/// - Returns: How much time passed.
@discardableResult
func inTrioTime(_ body: @escaping () throws -> Void) throws -> Duration {
  let scheduler = TestScheduler()
  try scheduler.run(body)
  return scheduler.elapsed
}

/// A wait that only a cancellation ends.
func trioSleepForever() throws { _ = try Channel<Int>().receive() }

/// Waits until all other coroutines wait: virtual time moves on only then.
func waitUntilTrioTasksBlock() throws { try Coroutine.sleep(for: .nanoseconds(1)) }

/// How much time `body` takes.
func trioTime(_ body: () throws -> Void) throws -> Duration {
  let start = CoroutineClock().now
  try body()
  return start.duration(to: CoroutineClock().now)
}

/// Trio's cancel scope: one that catches its own cancellation, and no other.
///
/// - Returns: Whether it has caught one: Trio's `cancelled_caught`.
@discardableResult
func trioScope(_ body: (CoroutineScope) throws -> Void) throws -> Bool {
  var isCancelled = false
  do {
    try withCoroutineScope { scope in
      // Looked at before the scope cancels itself for what `body` throws.
      defer { isCancelled = scope.isCancelled }
      try body(scope)
    }
    return false
  } catch is CancellationError where isCancelled && !Coroutine.isCancelled {
    return true
  }
}

/// Trio's `move_on_after`: a limit that is no error.
///
/// - Returns: Whether the limit ended the body.
@discardableResult
func trioMoveOn(after limit: Duration, _ body: () throws -> Void) throws -> Bool {
  do {
    try withTimeout(limit, body)
    return false
  } catch let error as TimeoutError where error.limit == limit {
    return true
  }
}

/// A deadline that can be moved, as that of Trio's scopes can: a child of the scope sees to it.
final class TrioDeadline {
  private let changes = Channel<CoroutineClock.Instant?>(capacity: .conflated)

  /// Moves the deadline; nil is never.
  func move(to instant: CoroutineClock.Instant?) { changes.sendIfReady(instant) }

  /// A scope with such a deadline.
  ///
  /// - Returns: Whether the deadline ended the body.
  static func with(
    _ first: CoroutineClock.Instant?,
    _ body: (TrioDeadline) throws -> Void
  ) throws -> Bool {
    try trioScope { scope in
      let deadline = TrioDeadline()
      let keeper = scope.launch { try deadline.keep(first) { scope.cancel() } }
      defer { keeper.cancel() }
      try body(deadline)
    }
  }

  private func keep(_ first: CoroutineClock.Instant?, _ expire: () -> Void) throws {
    var current = first
    var isExpired = false
    while let instant = try current ?? changes.receive() {
      try select {
        Receive(from: changes) { current = $0 }
        After(CoroutineClock().now.duration(to: instant)) { isExpired = true }
      }
      if isExpired { return expire() }
    }
  }
}

/// What Trio calls a checkpoint, and rule 2 a park point; none of these would have to wait.
enum TrioCheckpoint: String, CaseIterable, Sendable {
  case yield
  case sleepForNothing
  case sleep
  case sleepUntilNow
  case receive
  case send
  case select
  case awaitPromise
  case awaitAll
  case join
  case lock
  case permit
  case readLock
  case waitGroup

  func pass() throws {
    switch self {
    case .yield: try Coroutine.yield()
    case .sleepForNothing: try Coroutine.sleep(for: .zero)
    case .sleep: try Coroutine.sleep(for: .nanoseconds(1))
    case .sleepUntilNow: try Coroutine.sleep(until: CoroutineClock().now)
    case .receive:
      let channel = Channel<Int>(capacity: 1)
      channel.sendIfReady(1)
      _ = try channel.receive()
    case .send: try Channel<Int>(capacity: 1).send(1)
    case .select:
      let channel = Channel<Int>(capacity: 1)
      channel.sendIfReady(1)
      try Coroutines.select { Receive(from: channel) { _ in } }
    case .awaitPromise: _ = try Promise.fulfilled(1).await()
    case .awaitAll: _ = try Coroutines.awaitAll([Promise.fulfilled(1), .fulfilled(2)])
    case .join: try launch(start: .immediately) {}.join()
    case .lock: try CoroutineMutex().withLock {}
    case .permit: try CoroutineSemaphore(permits: 1).withPermit {}
    case .readLock: try CoroutineReadWriteLock().withReadLock {}
    case .waitGroup: try CoroutineWaitGroup(count: 0).wait()
    }
  }
}
