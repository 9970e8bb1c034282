// SPDX-License-Identifier: Apache-2.0

import CCoroutinesIO

extension OwnedDescriptor {
  /// The error of a call that failed.
  ///
  /// - Parameters:
  ///   - code: The system's error number.
  ///   - operation: What was being done.
  ///   - subject: The other end, or the path.
  /// - Returns: It, with what to do about it.
  func error(_ code: Int32, _ operation: String, _ subject: String) -> IOError {
    IOError(
      code: code,
      operation: operation,
      subject: subject,
      advice: code == cio_bad_descriptor ? adviceWhereBad : nil
    )
  }

  /// What to do if the system refuses the number though it has not been closed here.
  private var adviceWhereBad: String? {
    if isClosed { return nil }
    return cio_is_open(number) == 0
      ? "Descriptor \(number) was closed by code that it did not belong to: look for one that closes a number twice."
      : "It is not open for that: open it for what is to be done with it."
  }
}
