// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct ProgressIterationTests {
  @Test func `a loop that keeps up gets every fraction, then await gives the value`() throws {
    try runBlocking {
      let promise = ProgressPromise<String> { progress in
        for step in 1...4 {
          try Coroutine.yield()
          progress.report(Double(step) / 4)
        }
        try Coroutine.yield()
        return "done"
      }
      #expect(Array(promise) == [0.25, 0.5, 0.75, 1])
      try #expect(promise.await() == "done")
    }
  }

  @Test func `a loop that does not keep up gets the latest fraction`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      var seen: [Double] = []
      let reader = launch {
        for fraction in promise {
          seen.append(fraction)
          try Coroutine.yield()
        }
      }
      try letOthersRun()
      for step in 1...9 { promise.report(Double(step) / 10) }
      promise.fulfill(1)
      try reader.join()
      #expect(seen == [0.9])
    }
  }

  @Test func `the last fraction is given although the promise is settled before it is asked for`()
    throws
  {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      promise.report(0.5)
      promise.report(1)
      promise.fulfill(7)
      #expect(Array(promise) == [1])
      #expect(Array(promise) == [1], "each loop begins with the latest fraction")
    }
  }

  @Test func `a promise that reports nothing gives nothing, and one that reports 0 gives 0`() throws
  {
    try runBlocking {
      let silent = ProgressPromise<Int> { _ in 1 }
      #expect(Array(silent).isEmpty)
      let begun = ProgressPromise<Int> { progress in
        progress.report(0)
        return 1
      }
      #expect(Array(begun) == [0])
    }
  }

  @Test func `fulfilment, rejection, cancellation and abandonment each end the loop (rule 9)`()
    throws
  {
    try runBlocking {
      var promises = (0..<3).map { _ in ProgressPromise<Int>() }
      // Its closures go away with the constructor.
      let forgotten = ProgressPromise<Int> { progress, _, _ in
        progress.report(0.5)
        try letOthersRun()
      }
      promises.append(forgotten)
      let readers = promises.map { promise in launch { Array(promise) } }
      try Coroutine.yield()
      for promise in promises { promise.report(0.5) }
      try letOthersRun()
      promises[0].fulfill(1)
      promises[1].reject(Failure(2))
      promises[2].cancel()
      for reader in readers { try #expect(reader.value() == [0.5]) }
      #expect(promises.allSatisfy { !$0.isPending })
      #expect(throws: Failure(2)) { try promises[1].await() }
      #expect(throws: PromiseError.cancelled) { try promises[2].await() }
      #expect(throws: PromiseError.abandoned) { try forgotten.await() }
    }
  }

  @Test func `when the loop ends the promise is no longer pending`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let reader = launch {
        for _ in promise {}
        return promise.isPending
      }
      try Coroutine.yield()
      launch(on: SerialScheduler()) {
        promise.report(0.3)
        promise.fulfill(1)
      }
      try #expect(reader.value() == false)
    }
  }

  @Test func `several loops each see every fraction that they are fast enough for`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let readers = (0..<3).map { _ in launch { Array(promise) } }
      for step in 1...3 {
        try letOthersRun()
        promise.report(Double(step) / 4)
      }
      try letOthersRun()
      promise.fulfill(1)
      for reader in readers { try #expect(reader.value() == [0.25, 0.5, 0.75]) }
    }
  }

  @Test func `leaving a loop leaves the promise alone`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      promise.report(0.5)
      for _ in promise { break }
      #expect(promise.isPending)
      promise.fulfill(3)
      try #expect(promise.await() == 3)
    }
  }

  @Test func `cancelling the reader ends its loop and leaves the promise pending (rule 3)`() throws
  {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      let reader = launch {
        for _ in promise {}
        return try promise.await()
      }
      let other = launch { Array(promise) }
      try letOthersRun()
      reader.cancel()
      #expect(throws: CancellationError.self) { try reader.value() }
      #expect(promise.isPending)
      promise.report(0.5)
      promise.fulfill(1)
      try #expect(other.value() == [0.5])
    }
  }

  @Test func `a loop in cancelled code gets nothing, even if there is something (rule 2)`() throws {
    try runBlocking {
      let promise = ProgressPromise<Int>()
      promise.report(0.5)
      let reader = launch {
        Coroutine.current?.cancel()
        return Array(promise)
      }
      try #expect(reader.value().isEmpty)
    }
  }

  @Test func `a loop outside a coroutine stops the program and says why (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      for _ in ProgressPromise<Int>() {}
    }
    #expect(result.text.contains("for … in a progress"))
    #expect(result.text.contains("no coroutine runs here"))
  }

  @Test func `a loop starts a lazy promise, and making its progress does not`() throws {
    try runBlocking {
      let begun = Tally()
      let promise = ProgressPromise<Int>.lazy { progress, fulfill, _ in
        begun.add()
        progress.report(0.5)
        try Coroutine.yield()
        fulfill(1)
      }
      try letOthersRun()
      #expect(begun.value == 0)
      #expect(Array(promise) == [0.5])
      #expect(begun.value == 1)
      try #expect(promise.await() == 1)
    }
  }

  @Test func `the progress of a promise that is there already does not start it`() throws {
    try runBlocking {
      let begun = Tally()
      let meter = ProgressMeter()
      let promise = ProgressPromise(
        Promise<Int>.lazy { fulfill, _ in
          begun.add()
          meter.report(1)
          fulfill(2)
        },
        meter: meter
      )
      #expect(begun.value == 0)
      try #expect(promise.await() == 2)
      #expect(Array(promise) == [1])
    }
  }

  @Test func `a task iterates the fractions as a coroutine does`() async throws {
    let promise = ProgressPromise<Int>(on: SerialScheduler()) { progress, fulfill, _ in
      for step in 1...100 {
        progress.report(Double(step) / 100)
        try Coroutine.yield()
      }
      fulfill(5)
    }
    var seen: [Double] = []
    for await fraction in promise.fractions { seen.append(fraction) }
    #expect(seen.last == 1)
    #expect(seen == seen.sorted())
    #expect(try await promise.value() == 5)
  }

  @Test func `cancelling a task ends its loop`() async throws {
    let promise = ProgressPromise<Int>()
    promise.report(0.5)
    let task = Task {
      var seen: [Double] = []
      for await fraction in promise.fractions { seen.append(fraction) }
      return seen
    }

    task.cancel()
    #expect(await task.value.count <= 1)
    #expect(promise.isPending)
  }
}
