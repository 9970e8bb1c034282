// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

// How each kind of clause takes part in a select; see `SelectClause`.

extension Receive: SelectClause {
  /// Bytes in its slot; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _slotSize: Int { SelectSlot.size(of: Element.self) }

  /// Looks at its channel without a lock; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - seen: What the clauses before it have seen.
  ///   - bit: The bit of its entry.
  ///   - thread: The calling thread's record.
  /// - Returns: `seen`, and what it has seen itself.
  @inlinable @inline(__always)
  public func _glance(_ seen: UInt, _ bit: UInt, _ thread: UInt) -> UInt {
    // SAFETY: the record of a thread is not at address 0.
    let thread = ThreadRecord(bitPattern: thread).unsafelyUnwrapped
    return channel.core.glanceAtReceive(seen, bit, thread)
  }

  /// Lets go of its channel; see `SelectClause`.
  ///
  /// - Parameter kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _abandon(_ kept: UInt) {
    channel.end(at: kept)
  }

  /// Fills in its entry; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause, not initialised.
  ///   - slots: Memory of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    entries.initializeMemory(
      as: SelectEntry.self,
      to: SelectEntry(.receive, channel.core, SelectSlot.place(of: Element.self, in: slots))
    )
  }

  /// Releases what was not sent; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0 if it has won.
  ///   - kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  ) {
    if winner != 0 { channel.end(at: kept) }
  }

  /// Does what it is to do when it has won; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0.
  /// - Returns: What its action returns.
  /// - Throws: What that throws; `ChannelError.closed`.
  @inlinable @inline(__always)
  public mutating func _finish(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) throws -> Result {
    let entry = entries.assumingMemoryBound(to: SelectEntry.self)
    if entry.pointee.isClosed {
      guard let whenClosed else { throw channel.closedError() }
      channel.end()
      return try whenClosed()
    }
    channel.end()
    // SAFETY: the clause has won with a value, which was moved into its slot.
    return try action(entry.pointee.slot.assumingMemoryBound(to: Element.self).move())
  }
}

extension Send: SelectClause {
  /// Bytes in its slot; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _slotSize: Int { SelectSlot.size(of: Element.self) }

  /// Looks at its channel without a lock; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - seen: What the clauses before it have seen.
  ///   - bit: The bit of its entry.
  ///   - thread: The calling thread's record.
  /// - Returns: `seen`, and what it has seen itself.
  @inlinable @inline(__always)
  public func _glance(_ seen: UInt, _ bit: UInt, _ thread: UInt) -> UInt {
    // SAFETY: the record of a thread is not at address 0.
    let thread = ThreadRecord(bitPattern: thread).unsafelyUnwrapped
    return channel.core.glanceAtSend(seen, bit, thread)
  }

  /// Lets go of its channel and of its value; see `SelectClause`.
  ///
  /// - Parameter kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _abandon(_ kept: UInt) {
    channel.end(at: kept)
    element = nil
  }

  /// Fills in its entry and moves the value into its slot; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause, not initialised.
  ///   - slots: Memory of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    let slot = SelectSlot.place(of: Element.self, in: slots)
    entries.initializeMemory(as: SelectEntry.self, to: SelectEntry(.send, channel.core, slot))
    if let element = element.take() { slot.initializeMemory(as: Element.self, to: element) }
  }

  /// Releases what was not sent; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0 if it has won.
  ///   - kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  ) {
    if winner != 0 { channel.end(at: kept) }
    let entry = entries.assumingMemoryBound(to: SelectEntry.self)
    if winner != 0 || entry.pointee.isLeftOver || entry.pointee.isClosed {
      // SAFETY: `_prepare` put a value there, and nobody took it; or the channel put an old one there.
      entry.pointee.slot.assumingMemoryBound(to: Element.self).deinitialize(count: 1)
    }
  }

  /// Does what it is to do when it has won; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0.
  /// - Returns: What its action returns.
  /// - Throws: What that throws; `ChannelError.closed`.
  @inlinable @inline(__always)
  public mutating func _finish(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) throws -> Result {
    if entries.assumingMemoryBound(to: SelectEntry.self).pointee.isClosed {
      throw channel.closedError()
    }
    channel.end()
    return try action()
  }
}

extension After: SelectClause {
  /// Bytes in its slot; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _slotSize: Int { (MemoryLayout<Duration>.size &+ 15) & ~15 }

  /// Fills in its entry; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause, not initialised.
  ///   - slots: Memory of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    slots.initializeMemory(as: Duration.self, to: delay)
    entries.initializeMemory(as: SelectEntry.self, to: SelectEntry(.after, nil, slots))
  }

  /// Releases what was not sent; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0 if it has won.
  ///   - kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  ) {}

  /// Does what it is to do when it has won; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0.
  /// - Returns: What its action returns.
  /// - Throws: What that throws.
  @inlinable @inline(__always)
  public mutating func _finish(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) throws -> Result {
    try action()
  }
}

extension Default: SelectClause {
  /// Bytes in its slot; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _slotSize: Int { 0 }

  /// Number of `Default` clauses; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _defaults: Int { 1 }

  /// Index of a `Default`; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _fallback: Int { 0 }

  /// Fills in its entry; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause, not initialised.
  ///   - slots: Memory of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    entries.initializeMemory(as: SelectEntry.self, to: SelectEntry(.otherwise, nil, slots))
  }

  /// Releases what was not sent; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0 if it has won.
  ///   - kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  ) {}

  /// Does what it is to do when it has won; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entry of this clause.
  ///   - winner: 0.
  /// - Returns: What its action returns.
  /// - Throws: What that throws.
  @inlinable @inline(__always)
  public mutating func _finish(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) throws -> Result {
    try action()
  }
}

/// Memory for the value of one clause.
@usableFromInline
enum SelectSlot {
  /// Bytes for the value, with room to align it, rounded up to 16.
  @inlinable @inline(__always)
  static func size<Element>(of type: Element.Type) -> Int {
    let padding = MemoryLayout<Element>.alignment > 16 ? MemoryLayout<Element>.alignment : 0
    return (MemoryLayout<Element>.stride &+ padding &+ 15) & ~15
  }

  /// Where the value lies in `slot`, which is aligned to 16.
  @inlinable @inline(__always)
  static func place<Element>(
    of type: Element.Type,
    in slot: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    MemoryLayout<Element>.alignment > 16
      ? slot.alignedUp(toMultipleOf: MemoryLayout<Element>.alignment) : slot
  }
}
