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
    /// A value, in place.
    case value
    /// A value in a box whose address is the first word.
    case boxedValue
    case error
  }

  @usableFromInline package var words: (UInt, UInt, UInt) = (0, 0, 0)
  /// The type of the value, which knows how to destroy it; nil if that takes nothing.
  @usableFromInline package var destroy: Any.Type?
  @usableFromInline package var content = Content.nothing

  @inlinable @inline(__always)
  package init() {}

  /// There is a value, whose end takes nothing.
  @inlinable @inline(__always)
  package var takesNothing: Bool { content == .value && destroy == nil }

  /// There is a value.
  @inlinable @inline(__always)
  package var hasValue: Bool { content == .value || content == .boxedValue }

  /// A value of the type gets a box.
  @inlinable @inline(__always)
  static func boxes<Value>(_: Value.Type) -> Bool {
    MemoryLayout<Value>.size > 24 || MemoryLayout<Value>.alignment > 8
  }

  /// The error, if that is the content.
  @inlinable @inline(__always)
  package var failure: (any Error)? {
    guard content == .error else { return nil }
    // SAFETY: `store(failure:)` has put an error of this type into the first word, all of it.
    return unsafeBitCast(words.0, to: (any Error).self)
  }
}

extension UnsafeMutablePointer where Pointee == ResultCell {
  /// Where a value of the type is, or would be.
  @inlinable @inline(__always)
  func place<Value>(of _: Value.Type) -> UnsafeMutablePointer<Value> {
    // SAFETY: a value in a box has been given one, whose address is never zero; else this is the first field, and the cell does
    // not move while it is in its object.
    (ResultCell.boxes(Value.self)
      ? UnsafeMutableRawPointer(bitPattern: pointee.words.0).unsafelyUnwrapped
      : UnsafeMutableRawPointer(self)).assumingMemoryBound(to: Value.self)
  }

  /// Four words that the holder of an empty cell may use until it gets content; the fourth is nil before and after.
  @inlinable @inline(__always)
  package var room: UnsafeMutableRawPointer {
    // SAFETY: the first two fields are three words and one (FiberLayoutTests), and count while there is content.
    UnsafeMutableRawPointer(self)
  }

  /// Puts a value into an empty cell.
  @inlinable @inline(__always)
  package func store<Value>(_ value: consuming Value) {
    if ResultCell.boxes(Value.self) {
      pointee.words.0 = UInt(
        bitPattern: UnsafeMutableRawPointer.allocate(
          byteCount: MemoryLayout<Value>.size,
          alignment: MemoryLayout<Value>.alignment
        )
      )
    }
    place(of: Value.self).initialize(to: value)
    if !_isPOD(Value.self) {
      pointee.destroy = Value.self
    }
    pointee.content = ResultCell.boxes(Value.self) ? .boxedValue : .value
  }

  /// Puts an error into an empty cell.
  @inlinable @inline(__always)
  package func store(failure: any Error) {
    place(of: (any Error).self).initialize(to: failure)
    pointee.content = .error
  }

  /// A copy of the value.
  ///
  /// - Precondition: It is of this type, and there is one: the object that owns the cell stores and loads one type only.
  @inlinable @inline(__always)
  package func load<Value>(as type: Value.Type) -> Value { place(of: Value.self).pointee }

  /// There is a value, which is of the type: one comparison.
  @inlinable @inline(__always)
  package func holds<Value>(_: Value.Type) -> Bool {
    pointee.content == (ResultCell.boxes(Value.self) ? .boxedValue : .value)
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
    case .value, .boxedValue:
      if let type = pointee.destroy {
        pointee.destroy = nil
        destroyValue(of: type)
      }
      if pointee.content == .boxedValue {
        UnsafeMutableRawPointer(bitPattern: pointee.words.0)?.deallocate()
      }
    case .error: place(of: (any Error).self).deinitialize(count: 1)
    }
    pointee.content = .nothing
  }

  /// By the type's own witness: this need not know the type.
  private func destroyValue<Value>(of type: Value.Type) {
    place(of: Value.self).deinitialize(count: 1)
  }
}
