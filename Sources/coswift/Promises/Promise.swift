// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Dispatch

/// A value that will be there later, or the error that came instead.
///
/// It settles once; what comes later is ignored. Any number of coroutines may await it, before and after.
/// When nothing is left that could settle it, it is rejected, with an error that says so. All methods may be
/// called from any thread; observers are called where it is settled, at once if it is settled already.
public class Promise<T>: @unchecked Sendable {
  // SAFETY: a constant; the core's promise guards its own state.

  /// Stops the work behind a cancelled promise.
  public typealias PromiseOnCancelBlock = (Promise<T>) -> Void
  /// Settles a promise with a value.
  public typealias PromiseFulfill = @Sendable (T) -> Void
  /// Settles a promise with an error.
  public typealias PromiseReject = @Sendable (any Error) -> Void
  /// Begins the work behind a promise.
  public typealias PromiseConstructor =
    (@escaping PromiseFulfill, @escaping PromiseReject) throws -> Void

  let core: Coroutines.Promise<T>

  init(core: Coroutines.Promise<T>) {
    self.core = core
  }

  /// A pending promise, which is settled by calling its methods.
  public init() {
    core = Coroutines.Promise()
  }

  /// A promise whose work begins now, on the current queue.
  ///
  /// The constructor runs as a coroutine, at once up to where it first waits, so two promises that are made
  /// and then awaited overlap. (On a thread without a queue it runs on the one that the process shares.)
  ///
  /// - Parameter constructor: Begins the work. What it throws rejects the promise; so does dropping both
  ///   closures without calling one.
  public convenience init(constructor: @escaping PromiseConstructor) {
    self.init(core: Coroutines.Promise(Self.adapting(constructor)))
  }

  /// A promise whose work begins now, on a given queue.
  ///
  /// - Parameters:
  ///   - queue: Where the constructor runs, always later; nil for the current one, at once.
  ///   - constructor: Begins the work.
  public convenience init(on queue: DispatchQueue?, constructor: @escaping PromiseConstructor) {
    if let queue {
      // SAFETY: the closure runs once, on the queue, as the user asks.
      nonisolated(unsafe) let constructor = Self.adapting(constructor)
      self.init(core: Coroutines.Promise(on: queue) { try constructor($0, $1) })
    } else {
      self.init(constructor: constructor)
    }
  }

  /// A promise whose work begins when somebody first awaits it, or chains to it.
  ///
  /// - Parameters:
  ///   - queue: Where the constructor runs; nil for the queue of the first who looks.
  ///   - constructor: Begins the work.
  /// - Returns: The promise.
  public static func lazy(
    on queue: DispatchQueue? = nil,
    constructor: @escaping PromiseConstructor
  ) -> Promise<T> {
    // SAFETY: the closure runs once, on one queue.
    nonisolated(unsafe) let constructor = adapting(constructor)
    return Promise(
      core: .lazy(on: queue.map { .queue($0) }) { try constructor($0, $1) }
    )
  }

  /// The constructor as the core calls it.
  private static func adapting(
    _ constructor: @escaping PromiseConstructor
  ) -> (@escaping Coroutines.Promise<T>.Fulfill, @escaping Coroutines.Promise<T>.Reject) throws ->
    Void
  {
    { fulfill, reject in
      try constructor(
        { value in
          // SAFETY: whoever fulfils gives the value away.
          nonisolated(unsafe) let value = value
          fulfill(value)
        },
        reject
      )
    }
  }

  // MARK: - Settling

  /// Settles the promise with a value.
  ///
  /// - Parameter value: The value.
  public func fulfill(value: T) {
    // SAFETY: whoever fulfils gives the value away.
    nonisolated(unsafe) let value = value
    core.fulfill(value)
  }

  /// Settles the promise with an error.
  ///
  /// - Parameter error: The error; `COError.promiseCancelled` is the same as `cancel()`.
  public func reject(error: any Error) {
    if error as? COError == .promiseCancelled { core.cancel() } else { core.reject(error) }
  }

  /// Settles the promise with `COError.promiseCancelled`, and calls what `onCancel` registered.
  public func cancel() {
    core.cancel()
  }

  /// Registers what stops the work when the promise is cancelled; called at once if it has been.
  ///
  /// - Parameter onCancelBlock: Gets the promise.
  public func onCancel(onCancelBlock: @escaping PromiseOnCancelBlock) {
    // SAFETY: called once, by whoever cancels.
    nonisolated(unsafe) let block = onCancelBlock
    core.onCancel { [weak self] core in
      block(self ?? Promise(core: core))
    }
  }

  // MARK: - Looking

  /// Not settled yet.
  public var isPending: Bool { core.isPending }

  /// Settled with a value.
  public var isFulfilled: Bool { core.isFulfilled }

  /// Settled with an error.
  public var isRejected: Bool { core.isRejected }

  /// The value, once fulfilled.
  public var value: T? { core.value }

  /// The error, once rejected.
  public var error: (any Error)? { core.error.map { COError.translating($0) } }

  // MARK: - Chaining

  /// A promise for what `work` makes of the value; a rejection skips `work` and passes through.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise.
  @discardableResult
  public func then<U>(work: @escaping (T) throws -> U) -> Promise<U> {
    // SAFETY: called once, by whoever settles, as the user asks.
    nonisolated(unsafe) let work = work
    return Promise<U>(core: core.then { value -> U in try work(value) })
  }

  /// A promise that follows the one that `work` makes of the value.
  ///
  /// - Parameter work: Called where this promise is settled. What it throws rejects the new promise.
  /// - Returns: The new promise.
  @discardableResult
  public func then<U>(work: @escaping (T) throws -> Promise<U>) -> Promise<U> {
    // SAFETY: as above.
    nonisolated(unsafe) let work = work
    return Promise<U>(
      core: core.then { value -> Coroutines.Promise<U> in try work(value).core }
    )
  }

  /// Looks at the error, if there is one; the new promise settles like this one.
  ///
  /// - Parameter reject: Called where this promise is rejected.
  /// - Returns: The new promise.
  @discardableResult
  public func `catch`(reject: @escaping (any Error) -> Void) -> Promise<T> {
    // SAFETY: as above.
    nonisolated(unsafe) let reject = reject
    return Promise(core: core.catch { reject(COError.translating($0)) })
  }
}

extension Promise: Thenable {
  /// Has the resolver called when this promise is settled, or at once if it is.
  ///
  /// - Parameter resolver: Takes the outcome.
  public func whenSettled(_ resolver: CallbackResolver<T>) {
    core.observe { resolver.settle($0.mapError { COError.translating($0) }) }
  }
}
