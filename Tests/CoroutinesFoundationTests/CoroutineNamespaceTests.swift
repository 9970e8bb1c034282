// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CoroutinesFoundation

struct CoroutineNamespaceTests {
  private struct Subject: CoroutineNamespaceProviding { let number: Int }

  @Test func `the namespace holds the value it was made from`() {
    #expect(Subject(number: 7).co.base.number == 7)
  }
}
