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
  private let defaultValue: Value

  /// A coroutine-local value.
  ///
  /// - Parameter defaultValue: The value where none is bound, and outside coroutines.
  public init(_ defaultValue: Value) {
    self.defaultValue = defaultValue
  }

  /// The innermost value in force.
  public var value: Value {
    guard let fiber = currentThread().runningFiber else {
      return defaultValue
    }
    var binding = CoroutineLocals.innermost(fiber)
    while let current = binding {
      if current.key === self {
        // SAFETY: `withValue` makes the bindings of this key, and a binding keeps its key alive, so that no
        // other can be at its address.
        return unsafeDowncast(current, to: TypedBinding<Value>.self).value
      }
      binding = current.outer
    }
    return defaultValue
  }

  /// Binds the value for the time of `operation`, in this coroutine and in those launched meanwhile.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - operation: What runs with it; it may park.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func withValue<Result>(_ value: Value, _ operation: () throws -> Result) throws -> Result {
    guard let fiber = currentThread().runningFiber else {
      throw CoroutineError.outsideCoroutine("CoroutineLocal.withValue(_:)")
    }
    let outer = CoroutineLocals.innermost(fiber)
    CoroutineLocals.set(
      TypedBinding(key: self, value: value, outer: outer),
      on: fiber
    )
    defer { CoroutineLocals.set(outer, on: fiber) }
    return try operation()
  }
}

/// One binding, and those around it.
///
/// Immutable, so that children share the chain. Not checked for `Sendable`, because a class with subclasses
/// cannot be: the subclass has a constant, too.
class LocalBinding: @unchecked Sendable {
  // SAFETY: constants, all of them `Sendable`.
  let key: any AnyObject & Sendable
  let outer: LocalBinding?

  init(key: any AnyObject & Sendable, outer: LocalBinding?) {
    self.key = key
    self.outer = outer
  }
}

/// A binding with its value: a cast to its type would cost more than all the rest.
private final class TypedBinding<Value: Sendable>: LocalBinding, @unchecked Sendable {
  // SAFETY: a constant.
  let value: Value

  init(key: CoroutineLocal<Value>, value: Value, outer: LocalBinding?) {
    self.value = value
    super.init(key: key, outer: outer)
  }
}

/// The chain of bindings in a fiber's raw memory.
@usableFromInline
package enum CoroutineLocals {
  static func innermost(_ fiber: UnsafeMutablePointer<Fiber>) -> LocalBinding? {
    // SAFETY: `set` retains what it stores, until it stores something else.
    fiber.pointee.locals.map { Unmanaged<LocalBinding>.fromOpaque($0).takeUnretainedValue() }
  }

  static func set(_ binding: LocalBinding?, on fiber: UnsafeMutablePointer<Fiber>) {
    // SAFETY: retains what it stores, and releases what an earlier call stored and retained.
    let old = fiber.pointee.locals
    fiber.pointee.locals = binding.map { Unmanaged.passRetained($0).toOpaque() }
    old.map { Unmanaged<LocalBinding>.fromOpaque($0).release() }
  }

  /// Gives a new child the bindings in force.
  @usableFromInline
  package static func inherit(
    from parent: UnsafeMutablePointer<Fiber>,
    to child: UnsafeMutablePointer<Fiber>
  ) {
    set(innermost(parent), on: child)
  }

  /// Lets go of the bindings of a coroutine that has ended.
  static func drop(_ fiber: UnsafeMutablePointer<Fiber>) {
    if fiber.pointee.locals != nil { set(nil, on: fiber) }
  }
}
