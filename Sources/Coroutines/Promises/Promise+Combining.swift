// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel
public import Synchronization

/// Parks until all promises are settled, and returns their outcomes in the order of the promises.
///
/// The promises' work goes on at the same time: this takes as long as the slowest.
///
/// *Cancellation:* ends the wait; the promises are left as they are.
///
/// - Parameter promises: The promises; may be none.
/// - Returns: A value or an error for each.
/// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func awaitAll<Value>(
  _ promises: [Promise<Value>]
) throws -> [Result<Value, any Error>] {
  _ = try Parking.begin("awaitAll(_:)", currentThread())
  for promise in promises { promise.start() }
  return try promises.map { try $0.settled() }
}

/// Parks until all promises are settled, and returns their outcomes in the order of the promises.
///
/// *Cancellation:* ends the wait; the promises are left as they are.
///
/// - Parameter promise: The promises, of any types.
/// - Returns: A value or an error for each.
/// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func awaitAll<each Value>(
  _ promise: repeat Promise<each Value>
) throws -> (repeat Result<each Value, any Error>) {
  _ = try Parking.begin("awaitAll(_:)", currentThread())
  for promise in repeat each promise { promise.start() }
  return (repeat try (each promise).settled())
}

extension Promise {
  /// A promise for all values, in order; rejected as soon as one of the promises is.
  ///
  /// - Parameter promises: The promises; of none, the new promise is fulfilled with an empty array.
  /// - Returns: The new promise.
  @inlinable
  public static func all<Element>(_ promises: [Promise<Element>]) -> Promise<Value>
  where Value == [Element] {
    let result = Promise<Value>()
    if promises.isEmpty { result.settle(.success([])) }
    let gathered = Gathered<Element>(promises.count)
    for index in promises.indices {
      promises[index].observe { outcome in
        let isLast = gathered.set(outcome, at: index)
        if case .failure(let error) = outcome { result.reject(error) }
        if isLast, let values = gathered.values { result.settle(.success(values)) }
      }
    }
    return result
  }

  /// A promise for all outcomes, in order; never rejected.
  ///
  /// - Parameter promises: The promises; of none, the new promise is fulfilled with an empty array.
  /// - Returns: The new promise.
  @inlinable
  public static func allSettled<Element>(_ promises: [Promise<Element>]) -> Promise<Value>
  where Value == [Result<Element, any Error>] {
    let result = Promise<Value>()
    if promises.isEmpty { result.settle(.success([])) }
    let gathered = Gathered<Element>(promises.count)
    for index in promises.indices {
      promises[index].observe { outcome in
        if gathered.set(outcome, at: index) { result.settle(.success(gathered.outcomes)) }
      }
    }
    return result
  }

  /// A promise for the first value; rejected with `PromiseError.noneFulfilled` if all are rejected.
  ///
  /// - Parameter promises: The promises; of none, the new promise is rejected.
  /// - Returns: The new promise.
  @inlinable
  public static func any(_ promises: [Promise<Value>]) -> Promise<Value> {
    let result = Promise<Value>()
    if promises.isEmpty { result.reject(PromiseError.noneFulfilled) }
    let gathered = Gathered<Value>(promises.count)
    for index in promises.indices {
      promises[index].observe { outcome in
        let isLast = gathered.set(outcome, at: index)
        if case .success = outcome {
          result.settle(outcome)
        } else if isLast {
          result.reject(PromiseError.noneFulfilled(gathered.errors))
        }
      }
    }
    return result
  }

  /// A promise for the first outcome, whether value or error.
  ///
  /// - Parameter promises: The promises; of none, the new promise is rejected with
  ///   `PromiseError.noneFulfilled`, since it could never settle.
  /// - Returns: The new promise.
  @inlinable
  public static func race(_ promises: [Promise<Value>]) -> Promise<Value> {
    let result = Promise<Value>()
    if promises.isEmpty { result.reject(PromiseError.noneFulfilled) }
    for index in promises.indices { promises[index].observe { result.settle($0) } }
    return result
  }
}

/// Outcomes of several promises, gathered from whatever threads they are settled on.
@usableFromInline
final class Gathered<Value>: @unchecked Sendable {
  // SAFETY: a place is written once, by whoever settles its promise, before that counts in `missing`. All are read by
  // the last one only: its count is an acquisition of what the others wrote.

  /// A place for each, nil until its promise is settled.
  @usableFromInline let places: UnsafeMutablePointer<Result<Value, any Error>?>
  @usableFromInline let count: Int
  @usableFromInline let missing: Atomic<Int>

  @inlinable
  init(_ count: Int) {
    self.count = count
    missing = Atomic(count)
    places = .allocate(capacity: count)
    places.initialize(repeating: nil, count: count)
  }

  deinit {
    places.deinitialize(count: count)
    places.deallocate()
  }

  /// Notes an outcome.
  ///
  /// - Returns: It was the last.
  @inlinable
  func set(_ outcome: Result<Value, any Error>, at index: Int) -> Bool {
    places[index] = outcome
    #if COROUTINES_CHECKED
    withUnsafePointer(to: missing) { noteAccess($0) }
    #endif
    return missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
  }

  /// All outcomes.
  ///
  /// - Precondition: The last has been noted.
  @inlinable
  var outcomes: [Result<Value, any Error>] {
    // SAFETY: as the precondition says, none is nil.
    (0..<count).map { places[$0].unsafelyUnwrapped }
  }

  /// All values; nil if there is an error among the outcomes.
  ///
  /// - Precondition: The last has been noted.
  @inlinable
  var values: [Value]? {
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in 0..<count {
      guard case .success(let value)? = places[index] else { return nil }
      values.append(value)
    }
    return values
  }

  /// All errors.
  ///
  /// - Precondition: The last has been noted.
  @inlinable
  var errors: [any Error] {
    (0..<count).compactMap { if case .failure(let error)? = places[$0] { error } else { nil } }
  }
}
