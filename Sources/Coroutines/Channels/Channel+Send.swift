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
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, write `try await channel.send(value)`.")
  public func send(_ element: sending Element) throws {
    try send(element, "Channel.send(_:)") { _ in }
  }

  /// Sends a value as `send(_:)` does, and gives it back if it is not delivered.
  ///
  /// For values that must not just be released: connections to return to their pool, tickets to
  /// answer. Either a receiver gets the value, or the channel keeps or drops it, or `onUndelivered`
  /// gets it; never two of these.
  ///
  /// ```swift
  /// try idle.send(connection, onUndelivered: { $0.disconnect() })
  /// ```
  ///
  /// *Cancellation:* as `send(_:)`; the value goes to `onUndelivered`.
  ///
  /// - Parameters:
  ///   - element: The value; it must not be used afterwards if it is not `Sendable`.
  ///   - onUndelivered: Gets the value back before the error is thrown: when the channel is closed, when
  ///     the sender is cancelled, before or while it waits, and outside a coroutine. It runs in the
  ///     sender, under no lock. A value that the channel drops, by its capacity, counts as sent.
  /// - Throws: `ChannelError.closed`; `CancellationError`; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func send(
    _ element: sending Element,
    onUndelivered: (sending Element) -> Void
  ) throws {
    try send(element, "Channel.send(_:onUndelivered:)", onUndelivered)
  }

  /// Sends a value: all that the methods above do.
  ///
  /// Always part of its caller, so that `send(_:)`, whose closure does nothing, pays nothing for it.
  @inlinable @inline(__always)
  func send(
    _ element: sending Element,
    _ operation: StaticString,
    _ giveBack: (sending Element) -> Void
  ) throws {
    let thread = currentThread()
    guard let fiber = thread.runningFiber else {
      giveBack(element)
      throw Parking.outside(operation)
    }
    if Parking.mustLookTwice(fiber) {
      return try sendLookingTwice(element, operation, giveBack, fiber, thread)
    }
    try send(element, operation, giveBack, fiber, thread, isRecorded: false)
  }

  /// The same for a coroutine that may be cancelled, or is recorded.
  ///
  /// Apart and to the end, so that the others pay nothing for it: not even registers that a call would leave alone.
  @inlinable @inline(never)
  func sendLookingTwice(
    _ element: sending Element,
    _ operation: StaticString,
    _ giveBack: (sending Element) -> Void,
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) throws {
    let isRecorded: Bool
    do {
      isRecorded = try Parking.isRecorded(fiber)
    } catch {
      giveBack(element)
      throw error
    }
    try send(element, operation, giveBack, fiber, thread, isRecorded: isRecorded)
  }

  /// Sends a value, from a coroutine that is not cancelled.
  ///
  /// The value is consumed here, and in no call above, where an object that is made to be sent is retained twice, therefore. For
  /// whatever hands it on at once, Swift 6.3's optimiser stops with an error of its own if a caller has copied the one field
  /// that is counted out of a `consuming` parameter of a generic structure, and sends that (*Tried and rejected*, in Performance).
  @inlinable @inline(__always)
  func send(
    _ element: sending Element,
    _ operation: StaticString,
    _ giveBack: (sending Element) -> Void,
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord,
    isRecorded: Bool
  ) throws {
    let mode = core.lock.acquire(thread)
    let step = core.decideSend()
    if isRecorded { core.record(step, thread) }
    switch step {
    case .handOver(let receiver):
      place(consume element, at: receiver.pointee.slot)
      core.lock.release(mode)
      ResumeToken(receiver, .delivered).resume(thread)
    case .keep(let slot):
      place(consume element, at: slot)
      core.lock.release(mode)
    case .replace(let slot):
      let oldest = slot.assumingMemoryBound(to: Element.self).move()
      place(consume element, at: slot)
      core.lock.release(mode)
      // Released out here: it may run code of the user's.
      _ = consume oldest
    case .discard:
      core.lock.release(mode)
    case .closed:
      core.lock.release(mode)
      giveBack(element)
      throw closedError()
    case .wait:
      // Taken out of a variable, since a closure copies what it has captured: for an object, two atomic operations.
      var element = Optional(consume element)
      // SAFETY: both are in this frame until the wait is over (W3).
      try withWaiter(for: fiber, and: Element.self) { waiter, slot in
        // SAFETY: it is there, as this is called once.
        slot.initialize(to: element.take().unsafelyUnwrapped)
        waiter.pointee.lock = core.lock
        waiter.pointee.queue = core.senders
        core.pointee.senders.append(waiter)
        core.lock.release(mode)
        fiber.waits(for: self, in: operation)
        fiber.park(thread, waiter)
        if waiter.pointee.outcome != .delivered {
          // SAFETY: nobody has taken the value out, and nobody else knows it.
          nonisolated(unsafe) let element = slot.move()
          giveBack(element)
          throw waiter.pointee.outcome == .closed ? closedError() : CancellationError()
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
    if isTracing { return sendIfReadyRecorded(consume element) }
    return sendIfReady(consume element, isRecorded: false)
  }

  /// The same, while events are recorded: apart, as above.
  @inlinable @inline(never)
  func sendIfReadyRecorded(_ element: sending Element) -> SendOutcome<Element> {
    sendIfReady(consume element, isRecorded: true)
  }

  @inlinable @inline(__always)
  func sendIfReady(_ element: sending Element, isRecorded: Bool) -> SendOutcome<Element> {
    let thread = currentThread()
    let mode = core.lock.acquire(thread)
    let step = core.decideSend()
    if isRecorded { core.record(step, thread) }
    switch step {
    case .handOver(let receiver):
      place(consume element, at: receiver.pointee.slot)
      core.lock.release(mode)
      ResumeToken(receiver, .delivered).resume(thread)
      return .sent
    case .keep(let slot):
      place(consume element, at: slot)
      core.lock.release(mode)
      return .sent
    case .replace(let slot):
      let oldest = slot.assumingMemoryBound(to: Element.self).move()
      place(consume element, at: slot)
      core.lock.release(mode)
      _ = consume oldest
      return .sent
    case .discard, .wait:
      core.lock.release(mode)
      return .full(consume element)
    case .closed:
      core.lock.release(mode)
      return .closed(consume element)
    }
  }

  @inlinable @inline(__always)
  func place(_ element: consuming Element, at slot: UnsafeMutableRawPointer?) {
    // SAFETY: slots that a step names are free, and belong to a receiver of this channel or its ring.
    slot.unsafelyUnwrapped.assumingMemoryBound(to: Element.self).initialize(to: consume element)
  }
}
