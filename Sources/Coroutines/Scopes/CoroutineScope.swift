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
@inlinable
@discardableResult
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withCoroutineScope<Result>(
  _ body: (CoroutineScope) throws -> Result
) throws -> Result {
  let scope = try CoroutineScope.open()
  let result: Result
  do {
    result = try body(scope)
  } catch {
    throw scope.close(after: error)
  }
  try scope.close()
  return result
}

/// Launches coroutines that are waited for together; see `withCoroutineScope`.
public final class CoroutineScope: @unchecked Sendable {
  // SAFETY: `pendingHere`, `isWaiting` and `isOver` belong to the home of the coroutine whose scope it is. `failure` and
  // `cancelledChild` are guarded by the wait point's lock, the number of children elsewhere by their registry's.
  //
  // Invariants:
  // - N1. A child that the scope's own loop launches on that loop is in the list of `cancellation`, and counts in
  //   `pendingHere`: it needs no lock, neither at its launch nor at its end. All others are in the registry there, and
  //   counted under its lock.
  // - N2. Until none is left of either the scope is alive, so its children hold no reference to it. The last one elsewhere
  //   takes one with it out of the registry, to wake who waits.
  // - N3. The registry's lock is taken inside the wait point's, never the other way round.

  private final let cancellation: CancellationScope
  private final let elsewhere: RemoteChildren
  private final let point = WaitPoint()
  @exclusivity(unchecked)
  private final var pendingHere = 0
  @exclusivity(unchecked)
  private final var isWaiting = false
  @exclusivity(unchecked)
  private final var failure: (any Error)?
  @exclusivity(unchecked)
  private final var cancelledChild = false
  @exclusivity(unchecked)
  private final var isOver = false

  /// Opens a scope of the running coroutine.
  @usableFromInline
  static func open() throws -> CoroutineScope {
    guard let fiber = currentThread().runningFiber else {
      throw CoroutineError.outsideCoroutine("withCoroutineScope(_:)")
    }
    return CoroutineScope(CancellationScope.open(fiber).takeRetainedValue())
  }

