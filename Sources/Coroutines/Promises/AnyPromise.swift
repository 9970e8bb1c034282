// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel
import Synchronization

/// What awaits and settles a promise, in memory that does not move.
///
/// To the compiler it is bits: what it refers to is taken out when the promise is settled, at the latest by its
/// `deinit`, so that the end of a promise looks for nothing here.
@usableFromInline
package struct PromiseState {
  /// Those who await.
  ///
  /// First field; the next three have accessors that rely on this order. The lock is not the first, for
  /// the reason given at `ChannelCore`.
  @usableFromInline package var queue: WaitQueue
  /// Guards everything here until the promise is settled.
  @usableFromInline package var lock: Lock
  /// The value or the error, constant once settled.
  @usableFromInline package var cell: ResultCell
  /// Where the observer is, which `withObserver` leads to; zero stands for none.
  @usableFromInline package var observerBits: (UInt, UInt)
  /// What few promises have: one reference of ours.
  @usableFromInline package var extras: Unmanaged<PromiseExtras>?
  /// Coroutines that cancel the promise if they are cancelled while they await it.
  @usableFromInline package var interested: UInt32
  /// The promise was cancelled.
  @usableFromInline package var isCancelled: Bool

  // Values at the declarations would be calls at each promise that is made.
  @inlinable @inline(__always)
  package init() {
    queue = WaitQueue()
    lock = cck_lock_make_shared()
    cell = ResultCell()
    observerBits = (0, 0)
    extras = nil
    interested = 0
    isCancelled = false
  }
}

/// An observer in memory that a pointer leads to.
///
/// Without the structure around it a pointer's closure is one of unspecialised code, and each way in or out of there
/// wraps it once more.
@usableFromInline
package struct KeptObserver {
  package let call: SettlementWork.Observer

  package init(call: @escaping SettlementWork.Observer) { self.call = call }
}

/// What few promises have, guarded by the promise's lock; those that settle it take it out.
@usableFromInline
package final class PromiseExtras {
  /// Called when settled, in order, after the first one.
  var observers: [SettlementWork.Observer] = []
  /// Called when cancelled, in order.
  var cancelHooks: [() -> Void] = []
  /// Starts the work of a lazy promise, which it gets.
  var starter: ((AnyPromise) -> Void)?
  /// The promise that this one follows, if it has been told to; it must be free to go away all the same, so that
  /// its follower learns that it was abandoned.
  weak var followed: AnyPromise?
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

  /// The first that is called when settled; without it there are no others.
  @inline(__always)
  package func withObserver<Result>(
    _ body: (UnsafeMutablePointer<KeptObserver?>) -> Result
  ) -> Result {
    // SAFETY: fourth field; as above. It is as large, and zero is the representation of nil (CoreLayoutTests).
    (UnsafeMutableRawPointer(cell) + MemoryLayout<ResultCell>.stride)
      .assumingMemoryBound(to: (UInt, UInt).self)
      .withMemoryRebound(to: KeptObserver?.self, capacity: 1, body)
  }

  /// Nobody is to be called when the promise is settled or cancelled; called under the lock.
  @inlinable @inline(__always)
  package var isUnobserved: Bool { pointee.observerBits.0 == 0 && pointee.extras == nil }

  /// What few promises have.
  @inlinable @inline(__always)
  package var extras: PromiseExtras? {
    // SAFETY: it holds a reference until `takeExtras`. Called under the lock.
    pointee.extras.map { $0.takeUnretainedValue() }
  }

  /// Leaves none.
  package func takeExtras() -> PromiseExtras? {
    // SAFETY: takes over the reference that `PromiseExtras.add` made.
    pointee.extras.take().map { $0.takeRetainedValue() }
  }
}

extension PromiseExtras {
  /// New ones, for a state without; called under its lock.
  static func add(to state: UnsafeMutablePointer<PromiseState>) -> PromiseExtras {
    let extras = PromiseExtras()
    state.pointee.extras = Unmanaged.passRetained(extras)
    return extras
  }
}

/// A promise, whatever the type of its value: what lists of different promises hold.
public class AnyPromise: @unchecked Sendable {
  // SAFETY: the state is guarded by its lock until `isSettled` is set; the pointer to it is constant.

  /// Changes only in `beginAnew`.
  ///
  /// First property: `SpareMemory` uses its place when the promise is gone.
  @exclusivity(unchecked)
  @usableFromInline
  final var site: SourceSite

  /// What `state` points to: in the object, since an allocation costs as much as all else that is done here.
  @exclusivity(unchecked)
  @usableFromInline
  final var storage: PromiseState

  /// The address of `storage`, taken once: in Swift that counts as an access, and others look at it without the
  /// lock.
  @exclusivity(unchecked)
  @usableFromInline
  package final var state: UnsafeMutablePointer<PromiseState>

  /// There is an outcome: the cell may be read without the lock.
  @usableFromInline
  package final let settledFlag = AtomicFlag()

