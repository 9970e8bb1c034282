// SPDX-License-Identifier: Apache-2.0

import Testing

extension ExitTest.Result? {
  /// What the process wrote to standard error before it stopped.
  var text: String { self.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? "" }
}
