// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct CoroutineOnceTests {
  @Test(arguments: Elsewhere.allCases)
  func `it is made once, and all get the same`(place: Elsewhere) throws {
    let once = CoroutineOnce<Int>()
    let calls = Tally()
    try runBlocking {
      let schedulers = place.schedulers(3)
      let users = (0..<12).map { index in
        launch(on: schedulers[index % 3]) {
          try once.value {
            try Coroutine.yield()
            return calls.add()
          }
        }
      }
      for user in users { try #expect(user.value() == 1) }
    }
    #expect(calls.value == 1)
    #expect(once.valueIfReady == 1)
  }

  @Test func `an error goes to its maker; the next in line makes it (rule 13)`() throws {
    try runBlocking {
      let once = CoroutineOnce<String>()
      let first = launch {
        try once.value {
          try Coroutine.yield()
          throw Failure(1)
        }
      }
      let second = launch { try once.value { "second" } }
      let third = launch { try once.value { "third" } }
      #expect(throws: Failure(1)) { try first.value() }
      try #expect(second.value() == "second")
      try #expect(third.value() == "second")
    }
  }

  @Test func `a maker that is cancelled leaves it to the next (rule 3)`() throws {
    try runBlocking {
      let once = CoroutineOnce<Int>()
      let maker = launch {
        try once.value {
          try waitForEver()
          return 1
        }
      }
      let next = launch { try once.value { 2 } }
      try letOthersRun()
      #expect(once.valueIfReady == nil)
      maker.cancel()
      try #expect(next.value() == 2)
      #expect(throws: CancellationError.self) { try maker.value() }
    }
  }

  @Test func `one who waits and is cancelled does not disturb the maker (rule 3)`() throws {
    try runBlocking {
      let once = CoroutineOnce<Int>()
      let gate = Gate()
      let maker = launch {
        try once.value {
          try gate.wait()
          return 1
        }
      }
      let other = launch { try once.value { 2 } }
      try letOthersRun()
      try other.cancelAndJoin()
      #expect(other.error is CancellationError)
      gate.open()
      try #expect(maker.value() == 1)
    }
  }

  @Test func `a value that asks for itself is an error (rule 12)`() throws {
    try runBlocking {
      let once = CoroutineOnce<Int>()
      #expect(throws: SynchronizationError.heldByCaller) {
        try once.value { try once.value { 1 } }
      }
      try #expect(once.value { 3 } == 3)
    }
  }

  @Test func `it is a park point even when made, and refused outside coroutines (rule 2)`() throws {
    try runBlocking {
      let once = CoroutineOnce<Int>()
      try #expect(once.value { 1 } == 1)
      try launch {
        Coroutine.current?.cancel()
        #expect(throws: CancellationError.self) { try once.value { 2 } }
      }.value()
      onPlainThread {
        #expect(throws: CoroutineError.outsideCoroutine) { try once.value { 2 } }
        #expect(once.valueIfReady == 1)
      }
    }
  }

  @Test func `what is made goes away with it`() throws {
    let census = Census()
    try runBlocking {
      let once = CoroutineOnce<Counted>()
      _ = try once.value { Counted(1, census) }
      #expect(census.alive == 1)
    }
    #expect(census.alive == 0)
  }
}
