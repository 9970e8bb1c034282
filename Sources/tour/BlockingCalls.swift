// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// How a call that blocks its thread is made.
///
/// The concurrent pass and the sequential one run the same functions, and differ in this alone: code
/// on a coroutine's stack can wait anywhere, so that nothing between the caller and the call has to
/// know about it.
enum BlockingCalls: Sendable {
  /// On a thread of a pool, while the coroutine is parked and others run.
  case offloaded
  /// Here and now.
  case direct

  func callAsFunction<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) throws -> Result {
    switch self {
    case .offloaded: try offload(work)
    case .direct: try work()
    }
  }
}
