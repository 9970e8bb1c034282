// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Testing

@testable import Coroutines

/// Addresses that are computed, against those that the compiler gives.
@Suite struct ScopeLayoutTests {
  @Test func `a scope's list is where its address says, and leads to who waits`() throws {
    try runBlocking {
      let fiber = try #require(currentThread().runningFiber)
      let scope = CancellationScope.open(fiber).takeRetainedValue()
      defer { scope.close() }
      let own = withUnsafeMutablePointer(to: &scope.ownChildren) { UnsafeMutableRawPointer($0) }
      #expect(UnsafeMutableRawPointer(scope.children) == own)
      #expect(CancellationScope.waiting(for: scope.children) == nil)
      let waiting = CoroutineScope(scope)
      #expect(CancellationScope.waiting(for: scope.children)?.takeUnretainedValue() === waiting)
    }
  }
}
