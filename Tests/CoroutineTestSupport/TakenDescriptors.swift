// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc

/// All but a few of the descriptors that the system allows a process, whose limit is lowered for this.
///
/// For tests in processes of their own.
package final class TakenDescriptors {
  private var taken: [Int32] = []

  /// Takes all but so many.
  package init(left: Int) {
    startDispatch()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // Not below one that is open, which the process may have been given: the system starts no processes then.
    limit.rlim_cur = max(256, rlim_t(OpenDescriptors.now.highest) + 1 + rlim_t(left))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 {
      taken.append(descriptor)
    }
    precondition(errno == EMFILE)
    for _ in 0..<left { close(taken.removeLast()) }
  }

  /// Closes them.
  package func giveBack() {
    for descriptor in taken { close(descriptor) }
    taken = []
  }
}
#endif
