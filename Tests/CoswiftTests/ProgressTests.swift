// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct ProgressTests {
  @Test func `fractions come until the end, then the value (2.1-38)`() throws {
    try inCoroutine { () throws in
      let promise = COProgressPromise<String>()
      let driver = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "driver"))
      let units = Cell(0)
      driver.setEventHandler {
        units.update { $0 += 1 }
        promise.progress(Double(units.value) / 10)
        if units.value == 10 {
          driver.cancel()
          promise.fulfill(value: "data")
        }
      }
      driver.schedule(deadline: .now(), repeating: .milliseconds(2))
      promise.onCancel { _ in driver.cancel() }
      driver.resume()
      var fractions: [Double] = []
      for fraction in promise { fractions.append(fraction) }
      #expect(!fractions.isEmpty)
      #expect(fractions == fractions.sorted() && fractions.allSatisfy { (0...1).contains($0) })
      #expect(fractions.last == 1)
      #expect(try co_await(promise: promise).get() == "data")
    }
  }

  // C10: the document's name.
  @Test func `a progress of Foundation's is followed until the promise is settled (2.1-38)`() throws
  {
    try inCoroutine { () throws in
      let promise = COProgressPromise<String>()
      let progress = Foundation.Progress.discreteProgress(totalUnitCount: 10)
      progress.completedUnitCount = 2
      promise.setupWithProgress(progress)
      var fractions: [Double] = []
      for fraction in promise {
        fractions.append(fraction)
        if progress.completedUnitCount < 10 {
          progress.completedUnitCount += 4
        } else {
          promise.fulfill(value: "data")
        }
      }
      #expect(fractions == [0.2, 0.6, 1])
      #expect(try co_await(promise: promise).get() == "data")
      #expect(!progress.isCancelled)
    }
  }

  @Test
  func `the last fraction is told even if nobody looked in between, and an older progress is left`()
    throws
  {
    try inCoroutine { () throws in
      let promise = COProgressPromise<Int>()
      let older = Foundation.Progress.discreteProgress(totalUnitCount: 2)
      older.completedUnitCount = 1
      promise.setupWithProgress(older)
      #expect(promise.fractionCompleted == 0.5)
      let newer = Foundation.Progress.discreteProgress(totalUnitCount: 10)
      promise.setupWithProgress(newer)
      #expect(promise.fractionCompleted == 0)
      older.completedUnitCount = 2
      newer.completedUnitCount = 7
      promise.fulfill(value: 1)
      #expect(Array(promise) == [0.7])
    }
  }

  @Test func `the latest fraction wins, and the last one is never lost (3.4-19)`() throws {
    try inCoroutine { () throws in
      let promise = COProgressPromise<Int>()
      for step in 1...9 { promise.progress(Double(step) / 10) }
      promise.fulfill(value: 1)
      #expect(Array(promise) == [0.9])
      #expect(promise.fractionCompleted == 0.9)
    }
  }

  @Test func `settling while somebody waits for a fraction ends the loop (3.4-19)`() throws {
    try inCoroutine { () throws in
      let ways: [@Sendable (COProgressPromise<Int>) -> Void] = [
        { $0.fulfill(value: 1) }, { $0.reject(error: Problem(1)) }, { $0.cancel() },
      ]
      for settle in ways {
        let promise = COProgressPromise<Int>()
        let seen = Cell<[Double]>([])
        let loop = co_launch_now {
          for fraction in promise { seen.update { $0.append(fraction) } }
        }
        promise.progress(0.5)
        try co_delay(0)
        DispatchQueue.global().async {
          promise.progress(0.75)
          settle(promise)
        }
        loop.join()
        #expect(seen.value == [0.5, 0.75])
      }
    }
  }

  @Test func `a loop may be left early`() throws {
    try inCoroutine { () throws in
      let promise = COProgressPromise<Int>()
      promise.progress(0.25)
      for fraction in promise {
        #expect(fraction == 0.25)
        break
      }
      promise.fulfill(value: 1)
      #expect(try co_await(promise: promise).get() == 1)
    }
  }

  @Test func `a cancelled coroutine leaves its loop`() throws {
    try inCoroutine { () throws in
      let promise = COProgressPromise<Int>()
      let log = Log()
      let loop = co_launch_now {
        for _ in promise {}
        log("left, cancelled \(co_isCancelled)")
      }
      loop.cancelAndJoin()
      #expect(log.entries == ["left, cancelled true"])
      #expect(promise.isPending)
    }
  }

  @Test func `it is a promise`() throws {
    try inCoroutine { () throws in
      let promise = COProgressPromise<Int>()
      let doubled = promise.then { $0 * 2 }
      promise.fulfill(value: 2)
      #expect(doubled.value == 4)
      #expect(try batch_await([promise]).count == 1)
    }
  }
}
