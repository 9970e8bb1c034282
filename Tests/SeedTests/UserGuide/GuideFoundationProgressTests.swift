// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

/// "User guide", section 4, "COProgressPromise": the same under this library's own names.
@Suite(.timeLimit(.minutes(30))) struct GuideFoundationProgressTests {
  @Test func `a promise follows a progress of ten units to its end`() throws {
    try runBlocking {
      let promise = ProgressPromise<String>(Promise())
      // [NSProgress progressWithTotalUnitCount:10]; the units are counted by a coroutine of the same
      // scheduler, because Progress has no lock on Linux.
      let progress = Progress(totalUnitCount: 10)
      promise.follow(progress, every: .microseconds(100))
      launch {
        while progress.completedUnitCount < progress.totalUnitCount {
          progress.completedUnitCount += 1
          try Coroutine.sleep(for: .milliseconds(1))
        }
        promise.fulfill("data")
      }
      var fractions: [Double] = []
      for fraction in promise { fractions.append(fraction) }
      #expect(!fractions.isEmpty)
      #expect(fractions == fractions.sorted())
      #expect(fractions.last == 1)
      let data = try promise.promise.await()
      #expect(data == "data")
    }
  }
}
