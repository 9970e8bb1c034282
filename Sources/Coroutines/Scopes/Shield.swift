// SPDX-License-Identifier: Apache-2.0

public import CoroutineKernel

/// Runs `body` undisturbed by cancellation from outside it.
///
/// For the few lines that must wait even in cancelled code: giving a connection back, saying goodbye.
/// Inside, park points wait as if nothing had been cancelled, unless something inside the shield is:
/// give it a limit with `withTimeout`. After it, the code is as cancelled as it was.
///
/// - Parameter body: What to do.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws; `CoroutineError.outsideCoroutine`.
@inlinable
@available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
public func withCancellationShield<Result>(_ body: () throws -> Result) throws -> Result {
  guard let fiber = currentThread().runningFiber else {
    throw CoroutineError.outsideCoroutine("withCancellationShield(_:)")
  }
  let shield = CancellationScope.open(fiber, isShield: true)
  defer {
    shield._withUnsafeGuaranteedRef { $0.close() }
    // SAFETY: the reference that `open` gave.
    shield.release()
  }
  return try body()
}
