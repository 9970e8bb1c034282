// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization

/// A value that will be there later, or the error that came instead.
///
/// ```swift
/// let page = Promise<Data> { fulfill, reject in
///   download(url) { data, error in
///     if let data { fulfill(data) } else { reject(error!) }
///   }
/// }
/// let data = try page.await()
/// ```
///
/// | state | until | then |
/// |---|---|---|
/// | pending | the first `fulfill`, `reject` or `cancel` | fulfilled with a value, or rejected with an error |
///
/// A promise settles once; what comes later is ignored. Any number of coroutines and tasks may await it,
/// before and after, on any schedulers. Observers (`then`, `catch`, …) are called where it is settled, in
/// the order of their registration and under no lock; on a settled promise at once. When the last thing
/// that could settle a pending promise goes away, it is rejected with `PromiseError.abandoned`, which says
/// where it was made.
///
/// A value that is not `Sendable` should be awaited on one scheduler only.
public final class Promise<Value>: @unchecked Sendable {
  // SAFETY: everything below is guarded by `lock` until `isSettledFlag` is set; `result` is constant
  // afterwards.

  /// What a promise comes to.
  public typealias Outcome = Result<Value, any Error>

  @exclusivity(unchecked) private var lockStorage: Lock
  @exclusivity(unchecked) private var queueStorage = WaitQueue()
  @exclusivity(unchecked) private var result: Outcome?
  @exclusivity(unchecked) private var observers: [(Outcome) -> Void] = []
  @exclusivity(unchecked) private var cancelHooks: [(Promise) -> Void] = []
  /// Starts the work of a lazy promise.
  @exclusivity(unchecked) private var starter: (() -> Void)?
  /// Coroutines in `await` that cancel the promise if they are cancelled.
  @exclusivity(unchecked) private var interested = 0
  private let isSettledFlag = AtomicFlag()

  /// Where the promise was made.
  public let creationSite: SourceSite

