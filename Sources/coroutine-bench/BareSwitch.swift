// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// The context switch alone: no coroutine, no scheduler.
enum BareSwitch {
  /// Switches so many times, forth and back.
  static func run(_ count: Int) throws {
    let thread = cck_thread_current()
    guard let stack = cck_stack_acquire(thread, 0) else { throw BenchmarkError.noMemory }
    let contexts = UnsafeMutablePointer<cck_context_t>.allocate(capacity: 2)
    contexts.initialize(repeating: cck_context_t(), count: 2)
    cck_context_make(contexts + 1, stack.pointee.low, stack) { argument in
      // SAFETY: the first switch passes the two contexts.
      guard let contexts = argument?.assumingMemoryBound(to: cck_context_t.self) else { return }
      while true { _ = cck_context_switch(contexts + 1, contexts, nil) }
    }
    for _ in 0..<count / 2 { _ = cck_context_switch(contexts, contexts + 1, contexts) }
    // The other side holds nothing and can be left where it is.
    cck_context_retire(contexts + 1)
    cck_stack_release(thread, stack)
    contexts.deallocate()
  }
}

/// Why a benchmark could not run.
enum BenchmarkError: Error {
  case noMemory
}