  init(_ cancellation: CancellationScope) {
    self.cancellation = cancellation
    elsewhere = cancellation.requiredRemoteChildren
    // The registry, too, is made now, because children may be launched from other schedulers.
    cancellation.setWaiting(self)
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
    _ body: consuming @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let thread = currentThread()
    return add(
      thread.runningFiber.map { $0.pointee.home } ?? SchedulerCore.ofCaller(thread).home,
      .pinned,
      name,
      stackSize,
      start,
      SourceSite(file: file, line: line),
      thread,
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
  @_disfavoredOverload  // `.current` is the other one's.
  public func launch<Value>(
    on scheduler: Scheduler,
    name: String? = nil,
    stackSize: StackSize = .default,
    start: LaunchStart = .queued,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: consuming sending @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    scheduler.core.launch(
      in: self,
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
    SchedulerCore.ofQueue(queue).launch(
      in: self,
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
    _ home: UnsafeMutablePointer<Home>,
    _ placement: Placement,
    _ name: String?,
    _ stackSize: StackSize,
    _ start: LaunchStart,
    _ site: SourceSite,
    _ thread: ThreadRecord,
    _ body: consuming @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let fiber = ValueCoroutine<Value>.make(
      home: home,
      stackSize: stackSize,
      site: site,
      thread: thread,
      work: body
    )
    let coroutine = ValueCoroutine<Value>.handle(of: fiber)
    if let name { fiber.setName(name) }
    begin(fiber, start, placement, thread)
    return coroutine
  }

  /// Hands a coroutine to its scheduler, as one more that will have to end before the scope does.
  @usableFromInline
  func begin(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ start: LaunchStart,
    _ placement: Placement,
    _ thread: ThreadRecord
  ) {
    let own = cancellation.coroutine.fiber.pointee.home
    let isHere =
      placement == .pinned && fiber.pointee.home == own && thread.currentHome == own
    if isHere {
      if isOver { fiber.withCoroutine { $0.stopLateForScope() } }
      pendingHere += 1
    }
    fiber.withCoroutine { $0.isScoped = true }
    fiber.begin(start, in: cancellation, isHere: isHere, placement, thread)
  }

  /// Cancels everything in the scope, because of its first error.
  ///
  /// A cancellation that ended the body gives way to an error of a child that it cancelled: rule 6.
  private func fail(_ error: any Error) {
    point.lock.withLock {
      if failure == nil || failure is CancellationError { failure = error }
    }
    cancel()
  }

  /// A child has ended like this, and has not been counted yet.
  @inline(never)
  private func note(_ error: any Error) {
    if error is CancellationError {
      point.lock.withLock { cancelledChild = true }
    } else {
      fail(error)
    }
  }

  /// A child has ended that is in the list (N1).
  fileprivate func childEnded(_ error: (any Error)?) {
    if let error { note(error) }
    pendingHere -= 1
    if pendingHere == 0, isWaiting { wakeWaiter() }
  }

  /// A child has ended that is in the registry.
  ///
  /// Called on the child's scheduler.
  ///
  /// - Parameters:
  ///   - child: Who has ended.
  ///   - scope: The one that waits for it; alive by N2 until the child has left.
  ///   - error: What it threw.
  fileprivate static func childEnded(
    _ child: UnsafeMutablePointer<Fiber>,
    of scope: Unmanaged<CoroutineScope>,
    _ error: (any Error)?
  ) {
    if let error { scope._withUnsafeGuaranteedRef { $0.note(error) } }
    // SAFETY: takes the reference over.
    RemoteChildren.leaveScope(child)?.takeRetainedValue().wakeWaiter()
  }

  /// A wake-up too many, of one who waits for the others, does no harm: it looks at both.
  private func wakeWaiter() {
    var wakes = ResumeList()
    point.lock.withLock { point.claimAll(&wakes) }
    wakes.resumeAll()
  }

  /// Waits for the children, and closes the scope.
  ///
  /// - Throws: The first error of a child.
  @usableFromInline
  func close() throws {
    let outcome = waitForChildren()
    cancellation.close()
    if let failure = outcome.failure { throw failure }
    // A child that was cancelled alone, or by `cancel()`, is what somebody here wanted.
    if outcome.hasCancelledChild, CancellationScope.isCancelled(cancellation.coroutine.fiber) {
      throw CancellationError()
    }
  }

  /// The same, when the body has thrown.
  ///
  /// - Returns: The first error.
  @usableFromInline @inline(never)
  func close(after error: any Error) -> any Error {
    fail(error)
    let first = waitForChildren().failure
    cancellation.close()
    return first ?? error
  }

  /// Waits until all children have ended.
  ///
  /// - Returns: The first error, and whether a child has ended by cancellation.
  private func waitForChildren() -> (failure: (any Error)?, hasCancelledChild: Bool) {
    while true {
      isWaiting = true
      // A child may launch another before it ends, so there may be new ones after each wait.
      while pendingHere > 0 { wait { pendingHere == 0 } }
      isWaiting = false
      isOver = elsewhere.endScope()
      if isOver { return point.lock.withLock { (failure, cancelledChild) } }
      wait { elsewhere.hasNonePending }
    }
  }

  private func wait(unless isOver: () -> Bool) {
    Parking.waitUninterrupted("withCoroutineScope(_:)", on: point.queue, point.lock, unless: isOver)
  }
}

extension SchedulerCore {
  /// Launches on this scheduler, as a child of a scope, from anywhere.
  @inlinable
  final func launch<Value>(
    in scope: CoroutineScope,
    _ name: String?,
    _ stackSize: StackSize,
    _ start: LaunchStart,
    _ site: SourceSite,
    _ body: consuming @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let thread = currentThread()
    let coroutine = scope.add(
      homeOfNext(thread),
      isPool ? .wide : .pinned,
      name,
      stackSize,
      start,
      site,
      thread,
      body
    )
    // Nothing but the launch refers to the home until now.
    return withExtendedLifetime(self) { coroutine }
  }
}

/// A scope that waits for a coroutine which is about to end.
///
/// One word, which most ends carry as nil: bit 0 says that the coroutine ends on the scope's own loop.
struct WaitingScope {
  private let bits: UnsafeRawPointer

  fileprivate init(_ scope: Unmanaged<CoroutineScope>, isHere: Bool) {
    // SAFETY: objects are aligned to more than two bytes; the pointer is not used as one before bit 0 is gone.
    bits = UnsafeRawPointer(scope.toOpaque()) + (isHere ? 1 : 0)
  }

  /// The coroutine ends on the scope's own loop.
  var isHere: Bool { UInt(bitPattern: bits) & 1 != 0 }

  /// Tells it.
  ///
  /// - Parameters:
  ///   - child: The one that ends.
  ///   - error: What it threw.
  @inline(never)
  func note(endOf child: UnsafeMutablePointer<Fiber>, _ error: (any Error)?) {
    // SAFETY: what `init` was given. It is alive until this has been counted (N2), or its home is busy with this.
    if isHere {
      let scope = Unmanaged<CoroutineScope>.fromOpaque(bits - 1)
      scope._withUnsafeGuaranteedRef { $0.childEnded(error) }
    } else {
      CoroutineScope.childEnded(child, of: Unmanaged.fromOpaque(bits), error)
    }
  }
}

extension Coroutine {
  /// It has been launched in a scope that is over, which nobody would wait for.
  final func stopLateForScope() -> Never {
    fatalError(
      "A coroutine was launched at \(creationSite) in a scope that is over. A scope must not be used "
        + "outside the body of its withCoroutineScope."
    )
  }

  /// The scope that waits for this one, which is about to leave the list or the registry that says so (N1).
  @inline(never)
  final func leaveScope() -> WaitingScope {
    isScoped = false
    let list = fiber.pointee.siblings
    // SAFETY: alive because this one is in it (R1).
    let registry = fiber.pointee.registry.map { Unmanaged<RemoteChildren>.fromOpaque($0) }
    let scope =
      list.map { CancellationScope.waiting(for: $0) }
      ?? registry?._withUnsafeGuaranteedRef { $0.waiting }
    // It would wait for this child for ever.
    guard let scope else { fatalError("\(self) is in no list of the scope that waits for it") }
    return WaitingScope(scope, isHere: list != nil)
  }
}
