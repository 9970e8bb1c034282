// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if !COROUTINES_CHECKED

/// The other tests of this target exist in checked builds only.
@Suite struct UncheckedBuildTests {
  @Test func `a race says which build it needs (rule 12)`() throws {
    let error = #expect(throws: NoPreemptionPoints.self) {
      try Race { 0 }
        .thread { _ in }
        .explore()
    }
    #expect("\(try #require(error))".contains("--traits CheckedPrimitives"))
  }
}

#endif
