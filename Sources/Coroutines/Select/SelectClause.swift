// SPDX-License-Identifier: Apache-2.0

/// A clause of a `select`: `Receive`, `Send`, `After`, `Default`, and what the builder puts for them.
///
/// Clauses cannot be copied: a value to send is in one place only, and the compiler can make no copies
/// of clauses, which cost more than all the rest. The requirements are the library's own.
public protocol SelectClause<Result>: ~Copyable {
  /// What the select returns.
  associatedtype Result

  /// Number of entries.
  static var _count: Int { get }

  /// Bytes that it needs for the value it sends or receives; a multiple of 16.
  static var _slotSize: Int { get }

  /// Number of `Default` clauses in it.
  static var _defaults: Int { get }

  /// Index of a `Default`; -1 if there is none in it.
  static var _fallback: Int { get }

  /// Looks at its channel without a lock.
  ///
  /// - Parameters:
  ///   - seen: What the clauses before it have seen; see `Glances`.
  ///   - bit: The bit of its first entry.
  ///   - thread: The calling thread's record.
  /// - Returns: `seen`, and what it has seen itself.
  func _glance(_ seen: UInt, _ bit: UInt, _ thread: UInt) -> UInt

  /// Lets go of its channel and of the value to send, before it has been prepared: it has lost.
  mutating func _abandon(_ kept: UInt)

  /// Fills in its entries and moves the value to send into its slot.
  mutating func _prepare(_ entries: UnsafeMutableRawPointer, _ slots: UnsafeMutableRawPointer)

  /// Lets go of its channel and releases what is in its slot, unless it has won.
  mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  )

  /// Lets go of its channel and does what it is to do when it has won.
  mutating func _finish(_ entries: UnsafeMutableRawPointer, _ winner: Int) throws -> Result
}

extension SelectClause where Self: ~Copyable {
  /// One entry, as all have that stand for themselves.
  @inlinable @inline(__always)
  public static var _count: Int { 1 }

  /// It is no `Default`.
  @inlinable @inline(__always)
  public static var _defaults: Int { 0 }

  /// It is no `Default`.
  @inlinable @inline(__always)
  public static var _fallback: Int { -1 }

  /// Has no channel; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - seen: What the clauses before it have seen.
  ///   - bit: Not used.
  ///   - thread: Not used.
  /// - Returns: `seen`.
  @inlinable @inline(__always)
  public func _glance(_ seen: UInt, _ bit: UInt, _ thread: UInt) -> UInt { seen }

  /// Has nothing to let go of; see `SelectClause`.
  ///
  /// - Parameter kept: Not used.
  @inlinable @inline(__always)
  public mutating func _abandon(_ kept: UInt) {}
}

/// Two clauses in the place of one: for selects that have very many.
public struct SelectPair<First: SelectClause & ~Copyable, Second: SelectClause & ~Copyable>:
  SelectClause, ~Copyable
where First.Result == Second.Result {
  /// What the select returns.
  public typealias Result = First.Result

  @usableFromInline var first: First
  @usableFromInline var second: Second

  /// Two clauses in the place of one.
  ///
  /// - Parameters:
  ///   - first: A clause, or a pair.
  ///   - second: Another one.
  @inlinable @inline(__always)
  public init(_ first: consuming First, _ second: consuming Second) {
    self.first = first
    self.second = second
  }

  /// Number of entries; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _count: Int { First._count &+ Second._count }

  /// Bytes in its slots; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _slotSize: Int { First._slotSize &+ Second._slotSize }

  /// Number of `Default` clauses; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _defaults: Int { First._defaults &+ Second._defaults }

  /// Index of a `Default`; see `SelectClause`.
  @inlinable @inline(__always)
  public static var _fallback: Int {
    if First._fallback >= 0 { return First._fallback }
    return Second._fallback >= 0 ? First._count &+ Second._fallback : -1
  }

  /// Looks at both without locks; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - seen: What the clauses before them have seen.
  ///   - bit: The bit of the first of their entries.
  ///   - thread: The calling thread's record.
  /// - Returns: `seen`, and what they have seen themselves.
  @inlinable @inline(__always)
  public func _glance(_ seen: UInt, _ bit: UInt, _ thread: UInt) -> UInt {
    second._glance(first._glance(seen, bit, thread), bit << UInt(First._count), thread)
  }

  /// Lets go of both; see `SelectClause`.
  ///
  /// - Parameter kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _abandon(_ kept: UInt) {
    first._abandon(kept)
    second._abandon(kept)
  }

  /// Fills in the entries and moves the values to send into their slots; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses, not initialised.
  ///   - slots: Memory for their values, of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    first._prepare(entries, slots)
    second._prepare(entries + First._count &* SelectEntry.size, slots + First._slotSize)
  }

  /// Releases what was not sent; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses.
  ///   - winner: Index of the winner, counted from the first of them; may lie outside.
  ///   - kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  ) {
    first._discardLosers(entries, winner, kept)
    second._discardLosers(
      entries + First._count &* SelectEntry.size,
      winner &- First._count,
      kept
    )
  }

  /// Does what the winner is to do; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses.
  ///   - winner: Index of the winner, counted from the first of them.
  /// - Returns: What the winner's closure returns.
  /// - Throws: What it throws; `ChannelError.closed`.
  @inlinable @inline(__always)
  public mutating func _finish(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) throws -> First.Result {
    if winner < First._count { return try first._finish(entries, winner) }
    return try second._finish(
      entries + First._count &* SelectEntry.size,
      winner &- First._count
    )
  }
}

/// In the place of a clause that is not there.
public struct NoClause<Result>: SelectClause, ~Copyable {
  @inlinable @inline(__always)
  init() {}

  /// None.
  @inlinable @inline(__always)
  public static var _count: Int { 0 }

  /// None.
  @inlinable @inline(__always)
  public static var _slotSize: Int { 0 }

  /// Does nothing; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: Not used.
  ///   - slots: Not used.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {}

  /// Does nothing; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: Not used.
  ///   - winner: Not used.
  ///   - kept: Where the loop of the running coroutine counts uses.
  @inlinable @inline(__always)
  public mutating func _discardLosers(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int,
    _ kept: UInt
  ) {}

  /// Never called; see `SelectClause`.
  ///
  /// - Parameters:
  ///   - entries: Not used.
  ///   - winner: Not used.
  /// - Returns: Never.
  /// - Throws: Never.
  @inlinable
  public mutating func _finish(
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) throws -> Result {
    fatalError("a clause that is not there cannot win")
  }
}
