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
    let outcome = scope.waitForChildren()
    if let failure = outcome.failure { throw failure }
    guard let result else { fatalError("a scope ended with neither value nor error") }
    wasCutOff = outcome.hasCancelledChild
    return result
  }
  // A child that was cancelled alone, or by `scope.cancel()`, is what somebody here wanted.
  if wasCutOff, CancellationScope.isCancelled(fiber) { throw CancellationError() }
  return result
}

/// Launches coroutines that are waited for together; see `withCoroutineScope`.
public final class CoroutineScope: @unchecked Sendable {
  // SAFETY: `pendingHere` and `isWaiting` belong to the home of the coroutine whose scope it is. `pendingElsewhere`,
  // `failure` and `cancelledChild` are guarded by the wait point's lock, and so is `isOver`, which only that home sets.
  //
  // Invariants:
  // - N1. A child that the scope's own loop launches on that loop is in the list of `cancellation`, and counts in
  //   `pendingHere`: it needs no lock, neither at its launch nor at its end. All others are in the registry there and
  //   count in `pendingElsewhere`.
  // - N2. Until both are 0 the scope is alive, so its children hold no reference to it. One that ends elsewhere has one
  //   for as long as it counts its end.

  private final let cancellation: CancellationScope
  private final let point = WaitPoint()
  @exclusivity(unchecked)
  private final var pendingHere = 0
  @exclusivity(unchecked)
  private final var isWaiting = false
  @exclusivity(unchecked)
  private final var pendingElsewhere = 0
  @exclusivity(unchecked)
  private final var failure: (any Error)?
  @exclusivity(unchecked)
  private final var cancelledChild = false
  @exclusivity(unchecked)
  private final var isOver = false

  init(_ cancellation: CancellationScope) {
    self.cancellation = cancellation
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
      isShared: false,
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
    isShared: Bool,
    _ name: String?,
    _ stackSize: StackSize,
    _ start: LaunchStart,
    _ site: SourceSite,
    _ thread: ThreadRecord,
    _ body: consuming @escaping () throws -> Value
  ) -> ValueCoroutine<Value> {
    let coroutine = ValueCoroutine<Value>.make(
      home: home,
      stackSize: stackSize,
      site: site,
      thread: thread,
      work: body
    )
    if let name { coroutine.setName(name) }
    begin(coroutine, start, isShared: isShared, thread)
    return coroutine
  }

  /// Hands a coroutine to its scheduler, as one more that will have to end before the scope does.
  @usableFromInline
  func begin(
    _ coroutine: Coroutine,
    _ start: LaunchStart,
    isShared: Bool,
    _ thread: ThreadRecord
  ) {
    let own = cancellation.coroutine.fiber.pointee.home
    let isHere = !isShared && coroutine.fiber.pointee.home == own && thread.currentHome == own
    var wasOpen = true
    if isHere {
      wasOpen = !isOver
      pendingHere += 1
    } else {
      point.lock.withLock {
        wasOpen = !isOver
        pendingElsewhere += 1
      }
    }
    demand(
      wasOpen,
      "A coroutine was launched at \(coroutine.creationSite) in a scope that is over. A scope must not be used "
        + "outside the body of its withCoroutineScope."
    )
    coroutine.isScoped = true
    coroutine.begin(start, in: cancellation, isHere: isHere, isShared: isShared, thread)
  }

  /// Cancels everything in the scope, because of its first error.
  ///
  /// A cancellation that ended the body gives way to an error of a child that it cancelled: rule 6.
  fileprivate func fail(_ error: any Error) {
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

  /// A child has ended.
  ///
  /// Called on the child's scheduler.
  fileprivate func childEnded(_ error: (any Error)?, isHere: Bool) {
    if let error { note(error) }
    if isHere {
      pendingHere -= 1
      guard pendingHere == 0, isWaiting else { return }
    }
    var wakes = ResumeList()
    point.lock.withLock {
      if !isHere { pendingElsewhere -= 1 }
      // A wake-up too many, of one who waits for the others, does no harm: it looks at both numbers.
      if isHere || pendingElsewhere == 0 { point.claimAll(&wakes) }
    }
    wakes.resumeAll()
  }

  /// Waits until all children have ended.
  ///
  /// - Returns: The first error, and whether a child has ended by cancellation.
  fileprivate func waitForChildren() -> (failure: (any Error)?, hasCancelledChild: Bool) {
    while true {
      isWaiting = true
      // A child may launch another before it ends, so there may be new ones after each wait.
      while pendingHere > 0 { wait { pendingHere == 0 } }
      isWaiting = false
      let outcome: (failure: (any Error)?, hasCancelledChild: Bool)? = point.lock.withLock {
        isOver = pendingElsewhere == 0
        return isOver ? (failure, cancelledChild) : nil
      }
      if let outcome { return outcome }
      wait { pendingElsewhere == 0 }
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
      isShared: isPool,
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

  /// Tells it.
  @inline(never)
  func childEnded(_ error: (any Error)?) {
    // SAFETY: what `init` was given. It is alive until this has been counted (N2), and then kept so, or its home is busy
    // with this.
    if UInt(bitPattern: bits) & 1 != 0 {
      let scope = Unmanaged<CoroutineScope>.fromOpaque(bits - 1)
      scope._withUnsafeGuaranteedRef { $0.childEnded(error, isHere: true) }
    } else {
      let scope = Unmanaged<CoroutineScope>.fromOpaque(bits).takeUnretainedValue()
      scope.childEnded(error, isHere: false)
    }
  }
}

extension Coroutine {
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
