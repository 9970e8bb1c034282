// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
public import CoroutineKernel

/// A channel, for the recorder, which does not know its type.
protocol RecordedChannel: AnyObject {
  var name: String? { get }
  var creationSite: SourceSite { get }
  var core: UnsafeMutablePointer<ChannelCore> { get }
}

extension Channel: RecordedChannel {}

// A value's way is recorded by the slot that it lies in: what is taken out of a slot is what was put in last. (All
// under the channel's lock, so that events of a channel have the order of what they tell.)
extension UnsafeMutablePointer where Pointee == ChannelCore {
  /// The state of a channel, whatever its type.
  static func ofChannel(_ channel: AnyObject) -> Self {
    // SAFETY: the first stored property of a class without a superclass lies right behind the header
    // (RecordedChannelTests).
    UnsafeRawPointer(Unmanaged.passUnretained(channel).toOpaque())
      .load(fromByteOffset: FiberOwner.headerSize, as: Self.self)
  }

  /// The channel that this is the state of, for a caller that uses it, or has the turn of one that waits for it.
  var channel: AnyObject? {
    // SAFETY: such a channel is alive.
    pointee.owner.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Its number in the recording that is on.
  func recordedNumber() -> UInt32 { lock.withLock { number } }

  /// The same, for a caller that holds the lock.
  private var number: UInt32 {
    if Recorder.isCurrent(pointee.recordedNumber) { return pointee.recordedNumber }
    let owner = channel as? any RecordedChannel
    pointee.recordedNumber = Recorder.introduce(
      Recorder.Object(kind: .channel, name: owner?.name, site: owner?.creationSite)
    )
    return pointee.recordedNumber
  }

  private func place(of slot: UnsafeMutableRawPointer) -> UInt64 {
    guard let buffer = pointee.buffer, pointee.stride > 0 else { return 0 }
    return UInt64((slot - buffer) / pointee.stride)
  }

  /// Records a send that has been decided, by whoever runs on the thread.
  ///
  /// The caller holds the lock.
  @usableFromInline
  package func record(_ step: SendStep, _ thread: ThreadRecord) {
    let sender = thread.runningNumber
    switch step {
    case .handOver(let receiver):
      thread.record(.send, sender, other: Self.number(of: receiver), object: number, flags: 1)
    case .keep(let slot), .replace(let slot):
      thread.record(.send, sender, other: place(of: slot), object: number)
    case .discard: thread.record(.drop, sender, object: number)
    case .wait, .closed: break
    }
  }

  /// Records a receive that has been decided, by whoever runs on the thread.
  ///
  /// The caller holds the lock.
  @usableFromInline
  package func record(_ step: ReceiveStep, _ thread: ThreadRecord) {
    let receiver = thread.runningNumber
    switch step {
    case .take(let slot, let sender, let free):
      thread.record(.receive, receiver, other: place(of: slot), object: number)
      if let sender {
        thread.record(.send, Self.number(of: sender), other: place(of: free), object: number)
      }
    case .meet(let sender):
      thread.record(.receive, receiver, other: Self.number(of: sender), object: number, flags: 1)
    case .wait, .closed: break
    }
  }

  /// Records that the channel has been closed.
  ///
  /// The caller holds the lock.
  func recordClose(_ thread: ThreadRecord) {
    thread.record(.close, thread.runningNumber, object: number)
  }

  /// Records that the kept values are about to move to the first slots of a bigger ring.
  ///
  /// The caller holds the lock.
  func recordGrowth() {
    let place = UInt64(pointee.head) << 32 | UInt64(pointee.slots)
    currentThread().record(.grow, other: place, object: number)
  }

  /// The number of a coroutine that waits; 0 for a task.
  private static func number(of waiter: UnsafeMutablePointer<Waiter>) -> UInt64 {
    waiter.pointee.fiber?.pointee.identifier ?? 0
  }
}
