// SPDX-License-Identifier: Apache-2.0

package import CoroutineKernel

/// A call that comes when a descriptor is ready, for what is no coroutine.
package enum DescriptorNotice {
  /// The node that waits, and what it calls.
  private struct Notice: ~Copyable {
    /// First field.
    var waiter: Waiter
    let action: () -> Void
  }

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
    let notice = UnsafeMutablePointer<Notice>.allocate(capacity: 1)
    // SAFETY: the waiter is the first field, and lives until `call`, which ends its wait (W3).
    let waiter = UnsafeMutableRawPointer(notice).assumingMemoryBound(to: Waiter.self)
    notice.initialize(to: Notice(waiter: Waiter(fiber: nil), action: action))
    waiter.pointee.callback = call
    waiter.pointee.queue = entry.queue(.reading)
    waiter.pointee.lock = entry.lock
    // In line before it is watched, so the event finds it.
    let (generation, interest) = entry.lock.withLock {
      // Not through `pointee.readers`, which ThreadSanitizer takes for a change of the lock beside it.
      entry.queue(.reading).pointee.append(waiter)
      return (entry.pointee.generation, entry.awaited)
    }
    do {
      try reactor.watchOnce(descriptor, interest, generation: generation)
    } catch {
      // If another event has come meanwhile, the call is on its way.
      if waiter.withdraw(.cancelled) {
        notice.deinitialize(count: 1)
        notice.deallocate()
        throw error
      }
    }
  }

  private static let call: KernelFunction = { waiter in
    // SAFETY: the wait has ended, so nobody else knows the notice; the waiter is its first field.
    let notice = waiter.assumingMemoryBound(to: Notice.self)
    let action = notice.pointee.action
    notice.deinitialize(count: 1)
    notice.deallocate()
    action()
  }
}
