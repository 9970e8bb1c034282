// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// Takes the launched closure out of a coroutine's `work` and, if told so, runs it and stores its value.
///
/// To be called once. Captures nothing where the value's type is known: one allocation less than a closure
/// around it. (A structure, because a pointer to a bare closure would pass its arguments by address.)
///
/// Until it is called it lies behind the launched closure, in the room of the coroutine's empty cell: its function in the third
/// word, what it has captured in the fourth. That one is nil in an empty cell and is nil again when the performer is taken out,
/// so a performer that captures nothing leaves it alone.
@usableFromInline
struct Performer {
  @usableFromInline let perform: (Coroutine, Bool) throws -> Void

  @inlinable @inline(__always)
  init(_ perform: @escaping (Coroutine, Bool) throws -> Void) {
    self.perform = perform
  }

  /// Puts it into an empty cell, where the launched closure is.
  @inlinable @inline(__always)
  consuming func keep(in cell: UnsafeMutablePointer<ResultCell>) {
    let bits = ClosureBits(self)
    let place = Self.place(in: cell)
    place.pointee.function = bits.function
    if bits.context != nil { place.pointee.context = bits.context }
  }

  /// Calls the one that is kept in the cell, which is an empty one from when that takes the launched closure out.
  ///
  /// To be called once after `keep`.
  @inline(__always)
  static func perform(
    from cell: UnsafeMutablePointer<ResultCell>,
    _ coroutine: Coroutine,
    _ runs: Bool
  ) throws {
    let bits = Self.place(in: cell).pointee
    guard bits.context == nil else { return try performWithCaptured(from: cell, coroutine, runs) }
    // Said once more, because the compiler leaves out the release of what it knows to be nothing.
    let bare = ClosureBits(function: bits.function, context: nil)
    // SAFETY: the bits of a performer.
    try unsafeBitCast(bare, to: Performer.self).perform(coroutine, runs)
  }

  @inline(never)
  private static func performWithCaptured(
    from cell: UnsafeMutablePointer<ResultCell>,
    _ coroutine: Coroutine,
    _ runs: Bool
  ) throws {
    let place = Self.place(in: cell)
    // SAFETY: `keep` has put it there, and this is called once.
    let performer = UnsafeMutableRawPointer(place).assumingMemoryBound(to: Performer.self).move()
    place.pointee.context = nil
    try performer.perform(coroutine, runs)
  }

  @inlinable @inline(__always)
  static func place(
    in cell: UnsafeMutablePointer<ResultCell>
  ) -> UnsafeMutablePointer<ClosureBits> {
    // SAFETY: each of the two is a closure, which takes two words, and there is room for four.
    (cell.room + 2 * MemoryLayout<UInt>.stride).assumingMemoryBound(to: ClosureBits.self)
  }
}
