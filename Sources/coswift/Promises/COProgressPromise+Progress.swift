// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
public import Foundation

extension COProgressPromise {
  /// Tells the fractions of a `Progress` of Foundation's from now on; the document's `setupWithProgress:`.
  ///
  /// The present fraction is told at once, and the last one when the promise is settled; between them the
  /// progress is looked at twenty times a second, on the queue of the caller, because Foundation observes
  /// nothing on Linux. A second call takes the place of the first. The progress neither settles the promise
  /// nor is cancelled with it: use `fulfill`, `reject` and `onCancel`.
  ///
  /// - Parameter progress: What to follow. It is kept alive until the promise is settled.
  public func setupWithProgress(_ progress: Progress) {
    meter.meter.follow(progress, keepsAlive: true) { _ in }
  }
}
