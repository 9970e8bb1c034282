// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Awaits an `async` function from a coroutine, blocking no thread.
///
/// ```swift
/// let (data, response) = try awaitTask { try await URLSession.shared.data(from: url) }
/// ```
///
/// The function runs in a new task of Swift concurrency; the coroutine is parked meanwhile and goes on
/// on its own scheduler.
///
/// *Cancellation:* cancels the task and ends the wait at once; it does not wait until the task has
/// noticed.
///
/// - Parameters:
///   - priority: Of the task.
///   - operation: The function.
/// - Returns: What it returns.
/// - Throws: What it throws; `CancellationError`; `CoroutineError.outsideCoroutine`.
@available(*, noasync, message: "In async code, just await the function.")
public func awaitTask<Result>(
  priority: TaskPriority? = nil,
  _ operation: sending @escaping () async throws -> Result
) throws -> sending Result {
  _ = try Parking.begin("awaitTask(_:)", currentThread())
  let promise = Promise<Result>()
  // SAFETY: both are handed over whole: the closure to one task, and its result back.
  nonisolated(unsafe) let operation = operation
  let task = Task(priority: priority) {
    do {
      // SAFETY: the result of the operation goes into the promise and nowhere else.
      nonisolated(unsafe) let value = try await operation()
      promise.fulfill(value)
    } catch {
      promise.reject(error)
    }
  }
  promise.onCancel { _ in task.cancel() }
  // SAFETY: nobody else knows the promise but the task, which put the value in and is done with it.
  nonisolated(unsafe) let result = try promise.waitForOutside(in: "awaitTask(_:)").get()
  return result
}

/// Runs `body` as a coroutine and awaits it from a task, blocking no thread.
///
/// *Cancellation:* of the task cancels the coroutine; this returns when it has finished.
///
/// - Parameters:
///   - scheduler: Where the coroutine runs; the queue that the process shares, if left out.
///   - name: For dumps, errors and overflow reports.
///   - stackSize: Address space for its stack; see `StackSize`.
///   - file: Where it is called; leave out.
///   - line: Where it is called; leave out.
///   - body: What it does.
/// - Returns: What it returns.
/// - Throws: What it throws; `CancellationError` if it was cancelled.
@discardableResult
public func withCoroutine<Result>(
  on scheduler: Scheduler? = nil,
  name: String? = nil,
  stackSize: StackSize = .default,
  file: StaticString = #fileID,
  line: UInt = #line,
  _ body: sending @escaping () throws -> Result
) async throws -> Result {
  DumpSignal.armByDefault()
  // As a child of cancelled code, the coroutine does not start.
  try Task.checkCancellation()
  let coroutine = launch(
    on: scheduler ?? .shared,
    name: name,
    stackSize: stackSize,
    file: file,
    line: line,
    body
  )
  return try await withTaskCancellationHandler {
    try await coroutine.outcomeUninterrupted()
  } onCancel: {
    coroutine.cancel()
  }
}

extension ValueCoroutine {
  /// Suspends a task until the end, deaf to the task's cancellation.
  fileprivate func outcomeUninterrupted() async throws -> Value {
    // A task of its own does not inherit the cancellation.
    try await Task.detached { try await self.join() }.value
    return try outcome()
  }
}
