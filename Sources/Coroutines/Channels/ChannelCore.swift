// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// The state of a channel: who waits, what is kept, and the rules for both.
///
/// It knows nothing of the type of the values: it says *where* a value goes, and the caller, who knows
/// the type (`Channel`) or has a function that does (`select`), moves it.
///
/// Invariants (checked by `checkInvariants`):
/// - K1. If a receiver waits, nothing is kept and no sender waits, but for clauses of selects that
///   another clause has won, and for one select that both sends and receives here.
/// - K2. If a sender waits, `count == limit`, but for such clauses.
/// - K3. When closed, nobody waits.
/// - K4. `count <= limit`, and kept values lie in `count` slots from `head` on, around the ring.
/// - K5. What `rights` names is a `ChannelRight` whose memory is there: it is forgotten, under the lock, as the
///   first thing when it goes. It is not retained here.
///
/// Locking: all of it under `lock`. Nobody is woken, and no code of the user's runs, under it; moving a
/// value runs none.
@usableFromInline
package struct ChannelCore {
  /// Waiting receivers, first come first served.
  ///
  /// The first three fields have accessors that compute their addresses from this order. The lock is
  /// not the first: what Swift calls an access to any field counts, for ThreadSanitizer, at the address
  /// of the whole, and the lock is looked at from everywhere.
  @usableFromInline package var receivers = WaitQueue()
  /// Waiting senders, first come first served.
  @usableFromInline package var senders = WaitQueue()
  /// Guards everything here.
  @usableFromInline package var lock: Lock
  /// Slot of the oldest kept value.
  @usableFromInline var head = 0
  /// Kept values.
  @usableFromInline package var count = 0
  // Up to here is what sends and receives write: one cache line.

  /// The memory that this lies in, which is to be given back.
  @usableFromInline let memory: UnsafeMutableRawPointer
  /// The ring of kept values; nil while it has no slots.
  @usableFromInline var buffer: UnsafeMutableRawPointer?
  /// Slots in the ring.
  @usableFromInline var slots = 0
  /// Most values to keep.
  @usableFromInline let limit: Int
  /// Where the channel was made.
  @usableFromInline let site: SourceSite
  /// Bytes from one slot to the next.
  @usableFromInline let stride: Int
  /// What a send does when the limit is reached.
  @usableFromInline let overflow: ChannelCapacity.Overflow
  /// No more sends.
  @usableFromInline var isClosed = false
  /// A value is eight bytes that may be copied as such.
  @usableFromInline let isWord: Bool
  /// Its number in the recording that is on, or in an earlier one.
  var recordedNumber: UInt32 = 0
  /// The `Channel` that this is the state of; not retained here.
  @usableFromInline var owner: UnsafeMutableRawPointer?
  /// What the sending ends and the receiving ends of `makeEnds` share, while there are any (K5).
  @usableFromInline
  var rights: (send: UnsafeMutableRawPointer?, receive: UnsafeMutableRawPointer?) = (nil, nil)
  /// What `move` calls for values that are no word.
  @usableFromInline let moveValue: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  /// Exchanges the values at two addresses.
  @usableFromInline let exchange: (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
  /// Makes a bigger ring and moves the kept values there.
  @usableFromInline let grow: (UnsafeMutablePointer<ChannelCore>) -> Void

  @inlinable
  package init(
    _ capacity: ChannelCapacity,
    in memory: UnsafeMutableRawPointer,
    site: SourceSite,
    stride: Int,
    isWord: Bool,
    moveValue: @escaping (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void,
    exchange: @escaping (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void,
    grow: @escaping (UnsafeMutablePointer<ChannelCore>) -> Void
  ) {
    self.lock = Lock.forFew(currentThread())
    self.memory = memory
    self.limit = capacity.limit
    self.overflow = capacity.overflow
    self.site = site
    self.stride = stride
    self.isWord = isWord
    self.moveValue = moveValue
    self.exchange = exchange
    self.grow = grow
  }
}

/// What a send comes to.
@usableFromInline
package enum SendStep {
  /// Put the value where this receiver wants it, then wake it.
  case handOver(UnsafeMutablePointer<Waiter>)
  /// Put the value into this slot.
  case keep(UnsafeMutableRawPointer)
  /// Take the oldest value out of this slot and put the new one there.
  case replace(UnsafeMutableRawPointer)
  /// Drop the value.
  case discard
  /// Wait for room, or for a receiver.
  case wait
  /// Refuse.
  case closed
}

/// What a receive comes to.
@usableFromInline
package enum ReceiveStep {
  /// Take the value from this slot; if a sender came along, put its value into the second slot, then
  /// wake it.
  case take(
    UnsafeMutableRawPointer,
    refill: UnsafeMutablePointer<Waiter>?,
    UnsafeMutableRawPointer
  )
  /// Take the value from where this sender has it, then wake the sender.
  case meet(UnsafeMutablePointer<Waiter>)
  /// Wait for a value.
  case wait
  /// There will be none.
  case closed
}

extension UnsafeMutablePointer where Pointee == ChannelCore {
  /// The address of the lock.
  @inlinable @inline(__always)
  package var lock: UnsafeMutablePointer<Lock> {
    // SAFETY: third field; see `senders`.
    (UnsafeMutableRawPointer(senders) + MemoryLayout<WaitQueue>.stride)
      .assumingMemoryBound(to: Lock.self)
  }

  /// The address of the receivers' queue: the first field.
  @inlinable @inline(__always)
  package var receivers: UnsafeMutablePointer<WaitQueue> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: WaitQueue.self)
  }

  /// The address of the senders' queue.
  @inlinable @inline(__always)
  package var senders: UnsafeMutablePointer<WaitQueue> {
    // SAFETY: second field, after one whose stride is a multiple of its alignment (CoreLayoutTests).
    (UnsafeMutableRawPointer(self) + MemoryLayout<WaitQueue>.stride)
      .assumingMemoryBound(to: WaitQueue.self)
  }

  /// Moves one value from the second address to the first; for callers that do not know its type.
  ///
  /// A word without a call: what a closure has captured is retained and released around one, though this has captured nothing.
  @inline(__always)
  func move(_ target: UnsafeMutableRawPointer, _ source: UnsafeMutableRawPointer) {
    // SAFETY: callers pass a free slot and one that holds a value of this channel. A word's bits are all of it, and nothing is to
    // be done where it has been.
    if pointee.isWord {
      target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
    } else {
      pointee.moveValue(target, source)
    }
  }

  /// Decides a send.
  ///
  /// The caller holds the lock and carries the step out before it leaves the lock.
  @inlinable @inline(__always)
  package func decideSend() -> SendStep {
    if pointee.receivers.first != nil, let receiver = pointee.receivers.claimFirst() {
      return .handOver(receiver)
    }
    if pointee.isClosed { return .closed }
    if pointee.count < pointee.limit {
      if pointee.count == pointee.slots { pointee.grow(self) }
      let slot = address(ofKept: pointee.count)
      pointee.count &+= 1
      return .keep(slot)
    }
    switch pointee.overflow {
    case .wait: return .wait
    case .dropNewest: return .discard
    case .dropOldest:
      let slot = address(ofKept: 0)
      // The oldest value's slot becomes the newest's: the ring is full, so it is the next one.
      pointee.head = next(pointee.head)
      return .replace(slot)
    }
  }

  /// Decides a receive.
  ///
  /// The caller holds the lock and carries the step out before it leaves the lock.
  @inlinable @inline(__always)
  package func decideReceive() -> ReceiveStep {
    if pointee.count > 0 {
      let slot = address(ofKept: 0)
      pointee.head = next(pointee.head)
      // Rule 7 of the ordering contract: the oldest waiting sender's value moves up at once.
      if pointee.senders.first != nil, let sender = pointee.senders.claimFirst() {
        return .take(slot, refill: sender, address(ofKept: pointee.count &- 1))
      }
      pointee.count &-= 1
      return .take(slot, refill: nil, slot)
    }
    if pointee.senders.first != nil, let sender = pointee.senders.claimFirst() {
      return .meet(sender)
    }
    return pointee.isClosed ? .closed : .wait
  }

  /// A send would not wait; nothing is decided yet.
  ///
  /// The caller holds the lock.
  package func isReadyToSend() -> Bool {
    pointee.receivers.firstLive() != nil || pointee.isClosed || pointee.count < pointee.limit
      || pointee.overflow != .wait
  }

  /// A receive would not wait; nothing is decided yet.
  ///
  /// The caller holds the lock.
  package func isReadyToReceive() -> Bool {
    pointee.count > 0 || pointee.senders.firstLive() != nil || pointee.isClosed
  }

  /// Slot number after this one.
  @inlinable @inline(__always)
  func next(_ slot: Int) -> Int {
    let next = slot &+ 1
    return next == pointee.slots ? 0 : next
  }

  /// Address of the slot of the kept value with this index, 0 being the oldest.
  @inlinable @inline(__always)
  package func address(ofKept index: Int) -> UnsafeMutableRawPointer {
    var slot = pointee.head &+ index
    if slot >= pointee.slots { slot &-= pointee.slots }
    // SAFETY: only asked when there are slots.
    return pointee.buffer.unsafelyUnwrapped + slot &* pointee.stride
  }

  /// Closes the channel; everybody who waits is claimed for `wakes`.
  ///
  /// - Returns: False if it was closed already.
  package func close(_ wakes: inout ResumeList) -> Bool {
    guard !pointee.isClosed else { return false }
    pointee.isClosed = true
    wakes.claimAll(of: &pointee.receivers, .closed)
    wakes.claimAll(of: &pointee.senders, .closed)
    return true
  }

  /// Stops the program if an invariant does not hold.
  ///
  /// The caller holds the lock.
  package func checkInvariants() {
    if let receiver = pointee.receivers.firstLive() {
      let sender = pointee.senders.firstLive()
      let isOneSelect =
        receiver.pointee.race != nil && receiver.pointee.race == sender?.pointee.race
      demand(pointee.count == 0 && (sender == nil || isOneSelect), "K1")
    }
    if pointee.senders.firstLive() != nil { demand(pointee.count == pointee.limit, "K2") }
    if pointee.isClosed {
      demand(pointee.senders.firstLive() == nil && pointee.receivers.firstLive() == nil, "K3")
    }
    demand(pointee.count <= pointee.limit && pointee.count <= pointee.slots, "K4")
  }
}
