// SPDX-License-Identifier: Apache-2.0

import CCoroutinesFoundation
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
    #if os(Linux)
    // If it has been collected already, this fails, or finds a process that is none of our children.
    let descriptor = ccf_open_process(identifier)
    guard descriptor >= 0 else { return }
    _ = try? Poller.shared.add(descriptor, Int32(POLLIN)) { [termination] in
      var information = siginfo_t()
      // Leaves the process to Foundation, which collects it.
      if waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG) == 0,
        information.si_signo == SIGCHLD
      {
        let status = information._sifields._sigchld.si_status
        let isExit = information.si_code == CLD_EXITED
        termination.fulfill(isExit ? .exited(status) : .signalled(status))
      }
      close(descriptor)
    }
    #endif
  }
}
