// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Parks until all promises are settled, and returns their outcomes in the order of the promises.
///
/// The promises' work goes on at the same time: this takes as long as the slowest.
///
/// *Cancellation:* ends the wait; the promises are left as they are.
///
/// - Parameter promises: The promises; may be none.
/// - Returns: A value or an error for each.
/// - Throws: `CancellationError` if the caller is cancelled; `CoroutineError.outsideCoroutine`.
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
  public static func all<Element>(_ promises: [Promise<Element>]) -> Promise<Value>
  where Value == [Element] {
    collect(promises) { results, promise in
      let values = results.compactMap { try? $0?.get() }
      if values.count == results.count { promise.settle(.success(values)) }
    } onFailure: { error, promise in
      promise.reject(error)
    }
  }

  /// A promise for all outcomes, in order; never rejected.
  ///
  /// - Parameter promises: The promises; of none, the new promise is fulfilled with an empty array.
  /// - Returns: The new promise.
  public static func allSettled<Element>(_ promises: [Promise<Element>]) -> Promise<Value>
  where Value == [Result<Element, any Error>] {
    collect(promises) { results, promise in
      promise.settle(.success(results.compactMap { $0 }))
    }
  }

  /// A promise for the first value; rejected with `PromiseError.noneFulfilled` if all are rejected.
  ///
  /// - Parameter promises: The promises; of none, the new promise is rejected.
  /// - Returns: The new promise.
  public static func any(_ promises: [Promise<Value>]) -> Promise<Value> {
    let result = Promise<Value>()
    let gathered = Gathered<Value>(promises.count)
    if promises.isEmpty { result.reject(PromiseError.noneFulfilled) }
    for (index, promise) in promises.enumerated() {
      promise.observe { outcome in
        let all = gathered.set(outcome, at: index)
        if case .success = outcome {
          result.settle(outcome)
        } else if let all {
          result.reject(
            PromiseError.noneFulfilled(
              all.compactMap { if case .failure(let error)? = $0 { error } else { nil } }
            )
          )
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
  public static func race(_ promises: [Promise<Value>]) -> Promise<Value> {
    let result = Promise<Value>()
    if promises.isEmpty { result.reject(PromiseError.noneFulfilled) }
    for promise in promises { promise.observe { result.settle($0) } }
    return result
  }

  /// Calls `whenAll` once every promise is settled; `onFailure` at each that is rejected.
  private static func collect<Element>(
    _ promises: [Promise<Element>],
    whenAll: @escaping ([Result<Element, any Error>?], Promise<Value>) -> Void,
    onFailure: @escaping (any Error, Promise<Value>) -> Void = { _, _ in }
  ) -> Promise<Value> {
    let result = Promise<Value>()
    let gathered = Gathered<Element>(promises.count)
    if promises.isEmpty { whenAll([], result) }
    for (index, promise) in promises.enumerated() {
      promise.observe { outcome in
        let all = gathered.set(outcome, at: index)
        if case .failure(let error) = outcome { onFailure(error, result) }
        if let all { whenAll(all, result) }
      }
    }
    return result
  }
}

/// Outcomes of several promises, gathered from whatever threads they are settled on.
private final class Gathered<Value>: @unchecked Sendable {
  // SAFETY: the properties are guarded by `lock`.
  private let lock = AllocatedLock()
  private var outcomes: [Result<Value, any Error>?]
  private var missing: Int

  init(_ count: Int) {
    outcomes = Array(repeating: nil, count: count)
    missing = count
  }

  /// Notes an outcome; returns all of them if it was the last.
  func set(_ outcome: Result<Value, any Error>, at index: Int) -> [Result<Value, any Error>?]? {
    lock.withLock {
      outcomes[index] = outcome
      missing -= 1
      return missing == 0 ? outcomes : nil
    }
  }
}
