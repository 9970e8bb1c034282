// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct UnobservedErrorTests {
  @Test func `runBlocking throws an error that nobody looked at (rule 6)`() {
    #expect(throws: Problem(2)) {
      try runBlocking {
        launch { throw Problem(2) }
        return
      }
    }
  }

  @Test func `the first of several is thrown`() {
    #expect(throws: Problem(1)) {
      try runBlocking {
        for number in 1...3 { launch { throw Problem(number) } }
      }
    }
  }

  @Test func `what the body throws comes before what nobody looked at`() {
    #expect(throws: Problem(9)) {
      try runBlocking {
        launch { throw Problem(1) }
        try Coroutine.yield()
        throw Problem(9)
      }
    }
  }

  @Test(arguments: ["join", "value", "error", "scope"])
  func `an error that somebody looked at is not thrown again`(_ way: String) throws {
    let value = try runBlocking {
      if way == "scope" {
        #expect(throws: Problem(1)) {
          try withCoroutineScope { scope in
            scope.launch { throw Problem(1) }
            return
          }
        }
        return 1
      }
      let coroutine = launch { throw Problem(1) }
      switch way {
      case "join": try coroutine.join()
      case "value": #expect(throws: Problem(1)) { try coroutine.value() }
      default:
        try Coroutine.yield()
        #expect(coroutine.error != nil)
      }
      return 1
    }
    #expect(value == 1)
  }

  @Test func `a cancellation is no failure`() throws {
    try runBlocking {
      let waiting = launch { try waitForEver() }
      try Coroutine.yield()
      waiting.cancel()
    }
  }

  @Test func `elsewhere the handler gets error, coroutine and place of launch (rule 6)`() async {
    await #expect(processExitsWith: .success) {
      let reports = Cell<[UnobservedError]>([])
      let arrived = DispatchSemaphore(value: 0)
      Coroutine.unobservedErrorHandler = { report in
        reports.value = (reports.value ?? []) + [report]
        arrived.signal()
      }
      launch(on: DispatchQueue(label: "test"), name: "lost") { throw Problem(7) }
      arrived.wait()
      launch(on: SerialScheduler(), name: "lost too") { throw Problem(8) }
      arrived.wait()
      let all = reports.value ?? []
      #expect(all.map { $0.error as? Problem } == [Problem(7), Problem(8)])
      #expect(all.first?.coroutine.contains("\"lost\"") == true)
      #expect(all.first?.creationSite.description.contains("UnobservedErrorTests.swift") == true)
      #expect(all.last?.description.contains("nobody looked at") == true)
    }
  }

  @Test func `by default it is printed to standard error`() async {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardErrorContent]
    ) {
      let end = DispatchSemaphore(value: 0)
      let report = Coroutine.unobservedErrorHandler
      Coroutine.unobservedErrorHandler = {
        report($0)
        end.signal()
      }
      launch(on: DispatchQueue(label: "test"), name: "lost") { throw Problem(7) }
      end.wait()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("\"lost\""))
    #expect(text.contains("that nobody looked at: Problem(number: 7). Call"))
    #expect(text.contains("UnobservedErrorTests.swift"))
  }

  /// Where nobody takes the handle, the scheduler's reference is the only one, also on the way back.
  @Test func `so is one that could not be launched, once, if its handle was dropped`() async {
    await #expect(processExitsWith: .success) {
      let reports = Counter()
      Coroutine.unobservedErrorHandler = { _ in reports.add() }
      let ended = try blocking { Scheduler.current }
      for _ in 0..<10 { launch(on: ended) { Issue.record("it must not run") } }
      #expect(reports.value == 10)
      // A scope looks at the error.
      #expect(throws: CoroutineError.schedulerShutDown) {
        try blocking {
          try withCoroutineScope { scope in
            scope.launch(on: ended) { Issue.record("it must not run") }
            return
          }
        }
      }
      #expect(reports.value == 10)
    }
  }

  @Test func `of several the first is thrown, and the others go to the handler`() async {
    await #expect(processExitsWith: .success) {
      let reports = Cell<[UnobservedError]>([])
      Coroutine.unobservedErrorHandler = { reports.value = (reports.value ?? []) + [$0] }
      #expect(throws: Problem(1)) {
        try runBlocking { for number in 1...3 { launch { throw Problem(number) } } }
      }
      #expect(reports.value?.map { $0.error as? Problem } == [Problem(2), Problem(3)])
      #expect(throws: Problem(5)) {
        try runBlocking {
          let failed = Cell<Coroutine>(launch { throw Problem(4) })
          try Coroutine.yield()
          failed.value = nil
          throw Problem(5)
        }
      }
      #expect(reports.value?.last?.error as? Problem == Problem(4))
    }
  }

  @Test func `a handle kept past its loop is none of a later loop's business`() async {
    await #expect(processExitsWith: .success) {
      let reports = Counter()
      Coroutine.unobservedErrorHandler = { _ in reports.add() }
      let kept = Cell<Coroutine>()
      try blocking { kept.value = launch { throw Problem(1) } }
      #expect(reports.value == 0)
      // This loop is made of the same memory as the one that has ended.
      try blocking { kept.value = nil }
      #expect(reports.value == 1)
    }
  }
}
