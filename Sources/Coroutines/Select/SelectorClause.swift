// SPDX-License-Identifier: Apache-2.0

/// A clause of a `Selector`, with memory for its value.
///
/// What is done with a value is in closures, which the code that adds the clause compiles; a class with the type of the
/// value would look that up each time.
@usableFromInline
final class SelectorClause<Result> {
  /// Where the value is, or goes.
  @usableFromInline let slot: UnsafeMutableRawPointer
  /// Does what it is to do when it has won, or its channel is closed; holds the channel.
  @usableFromInline let finish: (_ isClosed: Bool) throws -> Result

  /// A clause that takes over its slot.
  @inlinable
  init(_ slot: UnsafeMutableRawPointer, _ finish: @escaping (_ isClosed: Bool) throws -> Result) {
    self.slot = slot
    self.finish = finish
  }

  deinit { slot.deallocate() }
}

/// What a clause that sends does besides.
@usableFromInline
struct SelectorSender {
  /// The clause's place.
  var index: Int
  /// Puts the value to send into the slot; before each select.
  let fill: () -> Void
  /// Releases what is in the slot; once after each `fill` whose value was not taken.
  let empty: () -> Void

  @usableFromInline
  init(_ index: Int, fill: @escaping () -> Void, empty: @escaping () -> Void) {
    self.index = index
    self.fill = fill
    self.empty = empty
  }
}
