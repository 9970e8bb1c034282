// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel

extension WaitQueue {
  /// How many wait; under the lock.
  var length: Int {
    sequence(state: first) { waiter in
      defer { waiter = waiter?.pointee.next }
      return waiter
    }
    .reduce(0) { count, _ in count + 1 }
  }
}