  /// Where the promise was made.
  public final var creationSite: SourceSite { site }

  @inlinable
  package init(site: SourceSite) {
    self.site = site
    storage = PromiseState()
    // SAFETY: not zero; filled in on the next line. A stored property of a class does not move.
    state = UnsafeMutablePointer(bitPattern: MemoryLayout<PromiseState>.alignment).unsafelyUnwrapped
    state = withUnsafeMutablePointer(to: &storage) { $0 }
  }

  deinit {
    // Nobody awaits: whoever does holds the promise. Observers may be left.
    if !settledFlag.isSet { abandon() }
    state.cell.clear()
    let thread = currentThread()
    thread.promiseMemory.keep(Unmanaged.passUnretained(self).toOpaque(), thread)
  }

  /// Settles a promise that nobody can settle any more, so that those who observe it learn of that.
  @inline(never)
  private final func abandon() {
    guard state.pointee.observerBits.0 != 0 else {
      // Nobody does.
      _ = state.takeExtras()
      return
    }
    settle { $0.store(failure: PromiseError.abandoned(creationSite)) }
  }

  // MARK: - Used again

  /// A settled promise that can wait to be freed without anybody noticing: its value takes nothing to destroy, and
  /// nobody refers to it weakly.
  @inlinable @inline(__always)
  final var holdsNothing: Bool {
    state.cell.pointee.takesNothing
      && cck_object_is_shared_by_few(Unmanaged.passUnretained(self).toOpaque()) != 0
  }

  /// The caller's reference is the only one, so nobody awaits it, observes it or settles it; and it is of the class.
  @inlinable @inline(__always)
  final func isFree(type: AnyPromise.Type) -> Bool {
    cck_object_is_unshared(Unmanaged.passUnretained(self).toOpaque()) != 0
      && ObjectIdentifier(Swift.type(of: self)) == ObjectIdentifier(type)
  }

  /// Makes a promise that is free, and held nothing, a pending one.
  @inlinable @inline(__always)
  final func beginAnew(_ site: SourceSite) {
    self.site = site
    state.cell.clear()
    state.pointee.interested = 0
    state.pointee.isCancelled = false
    settledFlag.clear()
  }

  // MARK: - Following

  /// Notes that this promise is to follow another one, unless that one follows this, by whatever detour.
  ///
  /// The note is made before the look: of two threads that close a ring together, at least one sees it.
  ///
  /// - Returns: False if they would wait for one another for ever.
  @usableFromInline
  final func beginFollowing(_ other: AnyPromise) -> Bool {
    note(other)
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
    state.lock.withLock { state.extras?.followed }
  }

  private final func note(_ followed: AnyPromise?) {
    withExtras { $0.followed = followed }
  }

  /// Changes what few promises have, under the lock; not once settled.
  @discardableResult
  private final func withExtras<Result>(_ body: (PromiseExtras) -> Result) -> Result? {
    state.lock.withLock {
      if settledFlag.isSet { return nil }
      return body(state.extras ?? PromiseExtras.add(to: state))
    }
  }

  // MARK: - Looking

  /// Not settled yet.
  public final var isPending: Bool { !settledFlag.isSet }

  /// Settled with a value.
  public final var isFulfilled: Bool {
    settledFlag.isSet && state.cell.pointee.hasValue
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
    settle(isCancellation: true) { $0.store(failure: PromiseError.cancelled(creationSite)) }
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
    guard let mode = beginSettling(thread) else { return false }
    fill(state.cell)
    if isCancellation { state.pointee.isCancelled = true }
    endSettling(isCancellation, mode, thread)
    return true
  }

  /// Takes the lock to settle the promise: the cell is to be filled next.
  ///
  /// Apart from `settle`, for what is moved into the cell: a closure that has captured it copies it.
  ///
  /// - Returns: Nil, and no lock is held, if it was settled before.
  @inlinable @inline(__always)
  final func beginSettling(_ thread: ThreadRecord) -> LockMode? {
    let mode = state.lock.acquire(thread)
    guard state.pointee.cell.content == .nothing else {
      state.lock.release(mode)
      return nil
    }
    // Moving a value in runs no code of the user's.
    return mode
  }

  /// The cell is filled: leaves the lock and tells everybody.
  @inlinable @inline(__always)
  final func endSettling(_ isCancellation: Bool, _ mode: LockMode, _ thread: ThreadRecord) {
    settledFlag.set()
    if state.isUnobserved, state.pointee.queue.isEmpty {
      state.lock.release(mode)
    } else {
      finishSettling(isCancellation, mode, thread)
    }
  }

  /// The same in a chain: what follows is added to the work of the promise before.
  @inlinable @inline(__always)
  final func endSettling(_ work: inout SettlementWork, _ mode: LockMode) {
    settledFlag.set()
    if state.isUnobserved, state.pointee.queue.isEmpty {
      state.lock.release(mode)
    } else {
      work.add(settled: self, mode)
    }
  }

