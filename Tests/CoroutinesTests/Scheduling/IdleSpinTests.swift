// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Coroutines

@Suite struct IdleSpinTests {
  @Test(arguments: [(2_000, 4_000), (20_000, 40_000), (30_000, 50_000), (49_999, 50_000)])
  func `who was woken soon looks for longer the next time`(waited: Int64, next: Int64) {
    #expect(IdleSpin.patience(1_000, wokenAfter: waited) == next)
  }

  @Test(arguments: [50_000, 1_000_000, 60_000_000_000])
  func `who was woken late looks no longer than before`(waited: Int64) {
    #expect(IdleSpin.patience(1_000, wokenAfter: waited) == 1_000)
    #expect(IdleSpin.patience(50_000, wokenAfter: waited) == 50_000)
  }

  @Test func `nor does it look for less because it was woken`() {
    #expect(IdleSpin.patience(50_000, wokenAfter: 1_000) == 50_000)
  }

  @Test func `something that is there ends the wait at once, and a deadline ends it in vain`() {
    var spin = IdleSpin()
    #expect(spin.wait(until: nil) { true })
    #expect(!spin.wait(until: 0) { false })
  }
}
