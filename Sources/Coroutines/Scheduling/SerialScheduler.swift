// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// One thread of its own, running coroutines in an event loop.
///
/// ```swift
/// let disk = SerialScheduler(name: "disk")
/// let text = launch(on: disk) { try read("notes.txt") }
/// ```
///
/// The thread starts with the scheduler. When the last reference to the scheduler goes away, it ends
/// as soon as the coroutines launched on it have finished.
public final class SerialScheduler: Scheduler, @unchecked Sendable {
  // SAFETY: no state of its own.

  private let loop: EventLoop

  /// Starts a thread with an event loop.
  ///
  /// - Parameter name: For dumps and debuggers.
  public init(name: String = "serial") {
    let loop = EventLoop(label: name, stopsWhenEmpty: false)
    self.loop = loop
    super.init(core: loop)
    startKernelThread(named: name) { loop.run() }
  }

  deinit {
    loop.stopWhenEmpty()
  }
}
