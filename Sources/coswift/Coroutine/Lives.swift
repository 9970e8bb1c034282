// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Finds the `Life` of the running coroutine by its number.
///
/// The core knows nothing of this module, so there is a table beside it: sixteen of them, each with a
/// lock. Threads draw numbers in blocks of 1,024, so different threads mostly use different tables.
enum Lives {
  private static let shards = (0..<16).map { _ in Shard() }

  private static func shard(_ number: UInt64) -> Shard {
    shards[Int(truncatingIfNeeded: (number >> 10) & 15)]
  }

  static func add(_ life: Life, _ number: UInt64) {
    let shard = shard(number)
    shard.lock.withLock { shard.lives[number] = life }
  }

  static func remove(_ number: UInt64) {
    let shard = shard(number)
    let life = shard.lock.withLock { shard.lives.removeValue(forKey: number) }
    // Released out here, after the lock.
    withExtendedLifetime(life) {}
  }

  static func find(_ number: UInt64) -> Life? {
    let shard = shard(number)
    return shard.lock.withLock { shard.lives[number] }
  }

  private final class Shard: @unchecked Sendable {
    // SAFETY: `lives` is guarded by `lock`.
    let lock = AllocatedLock()
    var lives: [UInt64: Life] = [:]
  }
}
