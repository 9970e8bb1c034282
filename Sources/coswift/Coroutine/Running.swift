// SPDX-License-Identifier: Apache-2.0
// The names are those of coobjc, coswift and RJIterator.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoroutineKernel
import Coroutines
public import Foundation

/// The code runs in a coroutine that has not been cancelled; false outside a coroutine.
public var co_isActive: Bool { Coroutine.isActive() }

/// The running coroutine has been cancelled; false outside a coroutine.
public var co_isCancelled: Bool { Coroutines.Coroutine.isCancelled }

/// The error of the running coroutine's last await; nil after a success, and outside a coroutine.
///
/// What a rejected promise gave, and what an await threw.
///
/// - Returns: The error.
public func co_getError() -> (any Error)? { Life.current?.awaitError }

/// Waits for some seconds, in which other coroutines of the queue run.
///
/// - Parameter seconds: How long; zero or less lets the others run once.
/// - Throws: `COError.coroutineCancelled` as soon as the coroutine is cancelled;
///   `COError.invalidCoroutine` outside a coroutine.
public func co_delay(_ seconds: TimeInterval) throws {
  demand(!seconds.isNaN, "co_delay(nan): a number of seconds is needed.")
  do {
    // Three hundred years stand for ever: the clock counts nanoseconds in 64 bits.
    try Coroutines.Coroutine.sleep(for: .seconds(Swift.min(seconds, 9e9)))
  } catch {
    throw COError.translating(error)
  }
}
