// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// Promises in memory of promises that are gone.
///
/// Most promises are made, settled, awaited and dropped on one thread, and the allocator's part in that is as large as all
/// else. They are all of one size (Z1 of `SpareMemory`), since `Promise` has no property of its own.
@usableFromInline
enum SparePromises {
  /// A pending promise.
  @inlinable @inline(__always)
  static func make<Value>(_ site: SourceSite) -> Promise<Value> {
    // SAFETY: a class's metatype is its address, which objects begin with.
    let metatype = unsafeBitCast(Promise<Value>.self, to: UnsafeRawPointer.self)
    guard let memory = currentThread().promiseMemory.take(metatype) else { return makeNew(site) }
    // SAFETY: an object of this class, whose properties are those of one that was settled (Z2), but for the site.
    let promise = Unmanaged<Promise<Value>>.fromOpaque(memory).takeRetainedValue()
    promise.beginAnew(site)
    return promise
  }

  @inlinable @inline(never)
  static func makeNew<Value>(_ site: SourceSite) -> Promise<Value> { Promise(newAt: site) }
}
