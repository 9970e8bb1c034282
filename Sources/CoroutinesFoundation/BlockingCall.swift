// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Runs a call that blocks its thread: on the offload pool while the calling coroutine is parked, or
/// right here if the caller is no coroutine.
///
/// *Cancellation:* as of `offload(_:)`; outside a coroutine there is none.
///
/// - Throws: What `call` throws; inside a coroutine `CancellationError` too.
func blockingCall<Result>(_ call: sending @escaping () throws -> Result) throws -> sending Result {
  guard Coroutine.current != nil else { return try call() }
  return try offload(call)
}
