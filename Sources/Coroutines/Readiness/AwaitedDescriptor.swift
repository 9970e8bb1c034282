// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel

/// A descriptor that a coroutine waits for, for reports.
package final class AwaitedDescriptor: WaitSubject {
  private let number: Int32

  init(_ number: Int32) { self.number = number }

  /// `descriptor 7 (TCP 127.0.0.1:40312 to 127.0.0.1:5432)`.
  package var waitSubjectDescription: String {
    var text = [CChar](repeating: 0, count: 256)
    let length = cck_descriptor_describe(number, &text, text.count)
    let bytes = text.prefix(length).lazy.map(UInt8.init(bitPattern:))
    let kind = String(decoding: bytes, as: UTF8.self)
    return "descriptor \(number) (\(kind))"
  }

  package var waitSubjectState: String? {
    guard let entry = DescriptorTable.entry(number) else { return nil }
    return entry.lock.withLock {
      "\(entry.pointee.readers.listed) to read, \(entry.pointee.writers.listed) to write"
    }
  }
}
