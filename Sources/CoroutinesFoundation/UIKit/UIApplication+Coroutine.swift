// SPDX-License-Identifier: Apache-2.0
//
// Compiled against a stand-in by `scripts/check-uikit`; never run.

#if canImport(UIKit)
public import Coroutines
public import Foundation
public import UIKit

extension UIApplication: CoroutineNamespaceProviding {}

/// Handing URLs to other applications.
extension CoroutineNamespace where Base: UIApplication {
  /// Opens a URL; the promise is fulfilled with whether that worked.
  ///
  /// Never parks; from any thread. Cancelling the promise does not close what has been opened.
  ///
  /// - Parameter url: What to open.
  /// - Returns: The promise.
  public static func open(_ url: URL) -> Promise<Bool> {
    mainThreadPromise { promise in
      UIApplication.shared.open(url, options: [:]) { isOpen in promise.fulfill(isOpen) }
    }
  }
}
#endif
