// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO
import CoroutineKernel
import Coroutines
import Foundation

/// The end of a process that Foundation runs.
///
/// Foundation on Linux learns of an end by a socket that the process holds open, and that its own children
/// inherit: it notices the end of `sh -c 'sleep 60 &'` after a minute. So the end is also looked for by
/// a descriptor of the process itself (a pidfd), where the system has that. Foundation still collects
/// the process.
final class ProcessExit: Sendable {
  /// How it ended.
  let termination = Promise<ProcessTermination>()

  /// Takes over the termination handler of a process that has not been started, and goes on calling it.
  init(of process: Process) {
    let earlier = process.terminationHandler
    process.terminationHandler = { [termination] process in
      termination.fulfill(
        process.terminationReason == .uncaughtSignal
          ? .signalled(process.terminationStatus) : .exited(process.terminationStatus)
      )
      earlier?(process)
    }
  }

  /// Looks for the end of the process by its number as well, once it has been started.
  func watch(_ identifier: Int32) {
    // If it has been collected already, this fails, or finds a process that is none of our children.
    let descriptor = Int32(truncatingIfNeeded: cio_open_process(identifier))
    if descriptor >= 0 { watch(identifier, descriptor) }
  }

  private func watch(_ identifier: Int32, _ descriptor: Int32) {
    do {
      try DescriptorNotice.whenReadable(descriptor) { [self] in
        if hasEnded(identifier) {
          close(descriptor)
        } else {
          // A late word about another descriptor with this number.
          watch(identifier, descriptor)
        }
      }
    } catch {
      // Foundation still learns of the end.
      close(descriptor)
    }
  }

  /// Looks, and tells how it ended; leaves the process to Foundation, which collects it.
  private func hasEnded(_ identifier: Int32) -> Bool {
    var (status, isSignal): (Int32, Int32) = (0, 0)
    let flags = Int32(cio_end_at_once) | Int32(cio_end_not_collected)
    let result = cio_look_for_end(identifier, flags, &status, &isSignal)
    if result > 0 { termination.fulfill(isSignal == 0 ? .exited(status) : .signalled(status)) }
    // Negative: it has been collected.
    return result != 0
  }
}
