// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct FoundationProgressTests {
  /// Lets others run until something holds; the suite's time limit ends it otherwise.
  private func wait(until holds: () -> Bool) throws {
    while !holds() { try Coroutine.sleep(for: .milliseconds(1)) }
  }

  @Test func `a promise's fractions are written into its progress`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let progress = promise.progress(totalUnitCount: 200)
      #expect(progress.totalUnitCount == 200)
      #expect(progress.completedUnitCount == 0)
      promise.report(0.25)
      try wait { progress.completedUnitCount == 50 }
      promise.report(0.999)
      try wait { progress.completedUnitCount == 199 }
      #expect(!progress.isFinished)
      promise.fulfill(1)
      try wait { progress.isFinished }
      #expect(progress.fractionCompleted == 1)
    }
  }

  @Test func `a rejected promise leaves its progress where it was`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let progress = promise.progress()
      promise.report(0.5)
      promise.reject(Failure())
      try wait { progress.completedUnitCount == 500 }
      #expect(!progress.isFinished && !progress.isCancelled)
    }
  }

  @Test func `cancelling the progress cancels the promise`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let progress = promise.progress()
      progress.cancel()
      #expect(throws: PromiseError.cancelled) { try promise.await() }
    }
  }

  @Test func `cancelling the promise cancels the progress`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let progress = promise.progress()
      promise.cancel()
      try wait { progress.isCancelled }
      #expect(throws: PromiseError.cancelled) { try promise.await() }
    }
  }

  @Test func `a progress neither starts a lazy promise nor keeps one alive`() throws {
    try runBlocking {
      var promise: ProgressPromise<Int>? = .lazy { _, fulfill, _ in
        Issue.record("the work has begun")
        fulfill(1)
      }
      let progress = promise?.progress()
      try Coroutine.yield()
      promise = nil
      #expect(progress?.isFinished == false)
    }
  }

  @Test func `a promise's progress is a part of others as any`() throws {
    try runBlocking {
      let whole = Progress(totalUnitCount: 2)
      let promise = ProgressPromise<Int>()
      let part = promise.progress()
      whole.addChild(part, withPendingUnitCount: 1)
      promise.report(0.5)
      try wait { whole.fractionCompleted == 0.25 }
      promise.fulfill(1)
      try wait { whole.completedUnitCount == 1 }
    }
  }

  @Test func `a promise follows a progress and its parts, to the last fraction`() throws {
    try runBlocking {
      let progress = Progress(totalUnitCount: 2)
      let part = Progress(totalUnitCount: 10)
      progress.addChild(part, withPendingUnitCount: 1)
      let promise = ProgressPromise<Int>().follow(progress, every: .milliseconds(1))
      let reader = launch { Array(promise) }
      try Coroutine.yield()
      part.completedUnitCount = 5
      try wait { promise.fraction == 0.25 }
      progress.completedUnitCount = 1
      // Fulfilled before the next look.
      promise.fulfill(1)
      let seen = try reader.value()
      #expect(seen.first == 0)
      #expect(seen.last == progress.fractionCompleted)
    }
  }

  @Test func `cancelling goes both ways between a promise and what it follows`() throws {
    try runBlocking {
      let (one, other) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
      let promise = ProgressPromise<Int>().follow(one, every: .milliseconds(1))
      promise.cancel()
      #expect(one.isCancelled)
      let second = ProgressPromise<Int>().follow(other, every: .milliseconds(1))
      other.cancel()
      #expect(throws: PromiseError.cancelled) { try second.await() }
    }
  }

  @Test func `a progress is awaited and iterated`() throws {
    try runBlocking {
      let progress = Progress(totalUnitCount: 4)
      let promise = progress.co.promise(every: .milliseconds(1))
      launch {
        for _ in 1...4 {
          try Coroutine.sleep(for: .milliseconds(5))
          progress.completedUnitCount += 1
        }
      }
      let seen = Array(promise)
      #expect(seen.last == 1)
      #expect(seen == seen.sorted())
      try promise.await()
    }
  }

  @Test func `a progress that is cancelled, and one that goes away, settle the promise`() throws {
    try runBlocking {
      let progress = Progress(totalUnitCount: 4)
      let promise = progress.co.promise(every: .milliseconds(1))
      progress.cancel()
      #expect(throws: PromiseError.cancelled) { try promise.await() }

      let other = Progress(totalUnitCount: 4)
      other.co.promise(every: .milliseconds(1)).cancel()
      #expect(other.isCancelled)

      let abandoned = Progress(totalUnitCount: 4).co.promise(every: .milliseconds(1))
      #expect(throws: PromiseError.abandoned) { try abandoned.await() }
    }
  }

  @Test func `a work that counts units, as with the ancestors, is followed to its end`() throws {
    try runBlocking {
      let promise = ProgressPromise<String> { meter in
        let progress = Progress(totalUnitCount: 10)
        meter.follow(progress, every: .milliseconds(1))
        for _ in 1...10 {
          try Coroutine.sleep(for: .milliseconds(2))
          progress.completedUnitCount += 1
        }
        return "data"
      }
      let seen = Array(promise)
      #expect(!seen.isEmpty && seen.allSatisfy { (0...1).contains($0) })
      try #expect(promise.await() == "data")
    }
  }
}
