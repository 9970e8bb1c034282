// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel
import Synchronization

/// What awaits and settles a promise, in memory that does not move.
@usableFromInline
package struct PromiseState {
  /// Those who await.
  ///
  /// First field; the next two have accessors that rely on this order. The lock is not the first, for
  /// the reason given at `ChannelCore`.
  @usableFromInline package var queue = WaitQueue()
  /// Guards everything here until the promise is settled.
  @usableFromInline package var lock: Lock
  /// The value or the error, constant once settled.
  @usableFromInline package var cell = ResultCell()
  /// Called when settled, in order.
  package var observers: [SettlementWork.Observer] = []
  /// Called when cancelled, in order.
  package var cancelHooks: [() -> Void] = []
  /// Starts the work of a lazy promise.
  package var starter: (() -> Void)?
  /// Coroutines that cancel the promise if they are cancelled while they await it.
  package var interested = 0
  /// The promise was cancelled.
  package var isCancelled = false
  /// The promise that this one follows, if it has been told to.
  var followed: FollowedPromise?

  @inlinable @inline(__always)
  package init() {
    lock = cck_lock_make_shared()
  }
}

extension UnsafeMutablePointer where Pointee == PromiseState {
  /// The address of the queue: the first field.
  @inlinable @inline(__always)
  package var queue: UnsafeMutablePointer<WaitQueue> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: WaitQueue.self)
  }

  /// The address of the lock.
  @inlinable @inline(__always)
  package var lock: UnsafeMutablePointer<Lock> {
    // SAFETY: second field, after one whose stride is a multiple of its alignment (CoreLayoutTests).
    (UnsafeMutableRawPointer(self) + MemoryLayout<WaitQueue>.stride)
      .assumingMemoryBound(to: Lock.self)
  }

  /// The address of the cell.
  @inlinable @inline(__always)
  package var cell: UnsafeMutablePointer<ResultCell> {
    // SAFETY: third field; as above.
    (UnsafeMutableRawPointer(lock) + MemoryLayout<Lock>.stride)
      .assumingMemoryBound(to: ResultCell.self)
  }
}

/// A promise that is followed, which must be free to go away all the same: so its follower learns that it was
/// abandoned.
final class FollowedPromise {
  weak let promise: AnyPromise?

  init(_ promise: AnyPromise) {
    self.promise = promise
  }
}

/// A promise, whatever the type of its value: what lists of different promises hold.
public class AnyPromise: @unchecked Sendable {
  // SAFETY: a constant pointer to state that is guarded by its lock until `isSettled` is set.

  @usableFromInline
  package final let state: UnsafeMutablePointer<PromiseState>

  /// There is an outcome: the cell may be read without the lock.
  @usableFromInline
  package final let settledFlag = AtomicFlag()

  /// Where the promise was made.
  public final let creationSite: SourceSite

  @inlinable
  package init(site: SourceSite) {
    creationSite = site
    state = .allocate(capacity: 1)
    state.initialize(to: PromiseState())
  }

