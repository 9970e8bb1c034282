// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

extension Channel {
  /// Receives a value; parks while the channel is empty and nobody sends.
  ///
  /// If a sender waits, it is made ready, and the receiver runs on.
  ///
  /// *Cancellation:* receives nothing: no value is lost. A value that has been handed over counts as
  /// received, even if cancellation came at the same time.
  ///
  /// - Returns: The oldest value.
  /// - Throws: `ChannelError.closed` once the channel is closed and empty; `CancellationError`;
  ///   `CoroutineError.outsideCoroutine`.
  @inlinable @inline(__always)
  @available(*, noasync, message: "In async code, write `try await channel.receive()`.")
  public func receive() throws -> Element {
    let thread = currentThread()
    guard let fiber = thread.runningFiber else { throw Parking.outside("Channel.receive()") }
    if Parking.mustLookTwice(fiber) { return try receiveLookingTwice(fiber, thread) }
    return try receive(fiber, thread, isRecorded: false)
  }

  /// The same for a coroutine that may be cancelled, or is recorded.
  ///
  /// Apart and to the end, so that the others pay nothing for it: not even registers that a call would leave alone.
  @inlinable @inline(never)
  func receiveLookingTwice(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord
  ) throws -> Element {
    let isRecorded = try Parking.isRecorded(fiber)
    return try receive(fiber, thread, isRecorded: isRecorded)
  }

  /// Receives a value, in a coroutine that is not cancelled.
  @inlinable @inline(__always)
  func receive(
    _ fiber: UnsafeMutablePointer<Fiber>,
    _ thread: ThreadRecord,
    isRecorded: Bool
  ) throws -> Element {
    let mode = core.lock.acquire(thread)
    let step = core.decideReceive()
    if isRecorded { core.record(step, thread) }
    switch step {
    case .take(let slot, let sender, let free):
      let element = slot.assumingMemoryBound(to: Element.self).move()
      finish(sender, free, mode, thread)
      return element
    case .meet(let sender):
      let element = take(from: sender)
      core.lock.release(mode)
      ResumeToken(sender, .delivered).resume(thread)
      return element
    case .closed:
      core.lock.release(mode)
      throw closedError()
    case .wait:
      // SAFETY: both are in this frame until the wait is over (W3).
      return try withWaiter(for: fiber, and: Element.self) { waiter, slot in
        waiter.pointee.lock = core.lock
        waiter.pointee.queue = core.receivers
        core.pointee.receivers.append(waiter)
        core.lock.release(mode)
        fiber.waits(for: self, in: "Channel.receive()")
        fiber.park(thread, waiter)
        if waiter.pointee.outcome != .delivered {
          throw waiter.pointee.outcome == .closed ? closedError() : CancellationError()
        }
        return slot.move()
      }
    }
  }

  /// Receives a value if there is one now.
  ///
  /// Never parks and never fails spuriously; may be called from any thread.
  ///
  /// - Returns: The oldest value, or why there is none.
  @inlinable
  public func receiveIfReady() -> ReceiveOutcome<Element> {
    if isTracing { return receiveIfReadyRecorded() }
    return receiveIfReady(isRecorded: false)
  }

  /// The same, while events are recorded: apart, as above.
  @inlinable @inline(never)
  func receiveIfReadyRecorded() -> ReceiveOutcome<Element> {
    receiveIfReady(isRecorded: true)
  }

  @inlinable @inline(__always)
  func receiveIfReady(isRecorded: Bool) -> ReceiveOutcome<Element> {
    let thread = currentThread()
    let mode = core.lock.acquire(thread)
    let step = core.decideReceive()
    if isRecorded { core.record(step, thread) }
    switch step {
    case .take(let slot, let sender, let free):
      let element = slot.assumingMemoryBound(to: Element.self).move()
      finish(sender, free, mode, thread)
      return .received(element)
    case .meet(let sender):
      let element = take(from: sender)
      core.lock.release(mode)
      ResumeToken(sender, .delivered).resume(thread)
      return .received(element)
    case .closed:
      core.lock.release(mode)
      return .closed
    case .wait:
      core.lock.release(mode)
      return .empty
    }
  }

  /// Receives one value, waiting for it if need be, and then all others that are there.
  ///
  /// Those are the kept ones and those of waiting senders.
  ///
  /// *Cancellation:* as `receive`, and only before the first value.
  ///
  /// - Returns: One value or more, in order.
  /// - Throws: As `receive`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receiveAll() throws -> [Element] {
    let first = try receive()
    var elements: [Element] = []
    elements.reserveCapacity(1 + count)
    elements.append(first)
    while case .received(let element) = receiveIfReady() { elements.append(element) }
    return elements
  }

  /// Receives so many values, waiting for each.
  ///
  /// *Cancellation, closing:* throws; the values received so far are in the error
  /// (`PartialReceiveError`), so that none is lost.
  ///
  /// - Parameter count: Zero (parks for nothing) or more.
  /// - Returns: Exactly `count` values, in order.
  /// - Throws: As `receive` if there was no value yet, else `PartialReceiveError`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func receive(count: Int) throws -> [Element] {
    demand(count >= 0, "receive(count: \(count)): the count must be 0 or more.")
    _ = try Parking.begin("Channel.receive(count:)", currentThread())
    var elements: [Element] = []
    elements.reserveCapacity(count)
    do {
      while elements.count < count { elements.append(try receive()) }
    } catch  where !elements.isEmpty {
      throw PartialReceiveError(received: elements, reason: error)
    }
    return elements
  }

  @inlinable @inline(__always)
  func take(from sender: UnsafeMutablePointer<Waiter>) -> Element {
    // SAFETY: a sender of this channel waits with its value in its slot.
    sender.pointee.slot.unsafelyUnwrapped.assumingMemoryBound(to: Element.self).move()
  }

  /// Moves a waiting sender's value into the free slot, leaves the lock and wakes the sender.
  @inlinable @inline(__always)
  func finish(
    _ sender: UnsafeMutablePointer<Waiter>?,
    _ free: UnsafeMutableRawPointer,
    _ mode: LockMode,
    _ thread: ThreadRecord
  ) {
    guard let sender else {
      core.lock.release(mode)
      return
    }
    free.assumingMemoryBound(to: Element.self).initialize(to: take(from: sender))
    core.lock.release(mode)
    ResumeToken(sender, .delivered).resume(thread)
  }
}

/// A wait for several values that ended early: those that had come, and why there are no more.
public struct PartialReceiveError<Element>: Error, @unchecked Sendable, CustomStringConvertible {
  // SAFETY: the values were transferred to the receiver, which alone gets this error.

  /// The values received so far, in order.
  public let received: [Element]
  /// `ChannelError.closed` or `CancellationError`.
  public let reason: any Error

  @usableFromInline
  init(received: [Element], reason: any Error) {
    self.received = received
    self.reason = reason
  }

  /// What happened, to what, and what to do.
  public var description: String {
    "Only \(received.count) of the values waited for had come when the wait ended: \(reason) "
      + "They are in `received`."
  }
}
