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
