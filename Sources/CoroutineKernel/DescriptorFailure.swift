// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel

/// The system's reason why a descriptor cannot be waited for.
package struct DescriptorFailure: Error, Equatable {
  /// As of `errno`.
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// There is no such descriptor.
  package static let badDescriptor = DescriptorFailure(code: Int32(CCK_ERROR_BAD_DESCRIPTOR))
  /// It is ready all the time: a file.
  package static let notWatchable = DescriptorFailure(code: Int32(CCK_ERROR_NOT_WATCHABLE))
  /// The system has no thread left.
  static let noThread = DescriptorFailure(code: Int32(CCK_ERROR_NO_THREAD))
}
