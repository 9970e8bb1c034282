// SPDX-License-Identifier: Apache-2.0

package import CoroutineKernel

/// A call that comes when a descriptor is ready, for what is no coroutine.
package enum DescriptorNotice {
  /// Calls `action` once, when the descriptor can be read or has been closed, on the thread of the reactor that
  /// all share: it must not wait for anything.
  ///
  /// - Throws: `DescriptorFailure` if the descriptor cannot be waited for; then `action` is not called.
  package static func whenReadable(
    _ descriptor: Int32,
    _ action: @escaping @Sendable () -> Void
  ) throws(DescriptorFailure) {
    guard let entry = DescriptorTable.entry(descriptor) else { throw .badDescriptor }
    let reactor = try Reactor.forOthers()
    let notice = WaitNotice.make(for: entry.queue(.reading), entry.lock, action)
    // In line before it is watched, so the event finds it.
    let (generation, interest) = entry.lock.withLock {
      // Not through `pointee.readers`, which ThreadSanitizer takes for a change of the lock beside it.
      entry.queue(.reading).pointee.append(notice)
      return (entry.pointee.generation, entry.awaited)
    }
    do {
      try reactor.watchOnce(descriptor, interest, generation: generation)
    } catch {
      // If another event has come meanwhile, the call is on its way.
      if notice.withdraw(.cancelled) {
        WaitNotice.drop(notice)
        throw error
      }
    }
  }
}
