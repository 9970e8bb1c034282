// SPDX-License-Identifier: Apache-2.0

/// The clauses of a `select`, as the builder has put them together.
///
/// A nest of generic structures instead of an array: the compiler sees every type in it, so a select
/// neither allocates nor looks anything up while it runs. The requirements are the library's own.
public protocol SelectClauses<Result> {
  /// What the select returns.
  associatedtype Result

  /// Number of clauses.
  var _count: Int { get }

  /// Bytes that the clauses need for the values they send or receive; a multiple of 16.
  var _slotSize: Int { get }

  /// Fills in the clauses' entries and moves the values to send into their slots.
  mutating func _prepare(_ entries: UnsafeMutableRawPointer, _ slots: UnsafeMutableRawPointer)

  /// Releases what is in the slots of the clauses that have not won.
  func _discardLosers(_ entries: UnsafeMutableRawPointer, _ winner: Int)

  /// Does what the winner is to do.
  func _finish(_ entries: UnsafeMutableRawPointer, _ winner: Int) throws -> Result
}

/// Some clauses and one more.
public struct SelectList<Clauses: SelectClauses, Element>: SelectClauses {
  @usableFromInline var clauses: Clauses
  @usableFromInline var last: SelectClause<Element, Clauses.Result>

  @inlinable @inline(__always)
  init(clauses: Clauses, last: SelectClause<Element, Clauses.Result>) {
    self.clauses = clauses
    self.last = last
  }

  /// Number of clauses; see `SelectClauses`.
  @inlinable @inline(__always)
  public var _count: Int { clauses._count + 1 }

  /// Bytes that the clauses need for their values; see `SelectClauses`.
  @inlinable @inline(__always)
  public var _slotSize: Int { clauses._slotSize + last._slotSize }

  /// Fills in the entries and moves the values to send into their slots; see `SelectClauses`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses, not initialised.
  ///   - slots: Memory for their values, of `_slotSize` bytes.
  @inlinable @inline(__always)
  public mutating func _prepare(
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) {
    clauses._prepare(entries, slots)
    last._prepare(lastEntry(entries), slots + clauses._slotSize)
  }

  /// Releases what is in the slots of the clauses that have not won; see `SelectClauses`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses.
  ///   - winner: Index of the winner, counted from the first of them; may lie outside.
  @inlinable @inline(__always)
  public func _discardLosers(_ entries: UnsafeMutableRawPointer, _ winner: Int) {
    clauses._discardLosers(entries, winner)
    last._discardLosers(lastEntry(entries), winner - clauses._count)
  }

  /// Does what the winner is to do; see `SelectClauses`.
  ///
  /// - Parameters:
  ///   - entries: The entries of these clauses.
  ///   - winner: Index of the winner, counted from the first of them.
  /// - Returns: What the winner's closure returns.
  /// - Throws: What it throws; `ChannelError.closed`.
  @inlinable @inline(__always)
  public func _finish(_ entries: UnsafeMutableRawPointer, _ winner: Int) throws -> Clauses.Result {
    winner < clauses._count
      ? try clauses._finish(entries, winner) : try last._finish(lastEntry(entries), 0)
  }

  @inlinable @inline(__always)
  func lastEntry(_ entries: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    entries + clauses._count * MemoryLayout<SelectEntry>.stride
  }
}
