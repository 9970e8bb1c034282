// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import Synchronization

/// What is known of one descriptor number, and who waits for it.
///
/// Invariants:
/// - D1. `generation`, `isOwned`, `holders`, `watched` and the queues are guarded by `lock`. The edges are counted under
///   it and may be read without.
/// - D2. An event counts only if it carries the present generation: one of a descriptor that has been closed
///   meanwhile, and whose number means something else now, wakes nobody.
/// - D3. Entries are never freed, so a late event touches valid memory.
/// - D4. Who finds nothing to read has read the edges before; if they have changed when it is about to wait,
///   it looks again instead. So no edge is lost between the look and the wait, whoever else waits.
/// - D5. `watched` is what one reactor watches the present generation for, till its end: that of the loop that has
///   asked last. Who finds its own reactor there need not ask it.
@usableFromInline
package struct DescriptorEntry: ~Copyable {
  @usableFromInline package var lock: cck_lock_t
  @usableFromInline package var readers: WaitQueue
  @usableFromInline package var writers: WaitQueue
  /// Counts what the number has stood for; never 0, and less than 2³¹.
  @usableFromInline package var generation: UInt32
  /// Whoever opened it closes it through `DescriptorTable.retire`, so it can be watched for good.
  package var isOwned: Bool
  /// Reactors that hold the open file, or have done so since the number means what it means; never freed.
  var holders: [Reactor]
  /// A `Reactor.watcher`, and in its two lowest bits what for; 0 for nobody.
  @usableFromInline var watched: UInt64
  /// How often it has become readable, or writable.
  @usableFromInline package let readEdges: Atomic<UInt32>
  @usableFromInline package let writeEdges: Atomic<UInt32>
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
    watched = 0
    readEdges = Atomic(0)
    writeEdges = Atomic(0)
    hasHungUp = Atomic(false)
  }
}

extension UnsafeMutablePointer where Pointee == DescriptorEntry {
  // The addresses are computed: taking that of a field in Swift counts as writing to it, and this is how
  // several threads get at the lock.

  /// The entry's lock.
  @inlinable @inline(__always)
  package var lock: UnsafeMutablePointer<cck_lock_t> {
    // SAFETY: entries stay where they are (D3), and this is the first field.
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: cck_lock_t.self)
  }

  /// Those who wait for a direction.
  @inlinable @inline(__always)
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

  /// A reactor watches it for a direction, till the end of its generation; under the lock (D5).
  ///
  /// - Parameters:
  ///   - watcher: The reactor's; 0 for one that watches nothing for good.
  ///   - direction: What for.
  /// - Returns: False if it may be watched all the same.
  @inlinable @inline(__always)
  package func isWatched(by watcher: UInt64, for direction: DescriptorDirection) -> Bool {
    let wanted = watcher | UInt64(direction.interest)
    return watcher != 0 && pointee.watched & (~3 | UInt64(direction.interest)) == wanted
  }

  /// A reactor is about to watch it; under the lock.
  func note(holder: Reactor) {
    if !pointee.holders.contains(where: { $0 === holder }) {
      // Not by `append`; see `retire`.
      pointee.holders = pointee.holders + [holder]
    }
  }

  /// How often it has become ready for a direction (D4).
  @inlinable @inline(__always)
  package func edges(_ direction: DescriptorDirection) -> UInt32 {
    switch direction {
    case .reading: pointee.readEdges.load(ordering: .acquiring)
    case .writing: pointee.writeEdges.load(ordering: .acquiring)
    }
  }

  /// Has the processor fetch the innermost frames of a coroutine that will run soon.
  ///
  /// - Parameter waiter: Its node, which is in the second of them.
  @inline(__always)
  private func expect(_ waiter: UnsafeMutablePointer<Waiter>?) {
    if let waiter { cck_prefetch(UnsafeRawPointer(waiter) - 128, 8) }
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
        expect(queue(.reading).pointee.first)
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
