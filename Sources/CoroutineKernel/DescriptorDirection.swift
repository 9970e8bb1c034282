// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// What a coroutine waits to do with a descriptor.
@usableFromInline
@frozen
package enum DescriptorDirection: Sendable {
  case reading
  case writing

  /// For the poller.
  @inlinable @inline(__always)
  package var interest: UInt32 {
    switch self {
    case .reading: UInt32(CCK_POLL_READ)
    case .writing: UInt32(CCK_POLL_WRITE)
    }
  }
}
