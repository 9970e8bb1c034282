// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Has Dispatch open the descriptors that it opens once, and late on a busy machine: for tests that count those
/// of the process, or take them away, without which Dispatch ends the process.
///
/// Its timers need the last of them, so once one has fired all are there.
package func startDispatch() {
  let fired = DispatchSemaphore(value: 0)
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { fired.signal() }
  fired.wait()
}
