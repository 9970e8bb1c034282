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
}
