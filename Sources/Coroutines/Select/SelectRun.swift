// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// A select of up to eight clauses, seen by the compiler as eight values of known types.
///
/// Why not one structure with all of them: the optimiser takes structures of more than six fields for too
/// big to be taken apart, keeps them in memory, and copies them through tables of functions. Clause by
/// clause everything dissolves: what remains of a clause is a few stores, and a call in one branch.
@usableFromInline
enum SelectRun<
  C0: SelectClause & ~Copyable,
  C1: SelectClause<C0.Result> & ~Copyable,
  C2: SelectClause<C0.Result> & ~Copyable,
  C3: SelectClause<C0.Result> & ~Copyable,
  C4: SelectClause<C0.Result> & ~Copyable,
  C5: SelectClause<C0.Result> & ~Copyable,
  C6: SelectClause<C0.Result> & ~Copyable,
  C7: SelectClause<C0.Result> & ~Copyable
> {
  /// Carries the select out.
  @inlinable @inline(__always)
  static func run(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7
  ) -> SelectOutcome<C0.Result> {
    demand(
      defaults <= 1,
      "A select has \(defaults) Default clauses, of which only one could win. Leave in one of them."
    )
    guard count <= 8, slotSize <= 128 else {
      return runBig(c0, c1, c2, c3, c4, c5, c6, c7)
    }
    // Numbers that the compiler knows, so that this is a part of the frame. (SAFETY: an entry has at
    // most 24 bytes.)
    return withUnsafeTemporaryAllocation(byteCount: 320, alignment: 16) { memory in
      let memory = memory.baseAddress.unsafelyUnwrapped
      return run(
        &c0,
        &c1,
        &c2,
        &c3,
        &c4,
        &c5,
        &c6,
        &c7,
        memory,
        memory + 192
      )
    }
  }

  /// With more than eight clauses in the places of eight, or with big values.
  @inlinable @inline(never)
  static func runBig(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7
  ) -> SelectOutcome<C0.Result> {
    let entries = (count &* SelectEntry.size &+ 15) & ~15
    return withUnsafeTemporaryAllocation(byteCount: entries &+ slotSize, alignment: 16) { memory in
      // SAFETY: there is a clause, so the buffer has an address.
      let memory = memory.baseAddress.unsafelyUnwrapped
      return run(
        &c0,
        &c1,
        &c2,
        &c3,
        &c4,
        &c5,
        &c6,
        &c7,
        memory,
        memory + entries
      )
    }
  }

  /// Carries the select out, with memory for its entries and for its values.
  @inlinable @inline(__always)
  static func run(
    _ c0: inout C0,
    _ c1: inout C1,
    _ c2: inout C2,
    _ c3: inout C3,
    _ c4: inout C4,
    _ c5: inout C5,
    _ c6: inout C6,
    _ c7: inout C7,
    _ entries: UnsafeMutableRawPointer,
    _ slots: UnsafeMutableRawPointer
  ) -> SelectOutcome<C0.Result> {
    let size = SelectEntry.size
    let (n1, n2, n3, n4, n5, n6, n7) = firstEntries
    let s1 = C0._slotSize
    let s2 = s1 &+ C1._slotSize
    let s3 = s2 &+ C2._slotSize
    let s4 = s3 &+ C3._slotSize
    let s5 = s4 &+ C4._slotSize
    let s6 = s5 &+ C5._slotSize
    let s7 = s6 &+ C6._slotSize
    let thread = currentThread()
    let record = UInt(bitPattern: thread)
    // Pairs of pairs may have more clauses than a number has bits.
    var seen = count < UInt.bitWidth ? Glances.begin(thread) : Glances.unknown
    if seen == Glances.noneReady {
      seen = c0._glance(seen, 1, record)
      seen = c1._glance(seen, 1 &<< UInt(n1), record)
      seen = c2._glance(seen, 1 &<< UInt(n2), record)
      seen = c3._glance(seen, 1 &<< UInt(n3), record)
      seen = c4._glance(seen, 1 &<< UInt(n4), record)
      seen = c5._glance(seen, 1 &<< UInt(n5), record)
      seen = c6._glance(seen, 1 &<< UInt(n6), record)
      seen = c7._glance(seen, 1 &<< UInt(n7), record)
    }
    if defaults == 1, seen == Glances.noneReady {
      // No entry is made for what has lost already.
      let kept = thread.pointee.kept
      c0._abandon(kept)
      c1._abandon(kept)
      c2._abandon(kept)
      c3._abandon(kept)
      c4._abandon(kept)
      c5._abandon(kept)
      c6._abandon(kept)
      c7._abandon(kept)
      return finish(&c0, &c1, &c2, &c3, &c4, &c5, &c6, &c7, entries, fallback)
    }
    c0._prepare(entries, slots)
    c1._prepare(entries + n1 &* size, slots + s1)
    c2._prepare(entries + n2 &* size, slots + s2)
    c3._prepare(entries + n3 &* size, slots + s3)
    c4._prepare(entries + n4 &* size, slots + s4)
    c5._prepare(entries + n5 &* size, slots + s5)
    c6._prepare(entries + n6 &* size, slots + s6)
    c7._prepare(entries + n7 &* size, slots + s7)
    var winner = -1
    var failure: (any Error)?
    do {
      winner = try Selection.decide(
        entries.assumingMemoryBound(to: SelectEntry.self),
        count,
        fallback: fallback,
        seen
      )
    } catch {
      failure = error
    }
    // Losers first: the winner's action may park, and must not keep their values meanwhile. One look at the thread for all:
    // whatever their values' ends do, this goes on with the same loop's turn.
    let kept = currentThread().pointee.kept
    c0._discardLosers(entries, winner, kept)
    c1._discardLosers(entries + n1 &* size, winner &- n1, kept)
    c2._discardLosers(entries + n2 &* size, winner &- n2, kept)
    c3._discardLosers(entries + n3 &* size, winner &- n3, kept)
    c4._discardLosers(entries + n4 &* size, winner &- n4, kept)
    c5._discardLosers(entries + n5 &* size, winner &- n5, kept)
    c6._discardLosers(entries + n6 &* size, winner &- n6, kept)
    c7._discardLosers(entries + n7 &* size, winner &- n7, kept)
    if let failure { return .failure(failure) }
    return finish(&c0, &c1, &c2, &c3, &c4, &c5, &c6, &c7, entries, winner)
  }

  /// Calls the winner.
  @inlinable @inline(__always)
  static func finish(
    _ c0: inout C0,
    _ c1: inout C1,
    _ c2: inout C2,
    _ c3: inout C3,
    _ c4: inout C4,
    _ c5: inout C5,
    _ c6: inout C6,
    _ c7: inout C7,
    _ entries: UnsafeMutableRawPointer,
    _ winner: Int
  ) -> SelectOutcome<C0.Result> {
    let size = SelectEntry.size
    let (n1, n2, n3, n4, n5, n6, n7) = firstEntries
    do {
      if C1._count == 0 || winner < n1 { return try .value(c0._finish(entries, winner)) }
      if C2._count == 0 || winner < n2 {
        return try .value(c1._finish(entries + n1 &* size, winner &- n1))
      }
      if C3._count == 0 || winner < n3 {
        return try .value(c2._finish(entries + n2 &* size, winner &- n2))
      }
      if C4._count == 0 || winner < n4 {
        return try .value(c3._finish(entries + n3 &* size, winner &- n3))
      }
      if C5._count == 0 || winner < n5 {
        return try .value(c4._finish(entries + n4 &* size, winner &- n4))
      }
      if C6._count == 0 || winner < n6 {
        return try .value(c5._finish(entries + n5 &* size, winner &- n5))
      }
      if C7._count == 0 || winner < n7 {
        return try .value(c6._finish(entries + n6 &* size, winner &- n6))
      }
      return try .value(c7._finish(entries + n7 &* size, winner &- n7))
    } catch {
      return .failure(error)
    }
  }

  /// The indices of the first entries of all clauses but the first.
  @inlinable @inline(__always)
  static var firstEntries: (Int, Int, Int, Int, Int, Int, Int) {
    let n1 = C0._count
    let n2 = n1 &+ C1._count
    let n3 = n2 &+ C2._count
    let n4 = n3 &+ C3._count
    let n5 = n4 &+ C4._count
    let n6 = n5 &+ C5._count
    return (n1, n2, n3, n4, n5, n6, n6 &+ C6._count)
  }

  @inlinable @inline(__always)
  static var count: Int {
    C0._count &+ C1._count &+ C2._count &+ C3._count
      &+ C4._count &+ C5._count &+ C6._count &+ C7._count
  }

  @inlinable @inline(__always)
  static var slotSize: Int {
    C0._slotSize &+ C1._slotSize &+ C2._slotSize &+ C3._slotSize
      &+ C4._slotSize &+ C5._slotSize &+ C6._slotSize &+ C7._slotSize
  }

  @inlinable @inline(__always)
  static var defaults: Int {
    C0._defaults &+ C1._defaults &+ C2._defaults &+ C3._defaults
      &+ C4._defaults &+ C5._defaults &+ C6._defaults &+ C7._defaults
  }

  @inlinable @inline(__always)
  static var fallback: Int {
    var n = 0
    if C0._fallback >= 0 { return n &+ C0._fallback }
    n &+= C0._count
    if C1._fallback >= 0 { return n &+ C1._fallback }
    n &+= C1._count
    if C2._fallback >= 0 { return n &+ C2._fallback }
    n &+= C2._count
    if C3._fallback >= 0 { return n &+ C3._fallback }
    n &+= C3._count
    if C4._fallback >= 0 { return n &+ C4._fallback }
    n &+= C4._count
    if C5._fallback >= 0 { return n &+ C5._fallback }
    n &+= C5._count
    if C6._fallback >= 0 { return n &+ C6._fallback }
    n &+= C6._count
    if C7._fallback >= 0 { return n &+ C7._fallback }
    return -1
  }
}
