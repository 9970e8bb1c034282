// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

/// Memory for one value on its way to or from a task.
private final class TransitSlot<Element>: @unchecked Sendable {
  // SAFETY: used by one task and, while it waits, by whoever has claimed its waiter (W2).
  let memory = UnsafeMutablePointer<Element>.allocate(capacity: 1)
  var step: WaitOutcome?
  var partner: UnsafeMutablePointer<Waiter>?
  /// The slot holds a value that nobody wants: dropped, or pushed out of the channel.
  var isLeftOver = false

  deinit {
    if isLeftOver { memory.deinitialize(count: 1) }
    memory.deallocate()
  }

  /// Wakes the party met on the way, once the lock has been left.
  func wakePartner() {
    guard let partner else { return }
    self.partner = nil
    ResumeToken(partner, .delivered).resume(currentThread())
  }
}

extension Channel {
  /// Sends a value from a task; suspends while the channel is full and nobody receives.
  ///
  /// *Cancellation:* of the task: takes the value back.
  ///
  /// - Parameter element: The value.
  /// - Throws: `ChannelError.closed`; `CancellationError`.
  @inlinable
  public func send(_ element: sending Element) async throws {
    try Task.checkCancellation()
    switch sendIfReady(element) {
    case .sent: return
    case .closed: throw closedError()
    case .full(let element): try await sendWaiting(element)
    }
  }

  @usableFromInline
  func sendWaiting(_ element: Element) async throws {
    let slot = TransitSlot<Element>()
    slot.memory.initialize(to: element)
    var outcome: WaitOutcome
    do {
      outcome = try await TaskWait.wait(
        on: core.senders,
        core.lock,
        slot: UnsafeMutableRawPointer(slot.memory),
        unless: { self.sendNow(slot) }
      )
    } catch {
      slot.memory.deinitialize(count: 1)
      throw error
    }
    slot.wakePartner()
    outcome = slot.step ?? outcome
    if outcome == .closed {
      slot.memory.deinitialize(count: 1)
      throw closedError()
    }
  }

  /// Under the lock: sends if that needs no waiting.
  ///
  /// - Returns: True if the matter is settled.
  private func sendNow(_ slot: TransitSlot<Element>) -> Bool {
    switch core.decideSend() {
    case .handOver(let receiver):
      // SAFETY: a waiting receiver has a slot, and has been claimed: nobody else touches it (W2).
      core.move(receiver.pointee.slot.unsafelyUnwrapped, slot.memory)
      slot.partner = receiver
    case .keep(let free):
      core.move(free, slot.memory)
    case .replace(let full):
      // The oldest value comes out into our slot, and is released with it, outside the lock.
      core.pointee.exchange(full, slot.memory)
      slot.isLeftOver = true
    case .discard:
      slot.isLeftOver = true
    case .closed:
      slot.step = .closed
      return true
    case .wait:
      return false
    }
    slot.step = .delivered
    return true
  }

  /// Receives a value in a task; suspends while the channel is empty and nobody sends.
  ///
  /// *Cancellation:* of the task: receives nothing, and no value is lost.
  ///
  /// - Returns: The oldest value.
  /// - Throws: `ChannelError.closed` once the channel is closed and empty; `CancellationError`.
  @inlinable
  public func receive() async throws -> sending Element {
    try Task.checkCancellation()
    switch receiveIfReady() {
    case .received(let element):
      // SAFETY: its sender has transferred it into the channel, and nobody else knows it.
      nonisolated(unsafe) let element = element
      return element
    case .closed: throw closedError()
    case .empty: return try await receiveWaiting()
    }
  }

  @usableFromInline
  func receiveWaiting() async throws -> sending Element {
    let slot = TransitSlot<Element>()
    let outcome = try await TaskWait.wait(
      on: core.receivers,
      core.lock,
      slot: UnsafeMutableRawPointer(slot.memory),
      unless: { self.receiveNow(slot) }
    )
    slot.wakePartner()
    if (slot.step ?? outcome) == .closed { throw closedError() }
    return slot.take()
  }

  /// Under the lock: receives if there is something.
  ///
  /// - Returns: True if the matter is settled.
  private func receiveNow(_ slot: TransitSlot<Element>) -> Bool {
    switch core.decideReceive() {
    case .take(let full, let sender, let free):
      core.move(slot.memory, full)
      if let sender {
        // SAFETY: a waiting sender has its value in its slot, and has been claimed (W2).
        core.move(free, sender.pointee.slot.unsafelyUnwrapped)
        slot.partner = sender
      }
    case .meet(let sender):
      // SAFETY: as above.
      core.move(slot.memory, sender.pointee.slot.unsafelyUnwrapped)
      slot.partner = sender
    case .closed:
      slot.step = .closed
      return true
    case .wait:
      return false
    }
    slot.step = .delivered
    return true
  }

  /// The values as an asynchronous sequence, for `for await` in tasks.
  ///
  /// Ends when the channel is closed and empty, or when the task is cancelled. Several tasks and
  /// coroutines may receive at once: each value goes to one of them.
  @inlinable
  public var values: ChannelValues<Element> { ChannelValues(self) }
}

extension TransitSlot {
  /// The value that was received.
  func take() -> sending Element {
    // SAFETY: the value was transferred into the slot by its sender, and nobody else knows it.
    nonisolated(unsafe) let element = memory.move()
    return element
  }
}

/// A channel as an asynchronous sequence; see `Channel.values`.
public struct ChannelValues<Element>: AsyncSequence, Sendable {
  @usableFromInline let channel: Channel<Element>
  /// Of the end that it was made by.
  @usableFromInline let right: ChannelRight<Element>?

  @usableFromInline
  init(_ channel: Channel<Element>, _ right: ChannelRight<Element>? = nil) {
    self.channel = channel
    self.right = right
  }

  /// Receives one value after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline let channel: Channel<Element>
    @usableFromInline let right: ChannelRight<Element>?

    @usableFromInline
    init(_ channel: Channel<Element>, _ right: ChannelRight<Element>?) {
      self.channel = channel
      self.right = right
    }

    /// Receives a value; nil once the channel is closed and empty, or in a cancelled task.
    @inlinable
    public mutating func next() async -> Element? {
      defer { withExtendedLifetime(right) {} }
      return try? await channel.receive()
    }
  }

  /// An iterator that receives.
  @inlinable
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel, right) }
}
