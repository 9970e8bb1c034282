// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// The scheduler of the code that calls, as what `launch(on: .current)` is told.
///
/// In a coroutine of a pool what is so launched begins on that coroutine's thread, unless another that has nothing to do takes it
/// over first. Everywhere else it is `launch { }`, with a closure that may be sent. No reference to a scheduler is counted for it: `Scheduler.current`, for all that a scheduler may be
/// needed for, counts one.
public struct CurrentScheduler: Sendable {
  /// The scheduler of the code that calls.
  @inlinable @inline(__always)
  public static var current: CurrentScheduler { CurrentScheduler() }

  @inlinable @inline(__always)
  init() {}

  /// The loop that the thread runs, if it is a pool's: what is launched on a pool by its own coroutines begins there.
  @inlinable @inline(__always)
  static func loopOfPool(_ thread: ThreadRecord) -> UnsafeMutablePointer<Home>? {
    guard let home = thread.currentHome, home.pointee.pool != nil else { return nil }
    return home
  }
}

/// Starts a coroutine on the scheduler of the code that calls this: in a pool, on any of its threads.
///
/// - Parameters:
///   - scheduler: `.current`.
///   - name: For dumps, errors and overflow reports.
///   - stackSize: Address space for its stack; see `StackSize`.
///   - start: When it begins.
///   - file: Where it is launched; leave out.
///   - line: Where it is launched; leave out.
///   - body: What it does. It may run in parallel with the caller, hence `sending`.
/// - Returns: The handle.
@inlinable
@discardableResult
public func launch<Value>(
  on scheduler: CurrentScheduler,
  name: String? = nil,
  stackSize: StackSize = .default,
  start: LaunchStart = .queued,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: consuming sending @escaping () throws -> Value
) -> ValueCoroutine<Value> {
  let thread = currentThread()
  guard let home = CurrentScheduler.loopOfPool(thread) else {
    return ValueCoroutine<Value>.launchHere(
      name: name,
      stackSize: stackSize,
      start: start,
      site: SourceSite(file: file, line: line),
      work: body
    )
  }
  let fiber = ValueCoroutine<Value>.make(
    home: home,
    stackSize: stackSize,
    site: SourceSite(file: file, line: line),
    thread: thread,
    work: body
  )
  let coroutine = ValueCoroutine<Value>.handle(of: fiber)
  if let name { fiber.setName(name) }
  fiber.beginShared(.near, start, thread.runningFiber, thread)
  return coroutine
}

extension CoroutineScope {
  /// Starts a coroutine of this scope on the scheduler of the code that calls this: in a pool, on any of its threads.
  ///
  /// - Parameters:
  ///   - scheduler: `.current`.
  ///   - name: For dumps, errors and overflow reports.
  ///   - stackSize: Address space for its stack; see `StackSize`.
  ///   - start: When it begins.
  ///   - file: Where it is launched; leave out.
  ///   - line: Where it is launched; leave out.
  ///   - body: What it does. What it throws cancels the scope.
  /// - Returns: The handle.
  @inlinable
  @discardableResult
  public func launch<Value>(
    on scheduler: CurrentScheduler,
    name: String? = nil,
    stackSize: StackSize = .default,
    start: LaunchStart = .queued,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: consuming sending @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let thread = currentThread()
    guard let home = CurrentScheduler.loopOfPool(thread) else {
      return launch(name: name, stackSize: stackSize, start: start, file: file, line: line, body)
    }
    let site = SourceSite(file: file, line: line)
    return add(home, .near, name, stackSize, start, site, thread, body)
  }
}
