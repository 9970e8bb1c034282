// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// What a coroutine waits to do with a descriptor.
package enum DescriptorDirection: Sendable {
  case reading
  case writing

  /// For the poller.
  package var interest: UInt32 {
    switch self {
    case .reading: UInt32(CCK_POLL_READ)
    case .writing: UInt32(CCK_POLL_WRITE)
    }
  }
}
