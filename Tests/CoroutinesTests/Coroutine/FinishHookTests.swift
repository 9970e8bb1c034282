// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
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

  @Test(arguments: Place.allCases)
  func `hooks run before those who have waited longer`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let gate = Channel<Void>()
      let coroutine = launch { for _ in gate {} }
      let joiners = (1...3).map { number in
        launch {
          try coroutine.join()
          log("joined \(number)")
        }
      }
      while joiners.contains(where: { $0.state != .suspended }) { try Coroutine.yield() }
      coroutine.onFinish { log("hook") }
      gate.close()
      for joiner in joiners { try joiner.join() }
    }
    #expect(log.entries == ["hook", "joined 1", "joined 2", "joined 3"])
  }

  @Test(arguments: Place.allCases)
  func `a hook finds the coroutine finished, and its error`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let coroutine = launch {
        try Coroutine.yield()
        throw Problem(7)
      }
      coroutine.onFinish {
        let error = coroutine.error as? Problem
        log("\(coroutine.isFinished) \(coroutine.state) \(error == Problem(7))")
      }
      try coroutine.join()
    }
    #expect(log.entries == ["true finished true"])
  }

  @Test func `a hook may unlock what its coroutine has locked, whoever comes meanwhile`() throws {
    let mutex = CoroutineMutex()
    let goesOn = DispatchSemaphore(value: 0)
    let holder = launch(on: SerialScheduler(name: "holds")) {
      try mutex.lock()
      Coroutine.current?.onFinish {
        // Holds the loop up until the other waits.
        goesOn.wait()
        mutex.unlock()
      }
    }
    try runBlocking {
      while !holder.isFinished { try Coroutine.yield() }
      let other = launch { try mutex.withLock {} }
      while other.state == .ready || other.state == .running { try Coroutine.yield() }
      goesOn.signal()
      try other.value()
    }
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

  /// Registers a hook when it goes.
  private final class Leaver: Sendable {
    let target = Cell<Coroutine>()
    let log: Log

    init(_ log: Log) { self.log = log }

    deinit { target.value?.onFinish { [log] in log("hook") } }
  }

  @Test func `one registered by a value that ends with the coroutine is called, too (K2)`() throws {
    let log = Log()
    let local = CoroutineLocal<Leaver?>(nil)
    try runBlocking {
      let coroutine = try local.withValue(Leaver(log)) {
        let coroutine = launch { try Coroutine.yield() }
        local.value?.target.value = coroutine
        return coroutine
      }
      try coroutine.join()
      log("joined")
    }
    #expect(log.entries == ["hook", "joined"])
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

  @Test func `many from elsewhere run in their order`() throws {
    let log = Log()
    let loop = SerialScheduler(name: "hooked")
    let gate = Channel<Void>()
    let coroutine = launch(on: loop) { for _ in gate {} }
    for number in 1...50 { coroutine.onFinish { log("\(number)") } }
    gate.close()
    try runBlocking { try coroutine.join() }
    #expect(log.entries == (1...50).map { "\($0)" })
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
