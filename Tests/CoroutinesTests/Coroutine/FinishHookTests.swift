// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite struct FinishHookTests {
  @Test(arguments: Place.allCases)
  func `hooks run in order after the body and before joiners`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let coroutine = launch {
        try Coroutine.yield()
        log("body ends")
      }
      coroutine.onFinish { log("first hook") }
      coroutine.onFinish { log("second hook") }
      let joiner = launch {
        try coroutine.join()
        log("joined")
      }
      try joiner.join()
    }
    #expect(log.entries == ["body ends", "first hook", "second hook", "joined"])
  }

  @Test func `a hook on a finished coroutine runs at once`() throws {
    try runBlocking {
      let coroutine = launch {}
      try coroutine.join()
      let log = Log()
      coroutine.onFinish { log("hook") }
      #expect(log.entries == ["hook"])
    }
  }

  @Test(arguments: ["return", "throw", "cancel", "cancel before start"])
  func `a hook runs once, however the body ends`(_ ending: String) throws {
    let runs = Counter()
    try runBlocking {
      let coroutine = launch {
        switch ending {
        case "throw": throw Problem(1)
        case "cancel": try waitForEver()
        default: break
        }
      }
      coroutine.onFinish { runs.add() }
      if ending == "cancel" { try Coroutine.yield() }
      if ending.hasPrefix("cancel") { coroutine.cancel() }
      try coroutine.join()
    }
    #expect(runs.value == 1)
  }

  @Test func `a hook may launch`() throws {
    let log = Log()
    try runBlocking {
      let coroutine = launch {}
      coroutine.onFinish { launch { log("launched by a hook") } }
      try coroutine.join()
    }
    #expect(log.entries == ["launched by a hook"])
  }

  @Test func `a hook may register another, which runs as well`() throws {
    let log = Log()
    try runBlocking {
      let coroutine = launch {}
      coroutine.onFinish {
        log("first")
        coroutine.onFinish { log("second") }
      }
      try coroutine.join()
    }
    #expect(log.entries == ["first", "second"])
  }

  @Test func `one from elsewhere runs on the coroutine's scheduler, before who joins later`() throws
  {
    let log = Log()
    let loop = SerialScheduler(name: "hooked")
    let gate = Channel<Void>()
    let coroutine = launch(on: loop) {
      for _ in gate {}
      log("body ends")
    }
    // This thread is no scheduler's.
    coroutine.onFinish {
      log("hook on \(Scheduler.current), by a coroutine: \(Coroutine.current != nil)")
      launch { log("launched by the hook") }
    }
    coroutine.onFinish { log("second hook") }
    gate.close()
    try runBlocking {
      try coroutine.join()
      log("joined")
      // After what the hook has launched.
      try launch(on: loop) {}.join()
    }
    #expect(
      log.entries.filter { $0 != "launched by the hook" } == [
        "body ends", "hook on hooked, by a coroutine: false", "second hook", "joined",
      ]
    )
    #expect(log.entries.contains("launched by the hook"))
  }

  @Test func `those from another scheduler come after the coroutine's own`() throws {
    let log = Log()
    let loop = SerialScheduler(name: "hooked")
    let gate = Channel<Void>()
    let coroutine = launch(on: loop) {
      for _ in gate {}
      Coroutine.current?.onFinish { log("from here") }
    }
    try runBlocking {
      // From a loop's turn, but not its own loop's.
      coroutine.onFinish { log("from elsewhere") }
      gate.close()
      try coroutine.join()
    }
    #expect(log.entries == ["from here", "from elsewhere"])
  }

  @Test(arguments: [1, 3])
  func `each of many, registered while their coroutines begin and end elsewhere, runs once`(
    _ threads: Int
  ) throws {
    let pool = PoolScheduler(threads: threads)
    let runs = Counter()
    try runBlocking {
      for _ in 0..<2000 {
        let coroutine = launch(on: pool) {}
        coroutine.onFinish { runs.add() }
        coroutine.onFinish { runs.add() }
        try coroutine.join()
      }
    }
    #expect(runs.value == 4000)
  }
}
