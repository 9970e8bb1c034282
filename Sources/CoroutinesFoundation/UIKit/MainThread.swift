// SPDX-License-Identifier: Apache-2.0
//
// Compiled against a stand-in by `scripts/check-uikit`; never run.

#if canImport(UIKit)
import Coroutines
import Dispatch

/// A promise whose work begins later, on the main thread.
///
/// - Parameter begin: Begins the work, on the main thread; what it throws rejects the promise.
/// - Returns: The promise.
func mainThreadPromise<Value>(
  _ begin: @escaping @MainActor (Promise<Value>) throws -> Void
) -> Promise<Value> {
  let promise = Promise<Value>()
  DispatchQueue.main.async {
    MainActor.assumeIsolated {
      guard promise.isPending else { return }
      do {
        try begin(promise)
      } catch {
        promise.reject(error)
      }
    }
  }
  return promise
}

extension Promise {
  /// Has `work` done on the main thread when the promise is cancelled.
  func onCancelOnMainThread(_ work: @escaping @MainActor () -> Void) {
    onCancel { _ in
      DispatchQueue.main.async { MainActor.assumeIsolated { work() } }
    }
  }
}
#endif
