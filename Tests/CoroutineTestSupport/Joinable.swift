// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc

/// A thread that can be waited for until nothing of it is left.
package struct Joinable {
  private var thread = pthread_t()

  package init(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    let status = pthread_create(
      &thread,
      nil,
      { argument in
        // SAFETY: the box was retained for this thread.
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      },
      box.toOpaque()
    )
    precondition(status == 0, "no thread")
  }

  package func join() { pthread_join(thread, nil) }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
#endif
