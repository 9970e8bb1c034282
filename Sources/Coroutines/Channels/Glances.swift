// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel
public import CoroutineKernel

/// What a select has seen of its clauses without their locks: a bit for each that is ready, by the indices of their
/// entries.
///
/// A number, which the compiler keeps in a register where the clauses of a select look one after the other. A select of more
/// clauses than it has bits for does without, and a `Selector` has them look one by one.
@usableFromInline
enum Glances {
  /// None is ready.
  @inlinable @inline(__always)
  static var noneReady: UInt { 0 }

  /// The highest bit: whether a clause is ready takes its channel's lock to tell.
  ///
  /// What the other bits say is of no use then.
  @inlinable @inline(__always)
  static var unknown: UInt { 1 &<< UInt(UInt.bitWidth &- 1) }

  /// What a select begins with: `noneReady` if it may look, else `unknown`.
  ///
  /// It may not where the scheduler decides what happens, or events are recorded; and where no lock is ever biased
  /// there is no use in it.
  @inlinable @inline(__always)
  static func begin(_ thread: ThreadRecord) -> UInt {
    guard let home = thread.currentHome, home.pointee.isPlain, cck_lock_may_look() != 0 else {
      return unknown
    }
    return noneReady
  }
}
