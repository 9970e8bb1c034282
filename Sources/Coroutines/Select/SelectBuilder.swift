// SPDX-License-Identifier: Apache-2.0

/// Collects the clauses of a `select`, up to sixteen, and carries it out.
///
/// A function for each number of them: parameter packs take no noncopyable types.
@resultBuilder
public enum SelectBuilder {
  /// A select of 1 clause.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable
  >(
    _ c0: consuming C0
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause()
    )
  }

  /// A select of 2 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause()
    )
  }

  /// A select of 3 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      c2,
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause()
    )
  }

  /// A select of 4 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      c2,
      c3,
      NoClause(),
      NoClause(),
      NoClause(),
      NoClause()
    )
  }

  /// A select of 5 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      c2,
      c3,
      c4,
      NoClause(),
      NoClause(),
      NoClause()
    )
  }

  /// A select of 6 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      c2,
      c3,
      c4,
      c5,
      NoClause(),
      NoClause()
    )
  }

  /// A select of 7 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      c2,
      c3,
      c4,
      c5,
      c6,
      NoClause()
    )
  }

  /// A select of 8 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      c0,
      c1,
      c2,
      c3,
      c4,
      c5,
      c6,
      c7
    )
  }

  /// A select of 9 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      c2,
      c3,
      c4,
      c5,
      c6,
      c7,
      c8
    )
  }

  /// A select of 10 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      c4,
      c5,
      c6,
      c7,
      c8,
      c9
    )
  }

  /// A select of 11 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable,
    C10: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9,
    _ c10: consuming C10
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      SelectPair(c4, c5),
      c6,
      c7,
      c8,
      c9,
      c10
    )
  }

  /// A select of 12 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable,
    C10: SelectClause<C0.Result> & ~Copyable,
    C11: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9,
    _ c10: consuming C10,
    _ c11: consuming C11
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      SelectPair(c4, c5),
      SelectPair(c6, c7),
      c8,
      c9,
      c10,
      c11
    )
  }

  /// A select of 13 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable,
    C10: SelectClause<C0.Result> & ~Copyable,
    C11: SelectClause<C0.Result> & ~Copyable,
    C12: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9,
    _ c10: consuming C10,
    _ c11: consuming C11,
    _ c12: consuming C12
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      SelectPair(c4, c5),
      SelectPair(c6, c7),
      SelectPair(c8, c9),
      c10,
      c11,
      c12
    )
  }

  /// A select of 14 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable,
    C10: SelectClause<C0.Result> & ~Copyable,
    C11: SelectClause<C0.Result> & ~Copyable,
    C12: SelectClause<C0.Result> & ~Copyable,
    C13: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9,
    _ c10: consuming C10,
    _ c11: consuming C11,
    _ c12: consuming C12,
    _ c13: consuming C13
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      SelectPair(c4, c5),
      SelectPair(c6, c7),
      SelectPair(c8, c9),
      SelectPair(c10, c11),
      c12,
      c13
    )
  }

  /// A select of 15 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable,
    C10: SelectClause<C0.Result> & ~Copyable,
    C11: SelectClause<C0.Result> & ~Copyable,
    C12: SelectClause<C0.Result> & ~Copyable,
    C13: SelectClause<C0.Result> & ~Copyable,
    C14: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9,
    _ c10: consuming C10,
    _ c11: consuming C11,
    _ c12: consuming C12,
    _ c13: consuming C13,
    _ c14: consuming C14
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      SelectPair(c4, c5),
      SelectPair(c6, c7),
      SelectPair(c8, c9),
      SelectPair(c10, c11),
      SelectPair(c12, c13),
      c14
    )
  }

  /// A select of 16 clauses.
  @inlinable @inline(__always)
  public static func buildBlock<
    C0: SelectClause & ~Copyable,
    C1: SelectClause<C0.Result> & ~Copyable,
    C2: SelectClause<C0.Result> & ~Copyable,
    C3: SelectClause<C0.Result> & ~Copyable,
    C4: SelectClause<C0.Result> & ~Copyable,
    C5: SelectClause<C0.Result> & ~Copyable,
    C6: SelectClause<C0.Result> & ~Copyable,
    C7: SelectClause<C0.Result> & ~Copyable,
    C8: SelectClause<C0.Result> & ~Copyable,
    C9: SelectClause<C0.Result> & ~Copyable,
    C10: SelectClause<C0.Result> & ~Copyable,
    C11: SelectClause<C0.Result> & ~Copyable,
    C12: SelectClause<C0.Result> & ~Copyable,
    C13: SelectClause<C0.Result> & ~Copyable,
    C14: SelectClause<C0.Result> & ~Copyable,
    C15: SelectClause<C0.Result> & ~Copyable
  >(
    _ c0: consuming C0,
    _ c1: consuming C1,
    _ c2: consuming C2,
    _ c3: consuming C3,
    _ c4: consuming C4,
    _ c5: consuming C5,
    _ c6: consuming C6,
    _ c7: consuming C7,
    _ c8: consuming C8,
    _ c9: consuming C9,
    _ c10: consuming C10,
    _ c11: consuming C11,
    _ c12: consuming C12,
    _ c13: consuming C13,
    _ c14: consuming C14,
    _ c15: consuming C15
  ) -> SelectOutcome<C0.Result> {
    SelectRun.run(
      SelectPair(c0, c1),
      SelectPair(c2, c3),
      SelectPair(c4, c5),
      SelectPair(c6, c7),
      SelectPair(c8, c9),
      SelectPair(c10, c11),
      SelectPair(c12, c13),
      SelectPair(c14, c15)
    )
  }
}
