// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Progress under fire from several threads.
@Suite(.timeLimit(.minutes(30))) struct ProgressStormTests {
  @Test(arguments: Elsewhere.allCases)
  func `no reader misses the last fraction or the end`(place: Elsewhere) throws {
    try runBlocking {
      let schedulers = place.schedulers(3)
      for round in 0..<200 {
        let promise = ProgressPromise<Int>()
        let readers = schedulers.map { scheduler in
          launch(on: scheduler) { Array(promise) }
        }
        launch(on: schedulers[round % 3]) {
          for step in 1...20 { promise.report(Double(step) / 20) }
          promise.fulfill(round)
        }
        for reader in readers {
          let seen = try reader.value()
          #expect(seen.last == 1)
          #expect(seen == seen.sorted())
        }
        #expect(promise.value == round)
      }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `a parent has the sum of what its parts told last, from whatever threads`(place: Elsewhere)
    throws
  {
    try runBlocking {
      let schedulers = place.schedulers(3)
      for _ in 0..<50 {
        let parent = ProgressMeter()
        let parts = (0..<6).map { _ in ProgressMeter() }
        let reporters = parts.enumerated().flatMap { index, part in
          schedulers.map { scheduler in
            launch(on: scheduler) {
              if index % 2 == 0 { parent.add(part, weight: 2) }
              for step in 0...20 { part.report(Double(step) / 20) }
            }
          }
        }
        for (index, part) in parts.enumerated() where index % 2 == 1 { parent.add(part) }
        for reporter in reporters { try reporter.join() }
        for part in parts { part.report(0.5) }
        #expect(abs(parent.fraction - 0.5) < 1e-9)
        for part in parts { part.report(1) }
        #expect(parent.fraction == 1)
      }
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `readers that are cancelled on the way do not disturb the others`(place: Elsewhere) throws {
    try runBlocking {
      let schedulers = place.schedulers(2)
      for _ in 0..<100 {
        let promise = ProgressPromise<Int>()
        let doomed = launch(on: schedulers[0]) { Array(promise) }
        let reader = launch(on: schedulers[1]) { Array(promise) }
        let reporter = launch(on: schedulers[0]) {
          for step in 1...10 {
            promise.report(Double(step) / 10)
            try Coroutine.yield()
          }
          promise.cancel()
        }
        doomed.cancel()
        try doomed.join()
        try reporter.join()
        try #expect(reader.value().last == 1)
      }
    }
  }
}
