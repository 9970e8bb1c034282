// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Runs a call that blocks its thread: on the offload pool while the calling coroutine is parked, or
/// right here if the caller is no coroutine.
///
/// *Cancellation:* as of `offload(_:)`: ends the wait at once; a call that has begun goes on, and its
/// result is dropped. Outside a coroutine there is none.
///
/// - Throws: What `call` throws; inside a coroutine `CancellationError` too.
func blockingCall<Result>(_ call: sending @escaping () throws -> Result) throws -> sending Result {
  guard Coroutine.current != nil else { return try call() }
  return try offload(call)
}

/// The same for a call that uses objects of the caller's: the wait is not over before the call is.
///
/// While the call runs the caller is parked, so that the objects have one user at a time, unless the
/// caller has given them to others. That is why cancellation must not let the caller go on early.
///
/// *Cancellation:* a call that has not begun is not made; one that has is waited for, and then the wait
/// throws.
///
/// - Throws: What `call` throws; inside a coroutine `CancellationError` too.
func exclusiveCall<Result>(_ call: @escaping () throws -> Result) throws -> Result {
  guard Coroutine.current != nil else { return try call() }
  // SAFETY: the closure, with what it holds, is handed over whole to one thread, and used there only
  // between the two promises. This coroutine touches neither before `ended` is settled: either it never
  // began, or it is waited for. The result comes back by the same way.
  nonisolated(unsafe) let call = call
  let begun = Promise<Void>()
  let ended = Promise<Result>()
  do {
    return try offload {
      // Whoever settles `begun` first decides whether the call is made.
      guard begun.fulfill(()) else { throw CancellationError() }
      // SAFETY: as above.
      nonisolated(unsafe) let outcome = Swift.Result { try call() }
      switch outcome {
      case .success(let value):
        // SAFETY: as above.
        nonisolated(unsafe) let value = value
        ended.fulfill(value)
      case .failure(let error): ended.reject(error)
      }
      return try outcome.get()
    }
  } catch let error as CancellationError {
    if !begun.reject(error) { _ = try withCancellationShield { try ended.settled() } }
    throw error
  }
}
