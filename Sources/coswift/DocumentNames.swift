// SPDX-License-Identifier: Apache-2.0

// Names that coobjc and the articles about it use for the same things.

/// coobjc's name for `Coroutine`.
public typealias COCoroutine = Coroutine

/// coobjc's name for `Chan`.
public typealias COChan = Chan

/// coobjc's name for `Promise`.
public typealias COPromise = Promise

/// coobjc's name for `Generator`.
public typealias COGenerator = Generator

/// The first articles' name for `Generator`.
public typealias COSequence = Generator

/// Starts a coroutine on the current queue: `co_launch` under the first articles' name.
///
/// - Parameter block: The body.
/// - Returns: The coroutine.
@discardableResult
public func co(_ block: @escaping () throws -> Void) -> Coroutine {
  co_launch(block: block)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Hands a value to whoever asked a generator for one: `yield` under coobjc's name.
///
/// - Parameter value: The value; made when it is asked for.
/// - Throws: As `yield`.
public func yield_val<T>(_ value: @autoclosure @escaping () throws -> T) throws {
  try yield(closure: { () throws -> T in try value() })
}

extension Promise {
  /// Whether an error is the one that a cancelled promise is rejected with.
  ///
  /// - Parameter error: Any error, or none.
  /// - Returns: True for `COError.promiseCancelled`.
  public static func isPromiseCancelled(_ error: (any Error)?) -> Bool {
    if case .promiseCancelled? = error as? COError { true } else { false }
  }
}
