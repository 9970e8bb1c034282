// SPDX-License-Identifier: Apache-2.0

import CCoroutinesBlockingCalls
import CoroutineKernel
import Coroutines

/// Has libc's blocking calls park the coroutine that makes them, instead of blocking its thread.
///
/// ```swift
/// BlockingCalls.enable()
/// try runBlocking {
///   for _ in 0..<100 { launch { sleep(1) } }  // a second in all, on one thread
/// }
/// ```
///
/// For synchronous C code that knows nothing of coroutines: a database driver, a protocol library. Linking
/// this product puts it in front of libc; nothing changes before it is switched on. Outside a coroutine, and
/// on descriptors that the user has made non-blocking, nothing ever changes. Which calls, what they return
/// in which case, and what cannot be seen: the article "Calls and libraries that block".
///
/// Cost: of a call outside a coroutine a test or two.
public enum BlockingCalls {
  /// Switches parking on for every coroutine of the process.
  ///
  /// Coroutines inside `withoutParking(_:)` are left out. From any thread, at any time: a call that has begun
  /// goes on as it began.
  public static func enable() {
    Hooks.install
    cbc_set_enabled(1)
  }

  /// Switches parking off again, except for coroutines inside `withParking(_:)`.
  ///
  /// Calls that are parked go on to their end as they began.
  public static func disable() {
    cbc_set_enabled(0)
  }

  /// Parking is switched on for the process.
  public static var isEnabled: Bool { cbc_is_enabled() != 0 }

  /// Switches parking on for the calls of `body`, and of the coroutines that it launches.
  ///
  /// Those coroutines keep it for all of their lives, even beyond the end of `body`.
  ///
  /// - Parameter body: What to do; it may park.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func withParking<Result>(_ body: () throws -> Result) throws -> Result {
    Hooks.install
    return try ParkingScope.current.withValue(ParkingScope(isOn: true), body)
  }

  /// Switches parking off for the calls of `body`, and of the coroutines that it launches.
  ///
  /// For code that must not let others run in between: one that holds a lock of C's around a call, or that
  /// keeps something in a thread-local variable.
  ///
  /// - Parameter body: What to do.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `CoroutineError.outsideCoroutine`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public static func withoutParking<Result>(_ body: () throws -> Result) throws -> Result {
    Hooks.install
    return try ParkingScope.current.withValue(ParkingScope(isOn: false), body)
  }
}

/// A stretch of code in which parking is on, or off.
///
/// It lives as long as a coroutine that has inherited it, and for that time every call asks for scopes.
final class ParkingScope: Sendable {
  let isOn: Bool

  init(isOn: Bool) {
    self.isOn = isOn
    cbc_scope_began()
  }

  deinit { cbc_scope_ended() }

  /// The innermost one that the running coroutine is in.
  static let current = CoroutineLocal<ParkingScope?>(nil)
}
