// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// Starts a detached thread of the kernel's.
///
/// - Parameters:
///   - name: For debuggers; cut to what the system allows.
///   - body: What it does.
/// - Returns: False if the system has no threads left.
@discardableResult
package func startKernelThread(named name: String, _ body: @escaping () -> Void) -> Bool {
  final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  // SAFETY: the new thread takes the retain over; if there is none, it is released below.
  let box = Unmanaged.passRetained(Box(body))
  let status = name.withCString { name in
    cck_thread_start(name, box.toOpaque()) { box in
      // SAFETY: takes over the retain above.
      guard let box else { return }
      Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
    }
  }
  if status != 0 { box.release() }
  return status == 0
}
