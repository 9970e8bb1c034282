// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
public import Dispatch

/// Runs `body` and waits for all coroutines that it launches through its scope.
///
/// ```swift
/// let total = try withCoroutineScope { scope in
///   let a = scope.launch { try count("a.txt") }
///   let b = scope.launch { try count("b.txt") }
///   return try a.value() + b.value()
/// }
/// ```
///
/// The scope outlives its children: this returns, or throws, only when all have finished. If a child
/// throws, the other children and `body` are cancelled, and once they have finished, this throws that
/// first error. If `body` throws, the children are cancelled in the same way. `CancellationError` is thrown only
/// when it is all that there is.
///
/// *Cancellation:* cancels `body` and the children; the wait for the children is not cut short. If a
/// child ended by it, this throws `CancellationError`, though `body` had returned: the work is not done.
///
/// - Parameter body: What to do; gets the scope to launch in.
/// - Returns: What `body` returns.
/// - Throws: The first error of a child or of `body`; `CancellationError`;
///   `CoroutineError.outsideCoroutine`.
@discardableResult
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withCoroutineScope<Result>(
  _ body: (CoroutineScope) throws -> Result
) throws -> Result {
  guard let fiber = currentThread().runningFiber else {
    throw CoroutineError.outsideCoroutine("withCoroutineScope(_:)")
  }
  var wasCutOff = false
  let result = try CancellationScope.run(fiber) { cancellation in
    let scope = CoroutineScope(cancellation)
    var result: Result?
    do {
      result = try body(scope)
    } catch {
      scope.fail(error)
    }
    scope.waitForChildren()
    if let failure = scope.firstFailure { throw failure }
    guard let result else { fatalError("a scope ended with neither value nor error") }
    wasCutOff = scope.hasCancelledChild
    return result
  }
  // A child that was cancelled alone, or by `scope.cancel()`, is what somebody here wanted.
  if wasCutOff, CancellationScope.isCancelled(fiber) { throw CancellationError() }
  return result
}

/// Launches coroutines that are waited for together; see `withCoroutineScope`.
public final class CoroutineScope: @unchecked Sendable {
  // SAFETY: `pending`, `failure`, `cancelledChild` and `isOver` are guarded by the wait point's lock.

  private let cancellation: CancellationScope
  private let point = WaitPoint()
  private var pending = 0
  private var failure: (any Error)?
  private var cancelledChild = false
  private var isOver = false

  init(_ cancellation: CancellationScope) {
    self.cancellation = cancellation
    // Made now, because children may be launched from other schedulers.
    _ = cancellation.requiredRemoteChildren
  }

  /// Starts a coroutine of this scope on the scheduler of the code that calls this.
  ///
  /// - Parameters:
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
    name: String? = nil,
    stackSize: StackSize = .default,
    start: LaunchStart = .queued,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    add(
      SchedulerCore.ofCaller(currentThread()),
      isShared: false,
      name,
      stackSize,
      start,
      SourceSite(file: file, line: line),
      body
    )
  }

  /// Starts a coroutine of this scope on a given scheduler.
  ///
  /// - Parameters:
  ///   - scheduler: Where it runs.
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
    on scheduler: Scheduler,
    name: String? = nil,
    stackSize: StackSize = .default,
    start: LaunchStart = .queued,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: consuming sending @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    add(
      scheduler.core,
      isShared: scheduler.core.isPool,
      name,
      stackSize,
      start,
      SourceSite(file: file, line: line),
      body
    )
  }

  /// Starts a coroutine of this scope on a dispatch queue.
  ///
  /// - Parameters:
  ///   - queue: Where it runs.
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
    on queue: DispatchQueue,
    name: String? = nil,
    stackSize: StackSize = .default,
    start: LaunchStart = .queued,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: consuming sending @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    add(
      SchedulerCore.ofQueue(queue),
      isShared: false,
      name,
      stackSize,
      start,
      SourceSite(file: file, line: line),
      body
    )
  }

  /// Cancels the body and all coroutines of the scope.
  ///
  /// Can be called from any thread.
  public func cancel() {
    cancellation.cancel()
  }

  /// True once the scope has been cancelled, by `cancel` or because something in it threw.
  public var isCancelled: Bool { cancellation.isCancelled }

  @inlinable
  func add<Value>(
    _ core: SchedulerCore,
    isShared: Bool,
    _ name: String?,
    _ stackSize: StackSize,
    _ start: LaunchStart,
    _ site: SourceSite,
    _ body: consuming @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    expectChild(site)
    let thread = currentThread()
    let coroutine = ValueCoroutine<Value>.make(
      home: isShared ? core.homeOfNext(thread) : core.home,
      stackSize: stackSize,
      site: site,
      thread: thread,
      work: body
    )
    if let name { coroutine.setName(name) }
    begin(coroutine, start, thread, isShared: isShared)
    return coroutine
  }

  /// One more coroutine will have to end before the scope does.
  @usableFromInline
  func expectChild(_ site: SourceSite) {
    let wasOpen = point.lock.withLock {
      pending += 1
      return !isOver
    }
    demand(
      wasOpen,
      "A coroutine was launched at \(site) in a scope that is over. A scope must not be used outside "
        + "the body of its withCoroutineScope."
    )
  }

  /// Hands a coroutine to its scheduler.
  @usableFromInline
  func begin(
    _ coroutine: Coroutine,
    _ start: LaunchStart,
    _ thread: ThreadRecord,
    isShared: Bool
  ) {
    coroutine.requiredExtras.scope = self
    coroutine.begin(start, in: cancellation, thread, isShared: isShared)
  }

  /// A child has ended.
  ///
  /// Called on the child's scheduler.
  func childEnded(_ error: (any Error)?) {
    if let error, !(error is CancellationError) { fail(error) }
    var wakes = ResumeList()
    point.lock.withLock {
      if error is CancellationError { cancelledChild = true }
      pending -= 1
      if pending == 0 { point.claimAll(&wakes) }
    }
    wakes.resumeAll()
  }

  /// Notes the first error, and cancels everything in the scope.
  ///
  /// A cancellation that ended the body gives way to an error of a child that it cancelled: rule 6.
  func fail(_ error: any Error) {
    point.lock.withLock {
      if failure == nil || failure is CancellationError { failure = error }
    }
    cancel()
  }

  var firstFailure: (any Error)? {
    point.lock.withLock { failure }
  }

  /// A child has ended by cancellation.
  var hasCancelledChild: Bool {
    point.lock.withLock { cancelledChild }
  }

  func waitForChildren() {
    // A child may launch another before it ends, so there may be new ones after each wait.
    while true {
      Parking.waitUninterrupted(
        "withCoroutineScope(_:)",
        on: point.queue,
        point.lock,
        unless: { pending == 0 }
      )
      let isDone = point.lock.withLock {
        isOver = pending == 0
        return isOver
      }
      if isDone { return }
    }
  }
}
