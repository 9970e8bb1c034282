// SPDX-License-Identifier: Apache-2.0

/// Which loops a launched coroutine may begin on.
///
/// Where it has begun it stays.
@usableFromInline
package enum Placement: UInt8 {
  /// On the one that it is launched on.
  case pinned
  /// There, unless another of its pool, which has nothing to do, takes it over before it begins.
  case near
  /// On any of its pool, and rather where few live (P5).
  case wide
}
