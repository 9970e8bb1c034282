// SPDX-License-Identifier: Apache-2.0

/// A promise that tells how far it has come: iterate its fractions, then await it.
///
/// ```swift
/// let download = ProgressPromise<Data> { progress in
///   var data = Data()
///   while let piece = try connection.read() {
///     data += piece
///     progress.report(Double(data.count) / Double(length))
///   }
///   return data
/// }
/// for fraction in download { bar.draw(fraction) }
/// let data = try download.await()
/// ```
///
/// A loop gets each fraction that was reported, from 0 to 1, as long as it keeps up; one that does not gets
/// the latest, and misses older ones. It gets the last one in any case, and ends when the promise has been
/// settled, in whatever way. Any number of coroutines and tasks may iterate; each sees all that it is fast
/// enough for. Nothing is reported but by the work itself: fulfilment does not add a fraction of 1.
///
/// It has a promise and a meter: whatever takes a `Promise` gets `promise`, and the work reports to `meter`.
public final class ProgressPromise<Value>: Sendable {
  /// What it comes to.
  public let promise: Promise<Value>

  /// How far it has come.
  public let meter: ProgressMeter

  /// The progress of a promise that is there already.
  ///
  /// A lazy promise is not started by this.
  ///
  /// - Parameters:
  ///   - promise: The promise. When it is settled, iterations end.
  ///   - meter: What its work reports to.
  public init(_ promise: Promise<Value>, meter: ProgressMeter = ProgressMeter()) {
    self.promise = promise
    self.meter = meter
    promise.addCancelHook { meter.cancelParts() }
    promise.addObserver(startsWork: false) { promise, _ in
      meter.finish(isFulfilled: promise.isFulfilled)
    }
  }

  // MARK: - Progress

  /// How far it has come: the latest fraction; 0 before the first.
  public var fraction: Double { meter.fraction }

  /// Says how far it has come; see `ProgressMeter.report(_:)`.
  ///
  /// - Parameter fraction: From 0 to 1.
  /// - Returns: False if it was ignored: not a number, or the promise is settled.
  @discardableResult
  public func report(_ fraction: Double) -> Bool { meter.report(fraction) }

  /// Makes the work of another promise a part of this one's; see `ProgressMeter.add(_:weight:)`.
  ///
  /// - Parameters:
  ///   - child: The other promise. Cancelling this one cancels it.
  ///   - weight: How much it counts beside the other parts; above zero, and finite.
  public func add<Other>(_ child: ProgressPromise<Other>, weight: Double = 1) {
    meter.add(child, weight: weight)
  }

  // MARK: - Settling

  /// Settles the promise with a value; iterations end.
  ///
  /// - Parameter value: The value.
  /// - Returns: False if it was settled before.
  @discardableResult
  public func fulfill(_ value: sending Value) -> Bool { promise.fulfill(value) }

  /// Settles the promise with an error; iterations end.
  ///
  /// - Parameter error: The error.
  /// - Returns: False if it was settled before.
  @discardableResult
  public func reject(_ error: any Error) -> Bool { promise.reject(error) }

  /// Rejects the promise, and those that are parts of it, with `PromiseError.cancelled`.
  ///
  /// Their work stops only if it has registered `onCancel`.
  public func cancel() { promise.cancel() }

  /// Registers what stops the work when the promise is cancelled.
  ///
  /// - Parameter hook: Called at once if it has been already.
  /// - Returns: This.
  @discardableResult
  public func onCancel(_ hook: @escaping @Sendable () -> Void) -> ProgressPromise {
    promise.onCancel { _ in hook() }
    return self
  }

  /// Starts the work of a lazy promise now, without waiting for it.
  public func start() { promise.start() }

  // MARK: - Looking

  /// Not settled yet.
  public var isPending: Bool { promise.isPending }

  /// Settled with a value.
  public var isFulfilled: Bool { promise.isFulfilled }

  /// Settled with an error.
  public var isRejected: Bool { promise.isRejected }

  /// The value, once fulfilled.
  public var value: Value? { promise.value }

  /// The error, once rejected.
  public var error: (any Error)? { promise.error }

  /// What it has come to, or nil while pending.
  public var outcome: Promise<Value>.Outcome? { promise.outcome }

  // MARK: - Awaiting

  /// Parks the calling coroutine until the promise is settled, and returns its value.
  ///
  /// *Cancellation:* ends the wait; see `Promise.await(onCancellation:)`.
  ///
  /// - Parameter cancellation: What cancelling the caller does to the promise.
  /// - Returns: The value.
  /// - Throws: The error that it was rejected with; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, write `try await promise.value()`.")
  public func await(onCancellation cancellation: AwaitCancellation = .leavePromise) throws -> Value
  {
    try promise.await(onCancellation: cancellation)
  }

  /// Parks the calling coroutine until the promise is settled, and returns what it came to.
  ///
  /// - Parameter cancellation: What cancelling the caller does to the promise.
  /// - Returns: The value or the error.
  /// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func settled(onCancellation cancellation: AwaitCancellation = .leavePromise) throws
    -> Promise<Value>.Outcome
  {
    try promise.settled(onCancellation: cancellation)
  }

  /// Suspends the calling task until the promise is settled, and returns its value.
  ///
  /// *Cancellation:* of the task: ends the wait; the promise is left as it is.
  ///
  /// - Returns: The value.
  /// - Throws: The error that it was rejected with; `CancellationError` if the task is cancelled.
  public func value() async throws -> Value { try await promise.value() }
}
