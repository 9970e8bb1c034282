// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// Memory of objects of one size that are gone, kept by a thread for its next ones of that size.
@usableFromInline
package typealias SpareMemory = UnsafeMutablePointer<cck_spare_memory_t>

/// An object ends when its last reference goes, as any other; only its memory stays, and the next object begins there. So nobody can
/// tell: memory that somebody refers to still, weakly or unowned, is not kept (`cck_object_keep_memory`).
///
/// Invariants:
/// - Z1. All objects of a list are of one size.
/// - Z2. The properties of one that is gone hold nothing, and are what they were: to end them takes no step (they are bits).
/// - Z3. The place of the first property, a word at least, links the list, which is its thread's own.
extension SpareMemory {
  /// How many a list keeps: of promises some 170 bytes each, of coroutines 260.
  @inlinable @inline(__always)
  static var limit: UInt32 { 1024 }

  /// Called by an object's `deinit`, as its last step, with a list of the calling thread.
  @inlinable @inline(__always)
  package func keep(_ object: UnsafeMutableRawPointer, _ thread: ThreadRecord) {
    guard pointee.count < Self.limit, thread.pointee.registered != 0 else { return }
    // SAFETY: the memory is not used before the runtime has let go of it, since this thread uses it next, and no code of
    // the user's runs until then (Z2).
    guard cck_object_keep_memory(object) != 0 else { return }
    Self.link(object).pointee = pointee.first
    pointee.first = object
    pointee.count &+= 1
  }

  /// An object of a class, by its metatype, with one reference, in memory of this list, if there is some.
  ///
  /// Its properties are those of one that is gone (Z2).
  @inlinable @inline(__always)
  package func take(_ metatype: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    guard let memory = pointee.first else { return nil }
    // SAFETY: Z3.
    pointee.first = Self.link(memory).pointee
    pointee.count &-= 1
    // The memory is large enough (Z1).
    cck_object_renew(memory, metatype)
    return memory
  }

  /// Frees all that is kept, at the thread's end.
  package func drop() {
    while let memory = pointee.first {
      pointee.first = Self.link(memory).pointee
      pointee.count -= 1
      cck_object_drop_memory(memory)
    }
  }

  /// The place of the first property.
  @inlinable @inline(__always)
  static func link(
    _ memory: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    // SAFETY: it lies right behind the header (CoreLayoutTests, CoroutineLayoutTests).
    (memory + FiberOwner.headerSize).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }
}

extension ThreadRecord {
  /// For promises.
  @inlinable @inline(__always)
  package var promiseMemory: SpareMemory {
    // SAFETY: inside the record, which does not move.
    withUnsafeMutablePointer(to: &pointee.promise_memory) { $0 }
  }

  /// For coroutines.
  @inlinable @inline(__always)
  package var coroutineMemory: SpareMemory {
    // SAFETY: as above.
    withUnsafeMutablePointer(to: &pointee.coroutine_memory) { $0 }
  }
}
