// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A thread that can be waited for until nothing of it is left.
package struct Joinable {
  #if canImport(Darwin)
  private var thread: pthread_t?
  #else
  private var thread = pthread_t()
  #endif

  package init(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    let status = pthread_create(
      &thread,
      nil,
      { argument in
        Box.run(argument)
        return nil
      },
      box.toOpaque()
    )
    precondition(status == 0, "no thread")
  }

  package func join() {
    #if canImport(Darwin)
    guard let thread else { return }
    #endif
    pthread_join(thread, nil)
  }

  private final class Box: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Optional to one of the systems.
    static func run(_ argument: UnsafeMutableRawPointer?) {
      // SAFETY: the box was retained for this thread.
      if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
    }
  }
}
