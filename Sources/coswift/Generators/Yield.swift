// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Coroutines

/// Hands a value to whoever asked the running generator, and waits until the next one is asked for.
///
/// Works in the generator's block and in all that it calls.
///
/// - Parameter closure: Makes the value; called only when one is asked for.
/// - Throws: What `closure` throws; `COError.generatorCancelled` when the generator is cancelled or dropped;
///   `COError.notGenerator` where no generator of such values runs; `COError.invalidCoroutine` outside a
///   coroutine.
public func yield<T>(closure: @escaping () throws -> T) throws {
  try yieldTarget().yield(closure)
}

/// Hands over the value of a promise.
///
/// In a generator of promises it hands over the promise itself, and in one of `Resolution`s what it has come to.
///
/// - Parameter closure: Makes the promise; called only when a value is asked for.
/// - Throws: The promise's error; otherwise as `yield { value }`.
public func yield<T>(closure: @escaping () throws -> Promise<T>) throws {
  let target = try yieldTarget()
  if target.elementType == Promise<T>.self {
    try target.yield(closure)
  } else if target.elementType == Resolution<T>.self {
    try target.yield { try co_await(promise: closure()) }
  } else {
    try target.yield { try co_await(promise: closure()).get() }
  }
}

/// Hands over a value of a channel.
///
/// In a generator of channels it hands over the channel itself.
///
/// - Parameter closure: Makes the channel; called only when a value is asked for.
/// - Throws: As `yield { value }`.
public func yield<T>(closure: @escaping () throws -> Chan<T>) throws {
  let target = try yieldTarget()
  if target.elementType == Chan<T>.self {
    try target.yield(closure)
  } else {
    try target.yield { try co_await(channel: closure()) }
  }
}

/// What the asker of the value that is being made gave to `nextWithParam`.
///
/// - Returns: It; nil for a plain `next`, and outside a generator.
public func co_getYieldParam() -> Any? {
  Life.current?.machine?.parameter
}

/// The running generator.
private func yieldTarget() throws -> any YieldTarget {
  guard let life = Life.current else {
    throw Coroutines.Coroutine.current == nil ? COError.invalidCoroutine : COError.notGenerator
  }
  guard let target = life.machine else { throw COError.notGenerator }
  return target
}