  /// A pending promise that is settled by calling its methods.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  public init(file: StaticString = #fileID, line: UInt = #line) {
    creationSite = SourceSite(file: file, line: line)
    lockStorage = cck_lock_make_shared()
  }

  deinit {
    // Nobody awaits: whoever does holds the promise. Observers may be left.
    if !isSettledFlag.isSet { _ = settle(.failure(PromiseError.abandoned(creationSite))) }
  }

  private var lock: UnsafeMutablePointer<Lock> {
    // SAFETY: a stored property of a class does not move.
    withUnsafeMutablePointer(to: &lockStorage) { $0 }
  }

  private var queue: UnsafeMutablePointer<WaitQueue> {
    // SAFETY: a stored property of a class does not move.
    withUnsafeMutablePointer(to: &queueStorage) { $0 }
  }

  // MARK: - Settling

  /// Settles the promise with a value.
  ///
  /// From any thread. Awaiting coroutines become ready; observers are called before this returns.
  ///
  /// - Parameter value: The value.
  /// - Returns: False if the promise was settled before: the value is dropped.
  @discardableResult
  public func fulfill(_ value: sending Value) -> Bool {
    settle(.success(value))
  }

  /// Settles the promise with an error.
  ///
  /// - Parameter error: The error.
  /// - Returns: False if the promise was settled before.
  @discardableResult
  public func reject(_ error: any Error) -> Bool {
    settle(.failure(error))
  }

  /// Settles the promise as another one will be.
  ///
  /// - Parameter other: The other promise; itself is refused with `PromiseError.adoptsItself`.
  public func follow(_ other: Promise) {
    guard other !== self else {
      reject(PromiseError.adoptsItself)
      return
    }
    other.observe { self.settle($0) }
  }

  /// Rejects the promise with `PromiseError.cancelled` and tells whoever works for it.
  ///
  /// No effect once settled. The work behind the promise stops only if it has registered `onCancel`.
  public func cancel() {
    settle(.failure(PromiseError.cancelled), isCancellation: true)
  }

  /// Registers what stops the work when the promise is cancelled. Called at once if it has been already.
  ///
  /// - Parameter hook: Gets the promise.
  /// - Returns: The promise.
  @discardableResult
  public func onCancel(_ hook: @escaping @Sendable (Promise) -> Void) -> Promise {
    let isCancelled = lock.withLock {
      if let result { return result.isCancelled }
      cancelHooks.append(hook)
      return false
    }
    if isCancelled { hook(self) }
    return self
  }

  @discardableResult
  func settle(_ outcome: Outcome, isCancellation: Bool = false) -> Bool {
    var wakes = ResumeList()
    let thread = currentThread()
    let mode = lock.acquire(thread)
    guard result == nil else {
      lock.release(mode)
      return false
    }
    result = outcome
    isSettledFlag.set()
    let observers = self.observers
    let hooks = cancelHooks
    let starter = self.starter
    self.observers = []
    self.cancelHooks = []
    self.starter = nil
    wakes.claimAll(of: &queueStorage, .delivered)
    lock.release(mode)
    // What the closures hold on to is released out here.
    withExtendedLifetime(starter) {}
    if isCancellation { for hook in hooks { hook(self) } }
    for observer in observers { observer(outcome) }
    wakes.resumeAll()
    return true
  }

  // MARK: - Looking

  /// Not settled yet.
  public var isPending: Bool { !isSettledFlag.isSet }

  /// Settled with a value.
  public var isFulfilled: Bool {
    if case .success? = outcome { true } else { false }
  }

  /// Settled with an error.
  public var isRejected: Bool {
    if case .failure? = outcome { true } else { false }
  }

  /// The value, once fulfilled.
  public var value: Value? { try? outcome?.get() }

  /// The error, once rejected.
  public var error: (any Error)? {
    if case .failure(let error)? = outcome { error } else { nil }
  }

  /// What it has come to, or nil while pending.
  public var outcome: Outcome? { isSettledFlag.isSet ? result : nil }

  /// Calls `observer` with the outcome: at once if there is one, else where the promise is settled.
  func observe(_ observer: @escaping (Outcome) -> Void) {
    let (now, starter): (Outcome?, (() -> Void)?) = lock.withLock {
      if let result { return (result, nil) }
      observers.append(observer)
      defer { self.starter = nil }
      return (nil, self.starter)
    }
    starter?()
    if let now { observer(now) }
  }

  /// Starts the work of a lazy promise now, without waiting for it.
  public func start() {
    let starter = lock.withLock {
      defer { self.starter = nil }
      return self.starter
    }
    starter?()
  }

  // MARK: - Awaiting

  /// Parks the calling coroutine until the promise is settled, and returns its value.
  ///
  /// Returns without parking if it is settled already.
  ///
  /// *Cancellation:* ends the wait. By default the promise is left as it is; with `.cancelPromise`, it is
  /// cancelled too when the last coroutine that awaits it so is cancelled.
  ///
  /// - Parameter cancellation: What cancelling the caller does to the promise.
  /// - Returns: The value.
  /// - Throws: The error that it was rejected with (`PromiseError.cancelled` if somebody cancelled it,
  ///   `PromiseError.abandoned`); `CancellationError` if the caller is cancelled;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await promise.value()`.")
  public func await(onCancellation cancellation: AwaitCancellation = .leavePromise) throws -> Value {
    try settled(onCancellation: cancellation).get()
  }

  /// Parks the calling coroutine until the promise is settled, and returns what it came to.
  ///
  /// - Parameter cancellation: What cancelling the caller does to the promise.
  /// - Returns: The value or the error.
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError.outsideCoroutine`.
  @available(*, noasync)
  public func settled(onCancellation cancellation: AwaitCancellation = .leavePromise) throws
    -> Outcome
  {
    // A park point even when there is nothing to wait for (rule 2). Code that may not park leaves the
    // promise untouched: it neither starts a lazy one nor cancels it.
    _ = try Parking.begin("Promise.await()", currentThread())
    return try waitUntilSettled(onCancellation: cancellation)
  }

  /// `settled` for callers that have begun a park point: a cancellation since then counts.
  @available(*, noasync)
  func waitUntilSettled(onCancellation cancellation: AwaitCancellation) throws -> Outcome {
    if let outcome { return outcome }
    start()
    if cancellation == .cancelPromise { lock.withLock { interested += 1 } }
    do {
      try Parking.wait(
        "Promise.await()", on: queue, lock, unless: { result != nil })
    } catch {
      if cancellation == .cancelPromise, lock.withLock({ leave() }), error is CancellationError {
        cancel()
      }
      throw error
    }
    if cancellation == .cancelPromise { lock.withLock { _ = leave() } }
    guard let outcome else { preconditionFailure("a promise woke a waiter before it was settled") }
    return outcome
  }

  /// One coroutine less; true if it was the last. Under the lock.
  private func leave() -> Bool {
    interested -= 1
    return interested == 0
  }

  /// Suspends the calling task until the promise is settled, and returns its value.
  ///
  /// *Cancellation:* of the task: ends the wait; the promise is left as it is.
  ///
  /// - Returns: The value.
  /// - Throws: The error that it was rejected with; `CancellationError` if the task is cancelled.
  public func value() async throws -> Value {
    start()
    if !isSettledFlag.isSet {
      try await TaskWait.wait(on: queue, lock, unless: { self.result != nil })
    }
    guard let outcome else { preconditionFailure("a promise woke a waiter before it was settled") }
    return try outcome.get()
  }

  /// Makes the promise lazy: `work` runs when somebody first looks.
  func setStarter(_ work: @escaping () -> Void) {
    starter = work
  }
}

/// What cancelling a coroutine does to the promise that it awaits.
public enum AwaitCancellation: Sendable, Hashable {
  /// Nothing: others may still want it.
  case leavePromise
  /// Cancels it, if no other coroutine awaits it in this way.
  case cancelPromise
}

extension Result {
  /// Somebody cancelled the promise.
  fileprivate var isCancelled: Bool {
    if case .failure(let error as PromiseError) = self { error == .cancelled } else { false }
  }
}
