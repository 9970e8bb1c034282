// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// Calls something that answers by a callback, and parks the calling coroutine until it does.
///
/// ```swift
/// let data = try awaitCallback { done in
///   download(url) { data, error in done(data, error) }
/// }
/// ```
///
/// *Cancellation:* ends the wait at once; `onCancel` is called, and the answer, if it still comes, is
/// dropped.
///
/// - Parameters:
///   - onCancel: Stops what was begun. Called on whatever thread cancels.
///   - file: Where it is called; leave out.
///   - line: Where it is called; leave out.
///   - start: Begins it, on the caller's thread; gets what to answer with.
/// - Returns: The answer.
/// - Throws: The error that came instead; what `start` throws; `PromiseError.abandoned` if nothing is left
///   that could answer; `CancellationError`; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, use withCheckedThrowingContinuation.")
public func awaitCallback<Value>(
  onCancel: (@Sendable () -> Void)? = nil,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ start: (CallbackResolver<Value>) throws -> Void
) throws -> Value {
  _ = try Parking.begin("awaitCallback(_:)", currentThread())
  let promise = Promise<Value>(file: file, line: line)
  if let onCancel { promise.onCancel { _ in onCancel() } }
  try start(CallbackResolver(promise))
  // Many an answer is there at once.
  if !promise.settledFlag.isSet {
    try promise.waitUntilSettled(.cancelPromise, in: "awaitCallback(_:)")
  }
  return try promise.settledOutcome.get()
}
