// SPDX-License-Identifier: Apache-2.0

/// A place for a value of any type, or an error, inside an object that is not generic.
///
/// A generic class with stored properties of its parameter's type is destroyed by unspecialised code,
/// which looks metadata up at run time: some 200 ns an object. This cell keeps values of up to three
/// words in place and others in a box, and remembers how to destroy them, if that takes anything.
@usableFromInline
package struct ResultCell {
  @usableFromInline
  package enum Content: UInt8, Sendable {
    case nothing
    case value
    case error
  }

  @usableFromInline package var words: (UInt, UInt, UInt) = (0, 0, 0)
  /// The error, if that is the content.
  @usableFromInline package var failure: (any Error)?
  /// Destroys the value at an address; nil if that takes nothing.
  @usableFromInline package var destroy: ((UnsafeMutableRawPointer) -> Void)?
  @usableFromInline package var content = Content.nothing
  /// The value is in a box whose address is the first word.
  @usableFromInline package var isBoxed = false

  @inlinable @inline(__always)
  package init() {}
}

extension UnsafeMutablePointer where Pointee == ResultCell {
  /// Where the value is.
  @inlinable @inline(__always)
  package var address: UnsafeMutableRawPointer {
    if pointee.isBoxed {
      // SAFETY: a box's address is never zero.
      return UnsafeMutableRawPointer(bitPattern: pointee.words.0).unsafelyUnwrapped
    }
    // SAFETY: the first field; the cell does not move while it is in its object.
    return UnsafeMutableRawPointer(self)
  }

  /// Puts a value into an empty cell.
  @inlinable @inline(__always)
  package func store<Value>(_ value: consuming Value) {
    if MemoryLayout<Value>.size > 24 || MemoryLayout<Value>.alignment > 8 {
      pointee.isBoxed = true
      pointee.words.0 = UInt(
        bitPattern: UnsafeMutableRawPointer.allocate(
          byteCount: MemoryLayout<Value>.size,
          alignment: MemoryLayout<Value>.alignment
        )
      )
    }
    address.initializeMemory(as: Value.self, to: value)
    if !_isPOD(Value.self) {
      pointee.destroy = { $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
    }
    pointee.content = .value
  }

  /// Puts an error into an empty cell.
  @inlinable @inline(__always)
  package func store(failure: any Error) {
    pointee.failure = failure
    pointee.content = .error
  }

  /// A copy of the value.
  ///
  /// - Precondition: It is of this type, and there is one.
  @inlinable @inline(__always)
  package func load<Value>(as type: Value.Type) -> Value {
    // SAFETY: the object that owns the cell stores and loads one type only.
    address.assumingMemoryBound(to: Value.self).pointee
  }

  /// Destroys the content, if there is any; then the cell is as new.
  @usableFromInline
  package func clear() {
    switch pointee.content {
    case .nothing: return
    case .value:
      if let destroy = pointee.destroy {
        pointee.destroy = nil
        destroy(address)
      }
      if pointee.isBoxed {
        address.deallocate()
        pointee.isBoxed = false
      }
    case .error: pointee.failure = nil
    }
    pointee.content = .nothing
  }
}
