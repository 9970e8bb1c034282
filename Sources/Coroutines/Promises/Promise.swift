// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

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
public final class Promise<Value>: AnyPromise, @unchecked Sendable {
  // SAFETY: as for AnyPromise; no state of its own, for the sake of its speed (see `ResultCell`).

  /// What a promise comes to.
  public typealias Outcome = Result<Value, any Error>

  /// A pending promise in memory that nobody has had before; see `SparePromises`.
  @usableFromInline
  init(newAt site: SourceSite) {
    super.init(site: site)
  }

  // MARK: - Settling

  /// Settles the promise with a value.
  ///
  /// From any thread. Awaiting coroutines become ready; observers are called before this returns.
  ///
  /// - Parameter value: The value.
  /// - Returns: False if the promise was settled before: the value is dropped.
  @inlinable
  @discardableResult
  public func fulfill(_ value: sending Value) -> Bool {
    let thread = currentThread()
    guard let mode = beginSettling(thread) else { return false }
    state.cell.store(consume value)
    endSettling(false, mode, thread)
    return true
  }

  /// Settles the promise as another one will be.
  ///
  /// - Parameter other: The other promise; itself, and one that follows this one, are refused with
  ///   `PromiseError.adoptsItself`.
  @inlinable
  public func follow(_ other: Promise) {
    var work = SettlementWork()
    follow(other, &work)
    work.run()
  }

  /// The same in a chain.
  @inlinable
  func follow(_ other: Promise, _ work: inout SettlementWork) {
    // One that is settled follows nobody, so there is no ring to be noted against.
    if other.settledFlag.isSet, other !== self {
      settle(other.settledOutcome, &work)
    } else if beginFollowing(other) {
      // SAFETY: an observer gets the promise that it was added to.
      other.addObserver(&work) { settled, rest in
        self.settle(unsafeDowncast(settled, to: Promise.self).settledOutcome, &rest)
      }
    } else {
      settle(failure: PromiseError.adoptsItself(creationSite), &work)
    }
  }

  /// Registers what stops the work when the promise is cancelled.
  ///
  /// Called at once if it has been already.
  ///
  /// - Parameter hook: Gets the promise.
  /// - Returns: The promise.
  @discardableResult
  public func onCancel(_ hook: @escaping @Sendable (Promise) -> Void) -> Promise {
    // SAFETY: the hook is called by a method of the promise, or dropped with it.
    addCancelHook { [unowned(unsafe) self] in hook(self) }
    return self
  }

  @inlinable
  @discardableResult
  func settle(_ outcome: consuming Outcome) -> Bool {
    let thread = currentThread()
    guard let mode = beginSettling(thread) else { return false }
    Self.put(consume outcome, into: state.cell)
    endSettling(false, mode, thread)
    return true
  }

  /// The same in a chain.
  @inlinable
  @discardableResult
  func settle(_ outcome: consuming Outcome, _ work: inout SettlementWork) -> Bool {
    guard let mode = beginSettling(currentThread()) else { return false }
    Self.put(consume outcome, into: state.cell)
    endSettling(&work, mode)
    return true
  }

  @inlinable @inline(__always)
  static func put(_ outcome: consuming Outcome, into cell: UnsafeMutablePointer<ResultCell>) {
    switch outcome {
    case .success(let value): cell.store(consume value)
    case .failure(let error): cell.store(failure: error)
    }
  }

  // MARK: - Looking

  /// The value, once fulfilled.
  public var value: Value? { isFulfilled ? state.cell.load(as: Value.self) : nil }

  /// What it has come to, or nil while pending.
  public var outcome: Outcome? { settledFlag.isSet ? settledOutcome : nil }

  /// What it has come to.
  @inlinable
  var settledOutcome: Outcome {
    if let error = state.cell.pointee.failure { return .failure(error) }
    return .success(state.cell.load(as: Value.self))
  }

  /// Calls `observer` with the outcome: at once if there is one, else where the promise is settled.
  @inlinable @inline(__always)
  package func observe(_ observer: @escaping (Outcome) -> Void) {
    // SAFETY: an observer gets the promise that it was added to.
    addObserver { settled, _ in observer(unsafeDowncast(settled, to: Promise.self).settledOutcome) }
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
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, write `try await promise.value()`.")
  public func await(onCancellation cancellation: AwaitCancellation = .leavePromise) throws -> Value
  {
    try wait(cancellation)
    if let error = state.cell.pointee.failure { throw error }
    return state.cell.load(as: Value.self)
  }

  /// Parks the calling coroutine until the promise is settled, and returns what it came to.
  ///
  /// - Parameter cancellation: What cancelling the caller does to the promise.
  /// - Returns: The value or the error.
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func settled(onCancellation cancellation: AwaitCancellation = .leavePromise) throws
    -> Outcome
  {
    try wait(cancellation)
    return settledOutcome
  }

  /// Parks until the promise is settled; for callers that have begun their park point already.
  func waitUntilSettled(
    onCancellation cancellation: AwaitCancellation,
    in call: StaticString? = nil
  ) throws -> Outcome {
    try waitUntilSettled(cancellation, in: call)
    return settledOutcome
  }

  /// Suspends the calling task until the promise is settled, and returns its value.
  ///
  /// *Cancellation:* of the task: ends the wait; the promise is left as it is.
  ///
  /// - Returns: The value.
  /// - Throws: The error that it was rejected with; `CancellationError` if the task is cancelled.
  @inlinable
  public func value() async throws -> Value {
    try await waitInTask()
    return try settledOutcome.get()
  }
}

extension Thenable {
  // In this protocol since an initialiser of a class always allocates, and one of a protocol returns what it will.

  /// A pending promise that is settled by calling its methods.
  ///
  /// - Parameters:
  ///   - file: Where it is made; leave out.
  ///   - line: Where it is made; leave out.
  @inlinable @inline(__always)
  public init<Eventual>(
    file: StaticString = #fileID,
    line: UInt = #line
  ) where Self == Promise<Eventual> {
    self = SparePromises.make(SourceSite(file: file, line: line))
  }
}
