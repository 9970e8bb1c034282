// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Coroutines

/// Waits until a promise is settled.
///
/// If the coroutine is cancelled meanwhile, so is the promise, unless another coroutine awaits it too. A
/// coroutine that is cancelled already leaves the promise alone.
///
/// - Parameter promise: The promise.
/// - Returns: Its value or its error. If others cancel it: `.rejected(COError.promiseCancelled)`.
/// - Throws: `COError.coroutineCancelled`; `COError.invalidCoroutine` outside a coroutine.
@discardableResult
public func co_await<T>(promise: Promise<T>) throws -> Resolution<T> {
  try awaiting {
    Resolution(try promise.core.settled(onCancellation: .cancelPromise))
  } error: {
    $0.error
  }
}

/// Waits for a value of a channel: `receive` under another name.
///
/// - Parameter channel: The channel.
/// - Returns: The value.
/// - Throws: `COError.coroutineCancelled`; `COError.invalidCoroutine` outside a coroutine.
@discardableResult
public func co_await<T>(channel: Chan<T>) throws -> T {
  try awaiting { try channel.receive() }
}

/// Waits until the promise that a closure makes is settled.
///
/// - Parameter closure: Called at once.
/// - Returns: The promise's value or error.
/// - Throws: What `closure` throws; `COError.coroutineCancelled`; `COError.invalidCoroutine`.
@discardableResult
public func co_await<T>(closure: @escaping () throws -> Promise<T>) throws -> Resolution<T> {
  try refuseIfNoWait()
  return try co_await(promise: closure())
}

/// Waits for a value of the channel that a closure makes.
///
/// - Parameter closure: Called at once.
/// - Returns: The value.
/// - Throws: What `closure` throws; `COError.coroutineCancelled`; `COError.invalidCoroutine`.
@discardableResult
public func co_await<T>(closure: @escaping () throws -> Chan<T>) throws -> T {
  try refuseIfNoWait()
  return try co_await(channel: closure())
}

/// The same as `co_await(promise:)`, under coswift's name: it must be called with backticks.
///
/// - Parameter promise: The promise.
/// - Returns: Its value or its error.
/// - Throws: As `co_await(promise:)`.
@discardableResult
public func `await`<T>(promise: Promise<T>) throws -> Resolution<T> {
  try co_await(promise: promise)
}

/// The same as `co_await(channel:)`, under coswift's name: it must be called with backticks.
///
/// - Parameter channel: The channel.
/// - Returns: The value.
/// - Throws: As `co_await(channel:)`.
@discardableResult
public func `await`<T>(channel: Chan<T>) throws -> T {
  try co_await(channel: channel)
}

/// The same as `co_await { promise }`, under coswift's name: it must be called with backticks.
///
/// - Parameter closure: Called at once.
/// - Returns: The promise's value or error.
/// - Throws: As `co_await(closure:)`.
@discardableResult
public func `await`<T>(closure: @escaping () throws -> Promise<T>) throws -> Resolution<T> {
  try co_await(closure: closure)
}

/// The same as `co_await { channel }`, under coswift's name: it must be called with backticks.
///
/// - Parameter closure: Called at once.
/// - Returns: The value.
/// - Throws: As `co_await(closure:)`.
@discardableResult
public func `await`<T>(closure: @escaping () throws -> Chan<T>) throws -> T {
  try co_await(closure: closure)
}

/// Waits until all promises are settled; their work goes on at the same time.
///
/// If the coroutine is cancelled meanwhile, so are the promises that no other coroutine awaits.
///
/// - Parameter promises: The promises; may be none.
/// - Returns: A value or an error for each, in the order of the promises.
/// - Throws: `COError.coroutineCancelled`; `COError.invalidCoroutine` outside a coroutine.
public func batch_await<T>(_ promises: [Promise<T>]) throws -> [Resolution<T>] {
  try awaiting {
    try refuseIfNoWait()
    // A coroutine for each that is pending, so that a cancellation reaches all of them. They begin at
    // once: one that is cancelled before would leave its promise alone.
    try withCoroutineScope { scope in
      for promise in promises where promise.isPending {
        scope.launch(start: .immediately) {
          _ = try promise.core.settled(onCancellation: .cancelPromise)
        }
      }
    }
    // The scope ends quietly in a cancelled coroutine, since its children were only cancelled.
    try refuseIfNoWait()
    return promises.map { promise in
      guard let outcome = promise.core.outcome else {
        fatalError("a promise was awaited and is pending")
      }
      return Resolution(outcome)
    }
  }
}

/// Notes for `co_getError` how an await ends, and puts what it throws into this module's terms.
private func awaiting<Result>(
  _ wait: () throws -> Result,
  error: (Result) -> (any Error)? = { _ in nil }
) throws -> Result {
  let life = Life.current
  life?.awaitError = nil
  do {
    let result = try wait()
    life?.awaitError = error(result)
    return result
  } catch {
    let error = COError.translating(error)
    life?.awaitError = error
    throw error
  }
}

/// Throws where a wait would; so that nothing is begun that nobody will wait for.
private func refuseIfNoWait() throws {
  guard Coroutines.Coroutine.current != nil else { throw COError.invalidCoroutine }
  do {
    try Coroutines.Coroutine.checkCancellation()
  } catch {
    throw COError.coroutineCancelled
  }
}
