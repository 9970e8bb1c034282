// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

extension Channel {
  /// Sends a value; parks while the channel is full and nobody receives.
  ///
  /// If a receiver waits, it gets the value and is made ready, and the sender runs on.
  ///
  /// *Cancellation:* takes the value back: it has not been and will not be received. A value that a
  /// receiver has taken counts as sent, even if cancellation came at the same time.
  ///
  /// - Parameter element: The value; it must not be used afterwards if it is not `Sendable`.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, write `try await channel.send(value)`.")
  public func send(_ element: sending Element) throws {
    let thread = currentThread()
    let fiber = try Parking.begin("Channel.send(_:)", thread)
    let mode = core.lock.acquire(thread)
    switch core.decideSend() {
    case .handOver(let receiver):
      place(element, at: receiver.pointee.slot)
      core.lock.release(mode)
      ResumeToken(receiver, .delivered).resume(thread)
    case .keep(let slot):
      place(element, at: slot)
      core.lock.release(mode)
    case .replace(let slot):
      let oldest = slot.assumingMemoryBound(to: Element.self).move()
      place(element, at: slot)
      core.lock.release(mode)
      // Released out here: it may run code of the user's.
      _ = consume oldest
    case .discard:
      core.lock.release(mode)
    case .closed:
      core.lock.release(mode)
      throw ChannelError.closed
    case .wait:
      try withUnsafeTemporaryAllocation(of: Element.self, capacity: 1) { slot in
        // SAFETY: one element was allocated; it is in this frame until the wait is over (W3).
        let slot = slot.baseAddress.unsafelyUnwrapped
        slot.initialize(to: element)
        var waiter = Waiter(fiber: fiber, slot: UnsafeMutableRawPointer(slot))
        try withUnsafeMutablePointer(to: &waiter) { waiter in
          waiter.pointee.lock = core.lock
          waiter.pointee.queue = core.senders
          core.pointee.senders.append(waiter)
          core.lock.release(mode)
          fiber.park(thread, waiter)
          if waiter.pointee.outcome != .delivered {
            slot.deinitialize(count: 1)
            throw waiter.pointee.outcome == .closed ? ChannelError.closed : CancellationError()
          }
        }
      }
    }
  }

  /// Sends a value if that needs no waiting.
  ///
  /// Never parks and never fails spuriously; may be called from any thread.
  ///
  /// - Parameter element: The value.
  /// - Returns: `sent`, or the value back with the reason. A channel that drops what does not fit
  ///   reports `full` here.
  @inlinable
  @discardableResult
  public func sendIfReady(_ element: sending Element) -> SendOutcome<Element> {
    let thread = currentThread()
    let mode = core.lock.acquire(thread)
    switch core.decideSend() {
    case .handOver(let receiver):
      place(element, at: receiver.pointee.slot)
      core.lock.release(mode)
      ResumeToken(receiver, .delivered).resume(thread)
      return .sent
    case .keep(let slot):
      place(element, at: slot)
      core.lock.release(mode)
      return .sent
    case .replace(let slot):
      let oldest = slot.assumingMemoryBound(to: Element.self).move()
      place(element, at: slot)
      core.lock.release(mode)
      _ = consume oldest
      return .sent
    case .discard, .wait:
      core.lock.release(mode)
      return .full(element)
    case .closed:
      core.lock.release(mode)
      return .closed(element)
    }
  }

  @inlinable @inline(__always)
  func place(_ element: consuming Element, at slot: UnsafeMutableRawPointer?) {
    // SAFETY: slots that a step names are free, and belong to a receiver of this channel or its ring.
    slot.unsafelyUnwrapped.assumingMemoryBound(to: Element.self).initialize(to: element)
  }
}
