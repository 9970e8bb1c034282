// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite struct ShieldTests {
  @Test(arguments: Place.allCases)
  func `shielded code waits in spite of cancellation, and no longer after it (rule 2)`(
    _ place: Place
  ) throws {
    let log = Log()
    try place.run {
      let gate = Gate()
      let coroutine = launch {
        try withCancellationShield {
          log("isCancelled: \(Coroutine.isCancelled)")
          try gate.wait()
          log("isCancelled: \(Coroutine.isCancelled)")
          try Coroutine.checkCancellation()
          try Coroutine.sleep(for: .microseconds(1))
        }
        log("isCancelled: \(Coroutine.isCancelled)")
        try Coroutine.yield()
        log("not reached")
      }
      try Coroutine.yield()
      coroutine.cancel()
      #expect(coroutine.isCancelled)
      #expect(coroutine.state == .suspended)
      gate.open()
      try coroutine.join()
      #expect(coroutine.error is CancellationError)
    }
    #expect(log.entries == ["isCancelled: false", "isCancelled: false", "isCancelled: true"])
  }

  @Test func `cleaning up in cancelled code can wait inside a shield`() throws {
    let log = Log()
    try runBlocking {
      let coroutine = launch {
        do {
          try waitForEver()
        } catch {
          try withCancellationShield {
            try Coroutine.sleep(for: .microseconds(10))
            log("said goodbye")
          }
          throw error
        }
      }
      try Coroutine.yield()
      try coroutine.cancelAndJoin()
      #expect(coroutine.error is CancellationError)
    }
    #expect(log.entries == ["said goodbye"])
  }

  @Test func `a timeout inside a shield works`() throws {
    try runBlocking {
      Coroutine.current?.cancel()
      let ending = Ending {
        try withCancellationShield {
          try withTimeout(.milliseconds(1)) { try waitForEver() }
        }
      }
      #expect(ending == .timedOut)
      #expect(Ending { try Coroutine.yield() } == .cancelled)
    }
  }

  @Test func `a timeout around a shield waits for it`() throws {
    try runBlocking {
      let gate = Gate()
      let log = Log()
      launch {
        try Coroutine.sleep(for: .milliseconds(3))
        log("opens")
        gate.open()
      }
      let ending = Ending {
        try withTimeout(.milliseconds(1)) {
          try withCancellationShield { try gate.wait() }
          log("leaves the shield")
          try Coroutine.yield()
        }
      }
      #expect(ending == .timedOut)
      #expect(log.entries == ["opens", "leaves the shield"])
    }
  }

  @Test func `shields nest`() throws {
    try runBlocking {
      let endings = Cell<[Ending]>()
      let coroutine = launch {
        Coroutine.current?.cancel()
        var all: [Ending] = []
        try withCancellationShield {
          try withCancellationShield { all.append(Ending { try Coroutine.yield() }) }
          all.append(Ending { try Coroutine.yield() })
        }
        all.append(Ending { try Coroutine.yield() })
        endings.value = all
      }
      try coroutine.join()
      #expect(endings.value == [.returned, .returned, .cancelled])
    }
  }

  @Test func `children launched in a shield are spared while it lasts`() throws {
    try runBlocking {
      let gate = Gate()
      let spared = Counter()
      let coroutine = launch {
        try withCancellationShield {
          let child = launch {
            try gate.wait()
            spared.add()
          }
          try child.join()
        }
      }
      try Coroutine.yield()
      coroutine.cancel()
      try Coroutine.yield()
      gate.open()
      try coroutine.join()
      #expect(spared.value == 1)
    }
  }

  @Test(arguments: [false, true])
  func `children that outlive a shield are cancelled with the code around it (rule 8)`(
    _ isRemote: Bool
  ) throws {
    try runBlocking {
      let children = Cell<[Coroutine]>()
      let coroutine = launch {
        Coroutine.current?.cancel()
        try withCancellationShield {
          children.value = [
            isRemote
              ? launch(on: SerialScheduler()) { try waitForEver() } : launch { try waitForEver() }
          ]
          try Coroutine.yield()
        }
      }
      try coroutine.join()
      for child in children.value ?? [] {
        try child.join()
        #expect(child.error is CancellationError)
      }
    }
  }

  /// The children were launched outside the limit that is over, by the coroutine or in an outer limit.
  @Test(arguments: [false, true], [false, true])
  func `leaving a shield when an inner limit is over spares the children further out (rule 8)`(
    _ isRemote: Bool,
    _ isInLimit: Bool
  ) throws {
    try runBlocking {
      let gate = Gate()
      func work() throws {
        let child =
          isRemote
          ? launch(on: SerialScheduler()) { try gate.wait() } : launch { try gate.wait() }
        #expect(throws: TimeoutError.self) {
          try withTimeout(.zero) {
            try withCancellationShield { try Coroutine.yield() }
            try Coroutine.yield()
          }
        }
        #expect(!child.isCancelled)
        gate.open()
        try child.value()
      }
      if isInLimit { try withTimeout(.seconds(600), work) } else { try work() }
    }
  }

  @Test func `a coroutine that is cancelled before its start does not enter its shield`() throws {
    try runBlocking {
      let runs = Counter()
      let coroutine = launch { try withCancellationShield { runs.add() } }
      coroutine.cancel()
      try coroutine.join()
      #expect(runs.value == 0)
    }
  }
}
