// SPDX-License-Identifier: Apache-2.0

import Dispatch
import harness

/// Hands a result from a task to the thread that waits for it.
private final class Box: @unchecked Sendable {
  // SAFETY: written before the semaphore is signalled, read after that.
  var result: Result<Outcome, any Error>?
}

/// Blocks the main thread, which is none of the pool's, until the task has ended.
func wait(_ body: @escaping @Sendable () async throws -> Outcome) throws -> Outcome {
  let box = Box()
  let ended = DispatchSemaphore(value: 0)
  Task.detached {
    do {
      box.result = .success(try await body())
    } catch {
      box.result = .failure(error)
    }
    ended.signal()
  }
  ended.wait()
  guard let result = box.result else { fail("a task ended without a result", status: 1) }
  return try result.get()
}

extension Row {
  /// A benchmark that is a task and finds out how many operations take 0.3 s.
  init(task name: String, _ body: @escaping @Sendable (Int) async throws -> Int) {
    self.init(name) { count in try wait { Outcome(try await body(count)) }.result }
  }

  /// A benchmark that is a task.
  init(
    task name: String,
    operations: Int,
    warmsUp: Bool = false,
    _ body: @escaping @Sendable (Int) async throws -> Outcome
  ) {
    self.init(name, operations: operations, warmsUp: warmsUp) { count in
      try wait { try await body(count) }
    }
  }
}
