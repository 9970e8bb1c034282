// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// A value that belongs to the coroutine that reads it: the counterpart of `@TaskLocal`.
///
/// ```swift
/// let requestID = CoroutineLocal<Int?>(nil)
/// try requestID.withValue(7) {
///   launch { print(requestID.value as Any) }  // Optional(7): children inherit it
/// }
/// ```
///
/// `@TaskLocal.withValue` must not be used around code that parks: its bindings belong to the thread's
/// task and would be seen by whatever runs there meanwhile.
///
/// Cost: reading looks through the bindings in force, newest first.
public final class CoroutineLocal<Value: Sendable>: Sendable {
  @usableFromInline let defaultValue: Value

  /// A coroutine-local value.
  ///
  /// - Parameter defaultValue: The value where none is bound, and outside coroutines.
  public init(_ defaultValue: Value) {
    self.defaultValue = defaultValue
  }

  /// The innermost value in force.
  @inlinable
  public var value: Value {
    guard let fiber = currentThread().runningFiber,
      let binding = CoroutineLocals.innermost(of: ObjectIdentifier(self), on: fiber)
    else { return defaultValue }
    // SAFETY: `withValue` makes the bindings of this key, and a binding keeps its key alive, so that no other can be
    // at its address. The chain keeps the binding, and changes only with what this coroutine does.
    return Unmanaged<TypedBinding<Value>>.fromOpaque(binding)._withUnsafeGuaranteedRef { $0.value }
  }

  /// Binds the value for the time of `operation`, in this coroutine and in those launched meanwhile.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - operation: What runs with it; it may park.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws; `CoroutineError.outsideCoroutine`.
  @inlinable
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withValue<Result>(_ value: Value, _ operation: () throws -> Result) throws -> Result {
    guard let fiber = currentThread().runningFiber else {
      throw Parking.outside("CoroutineLocal.withValue(_:)")
    }
    // SAFETY: the binding takes over the fiber's reference to the others.
    CoroutineLocals.push(
      TypedBinding(key: self, value: value, outer: fiber.pointee.locals),
      on: fiber
    )
    defer { CoroutineLocals.pop(fiber) }
    return try operation()
  }
}

/// One binding, and those around it.
///
/// Immutable, so that children share the chain. Not checked for `Sendable`, because a class with subclasses
/// cannot be: the subclass has constants, too.
@usableFromInline
class LocalBinding: @unchecked Sendable {
  // SAFETY: constants, all of them `Sendable`, or leading to what is.

  /// Whose value it is.
  @usableFromInline final let key: ObjectIdentifier
  /// The next binding outwards, retained, or nil.
  ///
  /// An address, since who looks for a key would retain and release each binding on its way.
  @usableFromInline final let outer: UnsafeMutableRawPointer?

  /// A binding that takes over a reference to `outer`.
  @inlinable
  init(key: ObjectIdentifier, outer: UnsafeMutableRawPointer?) {
    self.key = key
    self.outer = outer
  }

  deinit { CoroutineLocals.release(outer) }
}

/// A binding with its value: a cast to its type would cost more than all the rest.
@usableFromInline
final class TypedBinding<Value: Sendable>: LocalBinding, @unchecked Sendable {
  // SAFETY: constants.

  /// Keeps the key alive; see `CoroutineLocal.value`.
  @usableFromInline let local: CoroutineLocal<Value>
  @usableFromInline let value: Value

  @inlinable
  init(key: CoroutineLocal<Value>, value: Value, outer: UnsafeMutableRawPointer?) {
    local = key
    self.value = value
    super.init(key: ObjectIdentifier(key), outer: outer)
  }
}

/// The chain of bindings in a fiber's raw memory, which holds a reference to the innermost.
@usableFromInline
package enum CoroutineLocals {
  /// The innermost binding of a key in the running coroutine.
  @inlinable @inline(__always)
  static func innermost(
    of key: ObjectIdentifier,
    on fiber: UnsafeMutablePointer<Fiber>
  ) -> UnsafeMutableRawPointer? {
    var next = fiber.pointee.locals
    while let address = next {
      // SAFETY: the fiber keeps the first, and each the next.
      let binding = Unmanaged<LocalBinding>.fromOpaque(address)
      if binding._withUnsafeGuaranteedRef({ $0.key == key }) { return address }
      next = binding._withUnsafeGuaranteedRef { $0.outer }
    }
    return nil
  }

  /// Puts a binding in front, which has taken over the fiber's reference to the others.
  @inlinable @inline(__always)
  static func push(_ binding: LocalBinding, on fiber: UnsafeMutablePointer<Fiber>) {
    // SAFETY: `pop` or `drop` releases it.
    fiber.pointee.locals = Unmanaged.passRetained(binding).toOpaque()
  }

  /// Takes the innermost binding away.
  @usableFromInline
  static func pop(_ fiber: UnsafeMutablePointer<Fiber>) {
    guard let innermost = fiber.pointee.locals else { return }
    // SAFETY: as in `innermost`. A child may have the binding, so it keeps its reference to the next.
    let outer = Unmanaged<LocalBinding>.fromOpaque(innermost)._withUnsafeGuaranteedRef { $0.outer }
    fiber.pointee.locals = retained(outer)
    release(innermost)
  }

  /// Gives a new child the bindings in force.
  @usableFromInline
  package static func inherit(
    from parent: UnsafeMutablePointer<Fiber>,
    to child: UnsafeMutablePointer<Fiber>
  ) {
    drop(child)
    child.pointee.locals = retained(parent.pointee.locals)
  }

  /// Lets go of the bindings of a coroutine that has ended.
  static func drop(_ fiber: UnsafeMutablePointer<Fiber>) {
    let innermost = fiber.pointee.locals
    fiber.pointee.locals = nil
    release(innermost)
  }

  private static func retained(_ binding: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // SAFETY: the caller holds a reference to it, directly or not, and keeps the new one.
    binding.map { Unmanaged<LocalBinding>.fromOpaque($0).retain().toOpaque() }
  }

  fileprivate static func release(_ binding: UnsafeMutableRawPointer?) {
    // SAFETY: the reference is the caller's, who gives it up.
    if let binding { Unmanaged<LocalBinding>.fromOpaque(binding).release() }
  }
}
