// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

@Suite struct JoinTests {
  @Test(arguments: Place.allCases)
  func `join returns when the other has ended`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let other = launch {
        try Coroutine.yield()
        log("ends")
      }
      try other.join()
      log("joined")
    }
    #expect(log.entries == ["ends", "joined"])
  }

  @Test(arguments: Place.allCases)
  func `joining a finished coroutine does not park`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let other = launch { 1 }
      try other.join()
      let bystander = launch { log("bystander") }
      try other.join()
      let value = try other.value()
      log("value \(value)")
      try bystander.join()
    }
    #expect(log.entries == ["value 1", "bystander"])
  }

  @Test func `join does not throw what the other threw, value does`() throws {
    try runBlocking {
      let other = launch { throw Problem(3) }
      try other.join()
      #expect(other.error as? Problem == Problem(3))
      #expect(throws: Problem(3)) { try other.value() }
      #expect(throws: Problem(3)) { try other.value() }
    }
  }

  @Test func `error is nil before the end and after a normal return`() throws {
    try runBlocking {
      let failing = launch { throw Problem(1) }
      let fine = launch {}
      #expect(failing.error == nil)
      try failing.join()
      try fine.join()
      #expect(fine.error == nil)
      #expect(failing.error as? Problem == Problem(1))
    }
  }

  @Test func `any number of coroutines get the value`() throws {
    try runBlocking {
      let gate = Gate()
      let other = launch {
        try gate.wait()
        return "value"
      }
      let joiners = (0..<100).map { _ in launch { try other.value() } }
      try Coroutine.yield()
      gate.open()
      #expect(try joiners.allSatisfy { try $0.value() == "value" })
    }
  }

  @Test(arguments: Place.allCases)
  func `coroutines of other schedulers can be joined`(_ place: Place) throws {
    let sum = try place.run {
      let serial = SerialScheduler()
      let queue = DispatchQueue(label: "joined")
      let first = launch(on: serial) {
        try Coroutine.yield()
        return 1
      }
      let second = launch(on: queue) {
        try Coroutine.sleep(for: .milliseconds(1))
        return 2
      }
      return try first.value() + second.value()
    }
    #expect(sum == 3)
  }

  @Test(arguments: Place.allCases)
  func `joining oneself is an error, not a hang (rule 12)`(_ place: Place) throws {
    #expect(throws: CoroutineError.joinsItself) {
      try place.run { try Coroutine.current?.join() }
    }
  }

  @Test(arguments: Place.allCases)
  func `a cancelled join leaves the joined coroutine alone (rule 3)`(_ place: Place) throws {
    let value = try place.run {
      let gate = Gate()
      let joined = launch {
        try gate.wait()
        return 5
      }
      let joiner = launch { try joined.join() }
      try Coroutine.yield()
      try joiner.cancelAndJoin()
      #expect(joiner.error is CancellationError)
      #expect(!joined.isFinished)
      #expect(!joined.isCancelled)
      gate.open()
      return try joined.value()
    }
    #expect(value == 5)
  }

  @Test(arguments: Place.allCases)
  func `cancelAndJoin returns once the other has unwound`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let other = launch {
        defer { log("unwound") }
        try waitForEver()
      }
      try Coroutine.yield()
      try other.cancelAndJoin()
      log("joined")
    }
    #expect(log.entries == ["unwound", "joined"])
  }

  @Test func `a coroutine of another scheduler is cancelled and joined`() throws {
    let unwound = Counter()
    try runBlocking {
      for scheduler in [SerialScheduler(), .queue(DispatchQueue(label: "test"))] {
        let started = Gate()
        let other = launch(on: scheduler) {
          defer { unwound.add() }
          started.open()
          try waitForEver()
        }
        try started.wait()
        try other.cancelAndJoin()
        #expect(other.error is CancellationError)
      }
    }
    #expect(unwound.value == 2)
  }

  // MARK: - From tasks

  @Test func `a task awaits a coroutine's value`() async throws {
    let coroutine = launch(on: SerialScheduler()) {
      try Coroutine.sleep(for: .milliseconds(1))
      return "value"
    }
    #expect(try await coroutine.value() == "value")
    #expect(try await coroutine.value() == "value")
  }

  @Test func `a task gets what the body threw`() async {
    let coroutine = launch(on: DispatchQueue(label: "test")) { throw Problem(4) }
    await #expect(throws: Problem(4)) { try await coroutine.value() }
  }

  @Test func `a cancelled task stops waiting and the coroutine goes on`() async throws {
    let gate = Gate()
    let coroutine = launch(on: SerialScheduler()) {
      try gate.wait()
      return 9
    }
    let task = Task { try await coroutine.value() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!coroutine.isFinished)
    gate.open()
    #expect(try await coroutine.value() == 9)
  }

  @Test func `a task cancels and joins`() async throws {
    let coroutine = launch(on: SerialScheduler()) { try waitForEver() }
    try await coroutine.cancelAndJoin()
    #expect(coroutine.error is CancellationError)
  }

  @Test func `tasks that are cancelled while the coroutine ends all end`() async throws {
    for round in 0..<200 {
      let gate = Gate()
      let coroutine = launch(on: DispatchQueue(label: "test")) {
        try gate.wait()
        return round
      }
      let tasks = (0..<4).map { _ in Task { try? await coroutine.value() } }
      gate.open()
      for task in tasks.dropFirst(2) { task.cancel() }
      for task in tasks.prefix(2) { #expect(await task.value == round) }
      for task in tasks.dropFirst(2) {
        let value = await task.value
        #expect(value == nil || value == round)
      }
    }
  }
}
