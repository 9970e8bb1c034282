// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Waits without parking.
func block(for milliseconds: UInt32) { usleep(milliseconds * 1000) }

/// Runs `body` on a thread that the library knows nothing of.
func onThread(_ body: @escaping @Sendable () -> Void) {
  guard startKernelThread(named: "other", body) else { fatalError("the system has no thread left") }
}

/// Says that the program has come to its loop; what it prints to standard output comes with its end, into a pipe.
func sayReady() { _ = write(STDERR_FILENO, "ready\n", 6) }
