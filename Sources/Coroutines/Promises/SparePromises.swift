// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// Memory of promises that are gone, kept by each thread for its next ones.
///
/// Most promises are made, settled, awaited and dropped on one thread, and the allocator's part in that is as large as all
/// else. An object ends when its last reference goes, as any other; only its memory stays, and the next promise that
/// this thread makes, of whatever type, begins there. So nobody can tell: memory that somebody refers to still, weakly or
/// unowned, is not kept (`cck_object_keep_memory`).
///
/// - R1. All promises are of one size, since `Promise` has no property of its own.
/// - R2. The properties of one that is gone hold nothing, and are what they were: to end them takes no step (they are bits).
/// - R3. The first property's place links the list, which is its thread's own.
@usableFromInline
enum SparePromises {
  /// How many a thread keeps, of some 170 bytes each.
  private static let limit: UInt32 = 1024

  /// Learns how an object looks that is about to go; see `SpareCoroutines.prepare`.
  static func prepare() {
    final class Probe { deinit { cck_object_learn_end(Unmanaged.passUnretained(self).toOpaque()) } }
    // The kernel sees the address, so the compiler cannot put the object anywhere but where all are.
    Unmanaged.passRetained(Probe()).release()
  }

  /// A pending promise.
  @inlinable @inline(__always)
  static func make<Value>(_ site: SourceSite) -> Promise<Value> {
    let thread = currentThread()
    guard let memory = thread.pointee.spare_promises else { return makeNew(site) }
    // SAFETY: R3.
    thread.pointee.spare_promises = link(memory).pointee
    thread.pointee.spare_promise_count &-= 1
    // SAFETY: a class's metatype is its address, which objects begin with. The memory is large enough (R1).
    cck_object_renew(memory, unsafeBitCast(Promise<Value>.self, to: UnsafeRawPointer.self))
    // SAFETY: an object of this class, whose properties are those of one that was settled (R2), but for the site.
    let promise = Unmanaged<Promise<Value>>.fromOpaque(memory).takeRetainedValue()
    promise.beginAnew(site)
    return promise
  }

  @inlinable @inline(never)
  static func makeNew<Value>(_ site: SourceSite) -> Promise<Value> { Promise(newAt: site) }

  /// Called by a settled promise's `deinit`, as its last step.
  @inline(__always)
  static func keepMemory(of promise: AnyPromise) {
    let thread = currentThread()
    guard thread.pointee.spare_promise_count < limit, thread.pointee.registered != 0 else { return }
    // SAFETY: the memory is not used before the runtime has let go of it, since this thread uses it next, and no code of
    // the user's runs until then (R2).
    let memory = Unmanaged.passUnretained(promise).toOpaque()
    guard cck_object_keep_memory(memory) != 0 else { return }
    link(memory).pointee = thread.pointee.spare_promises
    thread.pointee.spare_promises = memory
    thread.pointee.spare_promise_count &+= 1
  }

  /// Frees all that a thread keeps, at its end.
  static func drop(_ thread: ThreadRecord) {
    while let memory = thread.pointee.spare_promises {
      thread.pointee.spare_promises = link(memory).pointee
      thread.pointee.spare_promise_count -= 1
      cck_object_drop_memory(memory)
    }
  }

  /// The place of the first property.
  @inlinable @inline(__always)
  static func link(
    _ memory: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    // SAFETY: two words, right behind the header (CoreLayoutTests).
    (memory + FiberOwner.headerSize).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }
}