  /// Rejects the promise in a chain.
  @usableFromInline @inline(never)
  final func settle(failure: any Error, _ work: inout SettlementWork) {
    guard let mode = beginSettling(currentThread()) else { return }
    state.cell.store(failure: failure)
    endSettling(&work, mode)
  }

  /// Leaves the lock and tells everybody: cancel hooks, observers, awaiting coroutines.
  ///
  /// Of one that awaits all is told here, with no registers kept for it; everything else is a jump.
  @usableFromInline
  package final func finishSettling(
    _ isCancellation: Bool,
    _ mode: LockMode,
    _ thread: ThreadRecord
  ) {
    guard state.isUnobserved, let first = state.pointee.queue.claimFirst() else {
      return finishSettling(isCancellation, mode, claimed: nil)
    }
    guard state.pointee.queue.isEmpty else {
      return finishSettling(isCancellation, mode, claimed: first)
    }
    state.lock.release(mode)
    ResumeToken(first, .delivered).resume(thread)
  }

  /// The same, where one that awaits may have been claimed already.
  @inline(never)
  private final func finishSettling(
    _ isCancellation: Bool,
    _ mode: LockMode,
    claimed first: UnsafeMutablePointer<Waiter>?
  ) {
    var wakes = ResumeList()
    if let first { wakes.append(first, .delivered) }
    leaveLock(isCancellation, mode, &wakes).call(self)
    wakes.resumeAll()
  }

  /// Leaves the lock if all that there is to tell is one observer.
  ///
  /// - Returns: The observer; nil if there is something else, and the lock is held still.
  @inline(__always)
  final func leaveLockOfObserved(_ mode: LockMode) -> SettlementWork.Observer? {
    guard state.pointee.extras == nil, state.pointee.queue.isEmpty else { return nil }
    guard let observer = state.withObserver({ $0.pointee.take() }) else { return nil }
    state.lock.release(mode)
    return observer.call
  }

  /// Leaves the lock, claims those who await, and calls the cancel hooks.
  ///
  /// - Returns: The observers.
  final func leaveLock(
    _ isCancellation: Bool,
    _ mode: LockMode,
    _ wakes: inout ResumeList
  ) -> SettlementWork.Observers {
    wakes.claimAll(of: &state.pointee.queue, .delivered)
    // What the closures hold on to is released out here, by the caller.
    let observer = state.withObserver { $0.pointee.take() }
    let extras = state.takeExtras()
    state.lock.release(mode)
    if isCancellation, let extras { for hook in extras.cancelHooks { hook() } }
    return SettlementWork.Observers(first: observer?.call, extras: extras)
  }

  /// Calls `hook` when the promise is cancelled; at once if it has been.
  final func addCancelHook(_ hook: @escaping () -> Void) {
    if withExtras({ $0.cancelHooks.append(hook) }) == nil, state.pointee.isCancelled { hook() }
  }

  /// Calls `observer` when the promise is settled; at once if it is.
  ///
  /// - Parameters:
  ///   - startsWork: Whether this begins the work of a lazy promise.
  ///   - work: Where to add what follows, if the promise is settled.
  ///   - observer: Called under no lock.
  @inlinable @inline(__always)
  final func addObserver(
    startsWork: Bool = true,
    _ work: inout SettlementWork,
    _ observer: @escaping SettlementWork.Observer
  ) {
    if !keep(observer, startsWork) { observer(self, &work) }
  }

  /// The same outside a chain: what follows is done before this returns.
  @inlinable @inline(__always)
  final func addObserver(
    startsWork: Bool = true,
    _ observer: @escaping SettlementWork.Observer
  ) {
    if !keep(observer, startsWork) { SettlementWork.call(observer, self) }
  }

  /// Keeps an observer until the promise is settled.
  ///
  /// - Returns: False if it is settled already: the observer is not kept.
  @usableFromInline @inline(never)
  final func keep(_ observer: @escaping SettlementWork.Observer, _ startsWork: Bool) -> Bool {
    let mode = state.lock.acquire(currentThread())
    if settledFlag.isSet {
      state.lock.release(mode)
      return false
    }
    if state.pointee.observerBits.0 == 0 {
      // SAFETY: what is there, nil, needs no end.
      state.withObserver { $0.initialize(to: KeptObserver(call: observer)) }
    } else {
      (state.extras ?? PromiseExtras.add(to: state)).observers.append(observer)
    }
    let starter = startsWork ? state.extras?.starter.take() : nil
    state.lock.release(mode)
    starter?(self)
    return true
  }

  /// Makes the promise lazy: `work` runs when somebody first looks.
  @usableFromInline
  final func setStarter(_ work: @escaping (AnyPromise) -> Void) {
    withExtras { $0.starter = work }
  }

  /// Starts the work of a lazy promise now, without waiting for it.
  public final func start() {
    let starter = state.lock.withLock {
      state.extras?.starter.take()
    }
    starter?(self)
  }
}
