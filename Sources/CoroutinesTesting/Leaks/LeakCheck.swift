// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Dispatch

/// Runs `body`, and fails if it leaves something behind: a coroutine that has not ended, or a generator that has
/// begun and has neither ended nor been dropped, and with them the stacks that they hold.
///
/// ```swift
/// try runBlocking {
///   try withLeakCheck {
///     let server = try Server.start()
///     try server.answer(request)
///     try server.stop()
///   }  // throws a LeakError if a coroutine of the server's still waits somewhere
/// }
/// ```
///
/// What `body` launches, and what that launches, on any scheduler, counts; what the rest of the process does
/// meanwhile does not. (Two things are not seen: what a `SerialScheduler` from before the check launches on itself,
/// and what tasks launch.) A promise that is never settled shows by the coroutine that awaits it.
///
/// At the end, coroutines that can run are given the time to: here by giving way to them, on other threads by
/// waiting no longer than `patience`. Those that wait are left over. They are cancelled then, so that a loop around
/// the check can end.
///
/// Works in a coroutine, under `runBlocking` and `TestScheduler`, and outside. Around `runBlocking` or
/// `TestScheduler.run` it finds what these do not wait for. Checks can be nested; what is found by the inner one
/// counts for the outer one, too, if it still has not ended.
///
/// - Parameters:
///   - patience: How long, in real time, to wait for other threads, in a check that fails.
///   - file: Where it is called; leave out.
///   - line: Where it is called; leave out.
///   - body: What to check; may park, in a coroutine.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws; `LeakError` if it does not throw.
@discardableResult
public func withLeakCheck<Result>(
  patience: Duration = .seconds(5),
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: () throws -> Result
) throws -> Result {
  let census = Census()
  defer { census.close() }
  let result = try body()
  try waitForStragglers(census, patience)
  if let leaks = LeakError(census, patience: patience, SourceSite(file: file, line: line)) {
    for coroutine in census.coroutines { coroutine.cancel() }
    throw leaks
  }
  return result
}

/// Turns that those who can run are given.
private let turns = 1000

/// Lets those end who need nothing but to run.
private func waitForStragglers(_ census: Census, _ patience: Duration) throws {
  let end = ContinuousClock.now + patience
  var turnsLeft = turns
  while true {
    let left = census.coroutines
    let canRunHere = left.contains { $0.isInReach && $0.state != .suspended }
    if canRunHere, Coroutine.current != nil, turnsLeft > 0 {
      turnsLeft -= 1
      try giveWay()
    } else if left.contains(where: { !$0.isInReach }), ContinuousClock.now < end {
      // Others run on other threads: nothing tells when they are done. This one's own go on meanwhile.
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
      if Coroutine.current != nil { try giveWay() }
    } else {
      return
    }
  }
}

/// Lets all who are ready run, once.
///
/// First come, first served, even where the order is explored: what the body did is over, and no choice may keep those
/// waiting who only have to end.
private func giveWay() throws {
  guard let home = currentThread().currentHome else { return }
  let isStepped = home.core is SteppedLoop
  if isStepped { home.pointee.urgent = .max / 2 }
  defer { if isStepped { home.pointee.urgent = 0 } }
  try withCancellationShield { try Coroutine.yield() }
}
