// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Mutexes that were locked by `lock`, after which their holder may end without unlocking.
///
/// Who comes to a locked mutex asks its holder whether it has ended, so the holder must be there as long as the mutex.
/// While it runs its scheduler keeps it; so it counts, in its fiber, how many mutexes it holds by hand. (A
/// reference for each would be two atomic operations.) What is here is for the few that end with some left.
///
/// Invariants:
/// - J1. Each mutex that is held by hand is one in its holder's count: `locksByHand` of its fiber until it has ended,
///   plus its number in the table.
/// - J2. A holder that has ended is in the table, with a number above 0, and retained once, while one of its mutexes
///   is there. One that has not has none there, or a number below 0: of mutexes that have gone away meanwhile,
///   which only it could have taken out of its own count.
///
/// Locking: `lock` covers the table. Nothing is released under it.
enum LocksByHand {
  private static let lock = AllocatedLock()

  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var numbers: [UnsafeMutablePointer<Fiber>: Int] = [:]

  /// A coroutine ends and holds mutexes by hand; at most as many as it has counted are still there.
  @inline(never)
  static func holderEnds(_ holder: Coroutine) {
    let fiber = holder.fiber
    lock.withLock {
      let left = Int(fiber.pointee.locksByHand) + (numbers[fiber] ?? 0)
      numbers[fiber] = left == 0 ? nil : left
      // SAFETY: released by the last of its mutexes that goes away.
      if left > 0 { _ = Unmanaged.passRetained(holder) }
    }
    fiber.pointee.locksByHand = 0
  }

  /// A mutex goes away that the coroutine holds by hand.
  @inline(never)
  static func mutexGoes(heldBy fiber: UnsafeMutablePointer<Fiber>) {
    let isLast = lock.withLock {
      let left = (numbers[fiber] ?? 0) - 1
      numbers[fiber] = left == 0 ? nil : left
      return left == 0
    }
    // SAFETY: it had a number above 0, so it has ended, and was retained then (J2). Until then it is there (J1).
    if isLast { Unmanaged<Coroutine>.fromOpaque(fiber.owner).release() }
  }
}
