// SPDX-License-Identifier: Apache-2.0

package import CCoroutineKernel
package import Synchronization

/// What is known of one descriptor number, and who waits for it.
///
/// Invariants:
/// - D1. `generation`, `isOwned`, `holders` and the queues are guarded by `lock`. The edges are counted under it and may
///   be read without.
/// - D2. An event counts only if it carries the present generation: one of a descriptor that has been closed
///   meanwhile, and whose number means something else now, wakes nobody.
/// - D3. Entries are never freed, so a late event touches valid memory.
/// - D4. Who finds nothing to read has read the edges before; if they have changed when it is about to wait,
///   it looks again instead. So no edge is lost between the look and the wait, whoever else waits.
package struct DescriptorEntry: ~Copyable {
  package var lock: cck_lock_t
  package var readers: WaitQueue
  package var writers: WaitQueue
  /// Counts what the number has stood for; never 0, and less than 2³¹.
  package var generation: UInt32
  /// Whoever opened it closes it through `DescriptorTable.retire`, so it can be watched for good.
  package var isOwned: Bool
  /// Reactors that hold the open file, or have done so since the number means what it means; never freed.
  var holders: [Reactor]
  /// How often it has become readable, or writable.
  package let readEdges: Atomic<UInt32>
  package let writeEdges: Atomic<UInt32>
  /// The other end is gone, or writes no more, or there is an error: reading less than was asked for does not
  /// mean that there is no more.
  package let hasHungUp: Atomic<Bool>

  init() {
    lock = cck_lock_make_shared()
    readers = WaitQueue()
    writers = WaitQueue()
    generation = 1
    isOwned = false
    holders = []
    readEdges = Atomic(0)
    writeEdges = Atomic(0)
    hasHungUp = Atomic(false)
  }
}

extension UnsafeMutablePointer where Pointee == DescriptorEntry {
  // The addresses are computed: taking that of a field in Swift counts as writing to it, and this is how
  // several threads get at the lock.

  /// The entry's lock.
  package var lock: UnsafeMutablePointer<cck_lock_t> {
    // SAFETY: entries stay where they are (D3), and this is the first field.
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: cck_lock_t.self)
  }

  /// Those who wait for a direction.
  package func queue(_ direction: DescriptorDirection) -> UnsafeMutablePointer<WaitQueue> {
    // SAFETY: second and third field, each after one whose stride is a multiple of its alignment
    // (FiberLayoutTests).
    let readers = (UnsafeMutableRawPointer(lock) + MemoryLayout<cck_lock_t>.stride)
      .assumingMemoryBound(to: WaitQueue.self)
    return direction == .reading ? readers : readers + 1
  }

  /// What somebody waits for; under the lock.
  package var awaited: UInt32 {
    (pointee.readers.isEmpty ? 0 : DescriptorDirection.reading.interest)
      | (pointee.writers.isEmpty ? 0 : DescriptorDirection.writing.interest)
  }

  /// A coroutine of a loop waits; under the lock.
  package func isAwaited(by home: UnsafeMutablePointer<Home>) -> Bool {
    for direction in [DescriptorDirection.reading, .writing] {
      var waiter = queue(direction).pointee.first
      while let next = waiter {
        if next.pointee.fiber?.pointee.home == home { return true }
        waiter = next.pointee.next
      }
    }
    return false
  }

  /// A reactor is about to watch it; under the lock.
  func note(holder: Reactor) {
    if !pointee.holders.contains(where: { $0 === holder }) {
      // Not by `append`; see `retire`.
      pointee.holders = pointee.holders + [holder]
    }
  }

  /// How often it has become ready for a direction (D4).
  package func edges(_ direction: DescriptorDirection) -> UInt32 {
    switch direction {
    case .reading: pointee.readEdges.load(ordering: .acquiring)
    case .writing: pointee.writeEdges.load(ordering: .acquiring)
    }
  }

  /// It has become ready: wakes those who wait for that.
  func signal(_ ready: UInt32, generation: UInt32) {
    var woken = ResumeList()
    lock.withLock {
      guard pointee.generation == generation else { return }
      if ready & UInt32(CCK_POLL_HANG_UP) != 0 {
        pointee.hasHungUp.store(true, ordering: .releasing)
      }
      if ready & UInt32(CCK_POLL_READ) != 0 {
        pointee.readEdges.wrappingAdd(1, ordering: .releasing)
        woken.claimAll(of: &queue(.reading).pointee, .delivered)
      }
      if ready & UInt32(CCK_POLL_WRITE) != 0 {
        pointee.writeEdges.wrappingAdd(1, ordering: .releasing)
        woken.claimAll(of: &queue(.writing).pointee, .delivered)
      }
    }
    woken.resumeAll()
  }
}
