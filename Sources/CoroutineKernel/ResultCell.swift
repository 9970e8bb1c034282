// SPDX-License-Identifier: Apache-2.0

/// A place for a value of any type, or an error, inside an object that is not generic.
///
/// A generic class with stored properties of its parameter's type is destroyed by unspecialised code,
/// which looks metadata up at run time: some 200 ns an object. This cell keeps values of up to three
/// words in place and others in a box, and remembers their type, if destroying them takes anything. To
/// the compiler it is bits: an object with a cell in it must `clear` it.
@usableFromInline
package struct ResultCell {
  @usableFromInline
  package enum Content: UInt8, Sendable {
    case nothing
    case value
    case error
  }

  @usableFromInline package var words: (UInt, UInt, UInt) = (0, 0, 0)
  /// The type of the value, which knows how to destroy it; nil if that takes nothing.
  @usableFromInline package var destroy: Any.Type?
  @usableFromInline package var content = Content.nothing
  /// The value is in a box whose address is the first word.
  @usableFromInline package var isBoxed = false

  @inlinable @inline(__always)
  package init() {}

  /// There is a value, whose end takes nothing.
  @inlinable @inline(__always)
  package var takesNothing: Bool { content == .value && destroy == nil && !isBoxed }

  /// The error, if that is the content.
  @inlinable @inline(__always)
  package var failure: (any Error)? {
    guard content == .error else { return nil }
    // SAFETY: `store(failure:)` has put an error of this type into the first word, all of it.
    return unsafeBitCast(words.0, to: (any Error).self)
  }
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

  /// Four words that the holder of an empty cell may use until `endUseOfRoom`.
  @inlinable @inline(__always)
  package var room: UnsafeMutableRawPointer {
    // SAFETY: the first two fields are three words and one (FiberLayoutTests), and count while there is content.
    UnsafeMutableRawPointer(self)
  }

  /// Makes the cell an empty one again.
  @inlinable @inline(__always)
  package func endUseOfRoom() { pointee.destroy = nil }

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
      pointee.destroy = Value.self
    }
    pointee.content = .value
  }

  /// Puts an error into an empty cell.
  @inlinable @inline(__always)
  package func store(failure: any Error) {
    // An empty cell has no box, so this is the first word.
    address.initializeMemory(as: (any Error).self, to: failure)
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
  @inlinable @inline(__always)
  package func clear() {
    if pointee.content == .nothing { return }
    if pointee.takesNothing {
      pointee.content = .nothing
    } else {
      destroyContent()
    }
  }

  /// Destroys what takes something.
  @usableFromInline @inline(never)
  func destroyContent() {
    switch pointee.content {
    case .nothing: return
    case .value:
      if let type = pointee.destroy {
        pointee.destroy = nil
        destroyValue(of: type)
      }
      if pointee.isBoxed {
        address.deallocate()
        pointee.isBoxed = false
      }
    // SAFETY: as in `failure`.
    case .error: address.assumingMemoryBound(to: (any Error).self).deinitialize(count: 1)
    }
    pointee.content = .nothing
  }

  /// By the type's own witness: this need not know the type.
  private func destroyValue<Value>(of type: Value.Type) {
    address.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }
}