  deinit {
    // Nobody awaits: whoever does holds the promise. Observers may be left.
    if !settledFlag.isSet {
      _ = settle { $0.store(failure: PromiseError.abandoned(creationSite)) }
    }
    state.cell.clear()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  // MARK: - Following

  /// Notes that this promise is to follow another one, unless that one follows this, by whatever detour.
  ///
  /// The note is made before the look: of two threads that close a ring together, at least one sees it.
  ///
  /// - Returns: False if they would wait for one another for ever.
  final func beginFollowing(_ other: AnyPromise) -> Bool {
    note(FollowedPromise(other))
    var next: AnyPromise? = other
    while let promise = next {
      if promise === self {
        // Without it the others are a line again, which a look comes to the end of.
        note(nil)
        return false
      }
      next = promise.settledFlag.isSet ? nil : promise.followed
    }
    return true
  }

  private final var followed: AnyPromise? {
    state.lock.withLock { state.pointee.followed }?.promise
  }

  private final func note(_ followed: FollowedPromise?) {
    state.lock.withLock { state.pointee.followed = followed }
  }

  // MARK: - Looking

  /// Not settled yet.
  public final var isPending: Bool { !settledFlag.isSet }

  /// Settled with a value.
  public final var isFulfilled: Bool {
    settledFlag.isSet && state.cell.pointee.content == .value
  }

  /// Settled with an error.
  public final var isRejected: Bool {
    settledFlag.isSet && state.cell.pointee.content == .error
  }

  /// The error, once rejected.
  public final var error: (any Error)? {
    settledFlag.isSet ? state.cell.pointee.failure : nil
  }

  // MARK: - Settling

  /// Settles the promise with an error.
  ///
  /// From any thread. Awaiting coroutines become ready; observers are called before this returns.
  ///
  /// - Parameter error: The error.
  /// - Returns: False if the promise was settled before.
  @discardableResult
  public final func reject(_ error: any Error) -> Bool {
    settle { $0.store(failure: error) }
  }

  /// Rejects the promise with `PromiseError.cancelled` and tells whoever works for it.
  ///
  /// No effect once settled. The work behind the promise stops only if it has registered `onCancel`.
  public final func cancel() {
    settle(isCancellation: true) { $0.store(failure: PromiseError.cancelled) }
  }

  /// Settles the promise with what `fill` puts into the cell.
  ///
  /// - Returns: False if it was settled before.
  @inlinable @inline(__always)
  @discardableResult
  package final func settle(
    isCancellation: Bool = false,
    _ fill: (UnsafeMutablePointer<ResultCell>) -> Void
  ) -> Bool {
    let thread = currentThread()
    let mode = state.lock.acquire(thread)
    guard state.pointee.cell.content == .nothing else {
      state.lock.release(mode)
      return false
    }
    // Moving a value in runs no code of the user's.
    fill(state.cell)
    settledFlag.set()
    finishSettling(isCancellation, mode, thread)
    return true
  }

  /// The same in a chain: what follows is added to the work of the promise before.
  @discardableResult
  final func settle(
    _ work: inout SettlementWork,
    _ fill: (UnsafeMutablePointer<ResultCell>) -> Void
  ) -> Bool {
    let mode = state.lock.acquire(currentThread())
    guard state.pointee.cell.content == .nothing else {
      state.lock.release(mode)
      return false
    }
    fill(state.cell)
    settledFlag.set()
    leaveLock(false, mode, &work, keeping: self)
    return true
  }

  /// Leaves the lock and tells everybody: cancel hooks, observers, awaiting coroutines.
  @usableFromInline
  package final func finishSettling(
    _ isCancellation: Bool,
    _ mode: LockMode,
    _ thread: ThreadRecord
  ) {
    var work = SettlementWork()
    leaveLock(isCancellation, mode, &work, keeping: nil)
    work.run()
  }

  /// Leaves the lock, calls the cancel hooks, and adds the rest to the work.
  private final func leaveLock(
    _ isCancellation: Bool,
    _ mode: LockMode,
    _ work: inout SettlementWork,
    keeping promise: AnyPromise?
  ) {
    var wakes = ResumeList()
    wakes.claimAll(of: &state.queue.pointee, .delivered)
    state.pointee.isCancelled = isCancellation
    let observers = state.pointee.observers
    let hooks = state.pointee.cancelHooks
    let starter = state.pointee.starter
    if !observers.isEmpty { state.pointee.observers = [] }
    if !hooks.isEmpty { state.pointee.cancelHooks = [] }
    if starter != nil { state.pointee.starter = nil }
    state.lock.release(mode)
    // What the closures hold on to is released out here.
    withExtendedLifetime(starter) {}
    if isCancellation { for hook in hooks { hook() } }
    if observers.isEmpty {
      wakes.resumeAll()
    } else {
      work.add(observers, wakes, keeping: promise)
    }
  }

  /// Calls `hook` when the promise is cancelled; at once if it has been.
  final func addCancelHook(_ hook: @escaping () -> Void) {
    let isCancelled = state.lock.withLock {
      if settledFlag.isSet { return state.pointee.isCancelled }
      state.pointee.cancelHooks.append(hook)
      return false
    }
    if isCancelled { hook() }
  }

  /// Calls `observer` when the promise is settled; at once if it is.
  ///
  /// - Parameters:
  ///   - startsWork: Whether this begins the work of a lazy promise.
  ///   - work: Where to add what follows, if the promise is settled.
  ///   - observer: Called under no lock.
  final func addObserver(
    startsWork: Bool = true,
    _ work: inout SettlementWork,
    _ observer: @escaping SettlementWork.Observer
  ) {
    let (isSettled, starter): (Bool, (() -> Void)?) = state.lock.withLock {
      if settledFlag.isSet { return (true, nil) }
      state.pointee.observers.append(observer)
      guard startsWork else { return (false, nil) }
      defer { state.pointee.starter = nil }
      return (false, state.pointee.starter)
    }
    starter?()
    if isSettled { observer(&work) }
  }

  /// The same outside a chain: what follows is done before this returns.
  final func addObserver(
    startsWork: Bool = true,
    _ observer: @escaping SettlementWork.Observer
  ) {
    var work = SettlementWork()
    addObserver(startsWork: startsWork, &work, observer)
    work.run()
  }

  /// Makes the promise lazy: `work` runs when somebody first looks.
  final func setStarter(_ work: @escaping () -> Void) {
    state.lock.withLock { state.pointee.starter = work }
  }

  /// Starts the work of a lazy promise now, without waiting for it.
  public final func start() {
    let starter = state.lock.withLock {
      defer { state.pointee.starter = nil }
      return state.pointee.starter
    }
    starter?()
  }

  // MARK: - Awaiting

  /// Parks until the promise is settled.
  @usableFromInline
  package final func wait(_ cancellation: AwaitCancellation) throws {
    // A park point even when there is nothing to wait for (rule 2). Code that may not park leaves the
    // promise untouched: it neither starts a lazy one nor cancels it.
    _ = try Parking.begin("Promise.await()", currentThread())
    if !settledFlag.isSet { try waitUntilSettled(cancellation) }
  }

  /// The same for callers that have begun their park point already: a cancellation that has come since
  /// counts as one during the wait.
  final func waitUntilSettled(_ cancellation: AwaitCancellation) throws {
    start()
    if cancellation == .cancelPromise { state.lock.withLock { state.pointee.interested += 1 } }
    do {
      try Parking.wait(
        "Promise.await()",
        on: state.queue,
        state.lock,
        of: self,
        unless: { settledFlag.isSet }
      )
    } catch {
      if cancellation == .cancelPromise, leave() { cancel() }
      throw error
    }
    if cancellation == .cancelPromise { _ = leave() }
  }

  /// One coroutine less that cancels the promise; true if it was the last.
  private final func leave() -> Bool {
    state.lock.withLock {
      state.pointee.interested -= 1
      return state.pointee.interested == 0
    }
  }

  /// Suspends the calling task until the promise is settled.
  final func waitInTask() async throws {
    start()
    if !settledFlag.isSet {
      try await TaskWait.wait(
        on: state.queue,
        state.lock,
        unless: { self.settledFlag.isSet }
      )
    }
  }
}

/// What cancelling a coroutine does to the promise that it awaits.
public enum AwaitCancellation: Sendable, Hashable {
  /// Nothing: others may still want it.
  case leavePromise
  /// Cancels it, if no other coroutine awaits it in this way.
  case cancelPromise
}
