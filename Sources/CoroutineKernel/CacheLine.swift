// SPDX-License-Identifier: Apache-2.0

/// What processors hand to one another: memory that two of them write takes turns in their caches by the line.
@usableFromInline
package enum CacheLine {
  /// Bytes of one; some processors hand over two at a time.
  @inlinable @inline(__always)
  package static var size: Int { 64 }

  /// Bytes that may lie between a place, whose own alignment is not known, and the first line behind it.
  @inlinable @inline(__always)
  package static func mostLost(alignment: Int) -> Int { Swift.max(size, alignment) - 1 }

  /// Finds the first line behind a place.
  ///
  /// - Parameters:
  ///   - place: Behind it there is room for what may be lost; see `mostLost`.
  ///   - alignment: A power of two, of which the line's beginning shall be a multiple.
  /// - Returns: Its beginning.
  @inlinable @inline(__always)
  package static func first(
    behind place: UnsafeMutableRawPointer,
    alignment: Int = 1
  ) -> UnsafeMutableRawPointer {
    let mask = UInt(mostLost(alignment: alignment))
    // SAFETY: not less than an address that is not nil, and the caller's room does not end at the last address.
    return UnsafeMutableRawPointer(bitPattern: (UInt(bitPattern: place) &+ mask) & ~mask)
      .unsafelyUnwrapped
  }
}
