// SPDX-License-Identifier: Apache-2.0

/// Something in line that is no coroutine: whoever ends its wait calls `action`, on its own thread and under no lock.
package struct WaitNotice: ~Copyable {
  /// First field.
  private var waiter: Waiter
  private let action: () -> Void

  /// One that is to stand in `queue`, in memory that lives until its wait has ended, or until `drop`.
  package static func make(
    for queue: UnsafeMutablePointer<WaitQueue>,
    _ lock: UnsafeMutablePointer<Lock>,
    _ action: @escaping () -> Void
  ) -> UnsafeMutablePointer<Waiter> {
    let notice = UnsafeMutablePointer<WaitNotice>.allocate(capacity: 1)
    notice.initialize(to: WaitNotice(waiter: Waiter(fiber: nil), action: action))
    // SAFETY: the first field.
    let waiter = UnsafeMutableRawPointer(notice).assumingMemoryBound(to: Waiter.self)
    waiter.pointee.callback = { WaitNotice.take($0)() }
    waiter.pointee.queue = queue
    waiter.pointee.lock = lock
    return waiter
  }

  /// Frees one that is in no queue, and whose wait nobody has ended.
  package static func drop(_ waiter: UnsafeMutablePointer<Waiter>) { _ = take(waiter) }

  /// Frees it.
  ///
  /// - Returns: Its action.
  private static func take(_ waiter: UnsafeMutableRawPointer) -> () -> Void {
    // SAFETY: made by `make`. Its wait has ended, or has not begun, so nobody else knows of it (W2).
    let notice = waiter.assumingMemoryBound(to: WaitNotice.self)
    let action = notice.pointee.action
    notice.deinitialize(count: 1)
    notice.deallocate()
    return action
  }
}
