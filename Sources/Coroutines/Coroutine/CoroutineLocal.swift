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
      if current.key == ObjectIdentifier(self), let value = current.value as? Value { return value }
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
  @available(*, noasync)
  public func withValue<Result>(_ value: Value, _ operation: () throws -> Result) throws -> Result {
    guard let fiber = currentThread().runningFiber else {
      throw CoroutineError.outsideCoroutine("CoroutineLocal.withValue(_:)")
    }
    let outer = CoroutineLocals.innermost(fiber)
    CoroutineLocals.set(
      LocalBinding(key: ObjectIdentifier(self), value: value, outer: outer),
      on: fiber
    )
    defer { CoroutineLocals.set(outer, on: fiber) }
    return try operation()
  }
}

/// One binding, and those around it.
///
/// Immutable, so that children share the chain.
final class LocalBinding: Sendable {
  let key: ObjectIdentifier
  let value: any Sendable
  let outer: LocalBinding?

  init(key: ObjectIdentifier, value: any Sendable, outer: LocalBinding?) {
    self.key = key
    self.value = value
    self.outer = outer
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
