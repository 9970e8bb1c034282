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
  /// If the system has no thread left, coroutines launched on it end at once with
  /// `CoroutineError.schedulerShutDown`.
  ///
  /// - Parameter name: For dumps and debuggers.
  public init(name: String = "serial") {
    let loop = EventLoop(.text(name), stopsWhenEmpty: false)
    self.loop = loop
    super.init(core: loop)
    if !startKernelThread(named: name, { loop.run() }) {
      // Nothing will ever run here; launches say so instead of waiting for ever.
      _ = loop.home.closeInbox()
    }
  }

  deinit {
    loop.stopWhenEmpty()
  }
}
