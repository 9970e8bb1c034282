// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Synchronization

/// Spare coroutines on their way back, in batches: from threads where coroutines end to those that launch.
///
/// A thread that launches on other loops has its objects end there. Without this it would make new ones for ever, and they
/// would free as many: memory that one thread allocates and another frees is what allocators are worst at (with glibc's,
/// both take the lock of the first one's arena). (After Bonwick and Adams, Magazines and vmem, 2001.)
///
/// Invariant: a batch's objects are of one class, linked as in a thread's list, and numbered as if they were all of it.
enum SpareDepot {
  /// Objects in a batch.
  private static let batch = 64
  /// So many batches are kept, of all classes together; then the oldest goes.
  private static let limit = 32

  private struct Batch {
    let kind: ObjectIdentifier
    let first: UnsafeMutablePointer<Fiber>
  }

  private static let lock = AllocatedLock()
  // SAFETY: guarded by `lock`.
  nonisolated(unsafe) private static var batches: [Batch] = []
  /// How many there are, for who need not know exactly.
  private static let count = Atomic<Int>(0)

  /// Takes the first objects of a thread's list over, if they are all of one class.
  ///
  /// - Parameters:
  ///   - list: The list; it has some.
  ///   - first: Its first.
  @inline(never)
  static func relieve(
    _ list: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ first: UnsafeMutablePointer<Fiber>
  ) {
    let kind = first.kind
    var last = first
    for _ in 1..<batch {
      guard let next = last.next, next.kind == kind else { return }
      last = next
    }
    list.pointee = last.next.map { UnsafeMutableRawPointer($0) }
    last.pointee.link.next = nil
    var fiber: UnsafeMutablePointer<Fiber>? = first
    var position = UInt64(batch)
    while let current = fiber {
      current.pointee.identifier = position
      position -= 1
      fiber = current.next
    }
    let excess: Batch? = lock.withUnobservedLock {
      let excess = batches.count < limit ? nil : batches.removeFirst()
      batches.append(Batch(kind: kind, first: first))
      count.store(batches.count, ordering: .relaxed)
      return excess
    }
    if let excess { free(excess) }
  }

  private static func free(_ batch: Batch) {
    var next: UnsafeMutablePointer<Fiber>? = batch.first
    while let fiber = next {
      next = fiber.next
      // SAFETY: the reference that a list has.
      Unmanaged<Coroutine>.fromOpaque(fiber.owner).release()
    }
  }

  /// A batch of the class, for a thread's list that is empty.
  ///
  /// - Returns: Its first; nil if there is none.
  @inline(never)
  static func take(_ kind: ObjectIdentifier) -> UnsafeMutablePointer<Fiber>? {
    guard count.load(ordering: .relaxed) > 0 else { return nil }
    return lock.withUnobservedLock {
      guard let index = batches.lastIndex(where: { $0.kind == kind }) else { return nil }
      let first = batches.remove(at: index).first
      count.store(batches.count, ordering: .relaxed)
      return first
    }
  }
}

extension UnsafeMutablePointer where Pointee == Fiber {
  /// The class of the object that this is part of.
  @inline(__always)
  fileprivate var kind: ObjectIdentifier {
    // SAFETY: a spare object is alive.
    Unmanaged<Coroutine>.fromOpaque(owner)
      ._withUnsafeGuaranteedRef { ObjectIdentifier(type(of: $0)) }
  }
}
