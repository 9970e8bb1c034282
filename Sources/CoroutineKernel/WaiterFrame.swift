// SPDX-License-Identifier: Apache-2.0

public import CCoroutineKernel

/// Where a node and a value lie in the frame of a coroutine that waits.
///
/// What a waker reads and writes of the node, and a value of up to a word, lie in one cache line: to end a wait on another
/// processor is to have that line brought over, and back. It begins somewhere in the frame, in which there is room for the
/// worst place.
@usableFromInline
enum WaiterFrame<Value> {
  /// From the beginning of the line to the node: behind a word, which a small value takes.
  @inlinable @inline(__always)
  static var node: Int { MemoryLayout<UInt>.size }

  /// From there to the value.
  @inlinable @inline(__always)
  static var value: Int {
    if MemoryLayout<Value>.size <= node, MemoryLayout<Value>.alignment <= node { return 0 }
    let mask = MemoryLayout<Value>.alignment - 1
    return (node + MemoryLayout<Waiter>.size + mask) & ~mask
  }

  /// Bytes that both take, and what may be lost before the line.
  @inlinable @inline(__always)
  static var room: Int {
    Swift.max(value + MemoryLayout<Value>.size, node + MemoryLayout<Waiter>.size)
      + CacheLine.mostLost(alignment: MemoryLayout<Value>.alignment)
  }
}

/// Runs `body` with a node for `fiber`, whose slot is the address of memory for a value, uninitialised.
///
/// Both are in the caller's frame, and gone after that. The frame gets no guard against overruns, which each call would store
/// and compare (a sixth of the time of a buffered message): neither has an end to overrun.
@inlinable @inline(__always)
package func withWaiter<Value, Result>(
  for fiber: UnsafeMutablePointer<Fiber>,
  and _: Value.Type,
  _ body: (UnsafeMutablePointer<Waiter>, UnsafeMutablePointer<Value>) throws -> Result
) rethrows -> Result {
  try _withUnprotectedUnsafeTemporaryAllocation(
    byteCount: WaiterFrame<Value>.room,
    alignment: 1
  ) { room in
    // SAFETY: the room is there, and long enough for both behind the first line in it.
    let line = cck_opaque(
      CacheLine.first(
        behind: room.baseAddress.unsafelyUnwrapped,
        alignment: MemoryLayout<Value>.alignment
      )
    )
    let value = (line + WaiterFrame<Value>.value).assumingMemoryBound(to: Value.self)
    let waiter = (line + WaiterFrame<Value>.node).assumingMemoryBound(to: Waiter.self)
    waiter.begin(for: fiber, slot: UnsafeMutableRawPointer(value))
    return try body(waiter, value)
  }
}
