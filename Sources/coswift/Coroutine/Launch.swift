// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Dispatch

/// Starts a coroutine: its body runs later, in a block of the queue.
///
/// - Parameters:
///   - queue: Where it runs; nil for the current one, as `Coroutine.init` says.
///   - stackSize: Bytes for its stack; see `Coroutine.init`.
///   - block: The body. What it throws is in the coroutine's `lastError`.
/// - Returns: The coroutine. Dropping it changes nothing.
@discardableResult
public func co_launch(
  queue: DispatchQueue? = nil,
  stackSize: UInt32? = nil,
  block: @escaping () throws -> Void
) -> Coroutine {
  Coroutine(block: block, on: queue, stackSize: stackSize).resume()
}

/// Starts a coroutine at once, up to where it first waits, if the caller is on the queue; else as
/// `co_launch`.
///
/// - Parameters:
///   - queue: Where it runs; nil for the current one.
///   - stackSize: Bytes for its stack.
///   - block: The body.
/// - Returns: The coroutine.
@discardableResult
public func co_launch_now(
  queue: DispatchQueue? = nil,
  stackSize: UInt32? = nil,
  block: @escaping () throws -> Void
) -> Coroutine {
  let coroutine = Coroutine(block: block, on: queue, stackSize: stackSize)
  coroutine.resumeNow()
  return coroutine
}

/// Starts a coroutine on a queue.
///
/// - Parameters:
///   - queue: Where it runs.
///   - stackSize: Bytes for its stack.
///   - block: The body.
/// - Returns: The coroutine.
@discardableResult
public func co_launch_onqueue(
  _ queue: DispatchQueue,
  stackSize: UInt32? = nil,
  block: @escaping () throws -> Void
) -> Coroutine {
  co_launch(queue: queue, stackSize: stackSize, block: block)
}
