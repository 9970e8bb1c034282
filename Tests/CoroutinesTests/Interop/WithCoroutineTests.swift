// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

/// A coroutine awaited from a task.
@Suite struct WithCoroutineTests {
  @Test(arguments: Elsewhere.allCases)
  func `its value and its errors reach the task (rule 6)`(place: Elsewhere) async throws {
    let scheduler = place.schedulers(1)[0]
    let value = try await withCoroutine(on: scheduler) {
      try Coroutine.yield()
      return 4
    }
    #expect(value == 4)
    await #expect(throws: Failure(5)) {
      try await withCoroutine(on: scheduler) { throw Failure(5) }
    }
  }

  @Test func `it runs where it is told to, under its name`() async throws {
    let key = DispatchSpecificKey<Int>()
    let queue = DispatchQueue(label: "place")
    queue.setSpecific(key: key, value: 3)
    let (place, name) = try await withCoroutine(on: .queue(queue), name: "worker") {
      (DispatchQueue.getSpecific(key: key), Coroutine.current?.name)
    }
    #expect(place == 3)
    #expect(name == "worker")
  }

  @Test func `cancelling the task cancels the coroutine and waits for its end`() async throws {
    let started = Promise<Void>()
    let log = SharedLog<String>()
    let task = Task {
      try await withCoroutine(on: SerialScheduler()) {
        defer { log.add("unwound") }
        started.fulfill(())
        _ = try Channel<Int>().receive()
      }
    }
    try await started.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(log.entries == ["unwound"])
  }

  @Test func `cancelling waits for a shielded goodbye`() async throws {
    let started = Promise<Void>()
    let goodbye = Channel<Int>()
    let log = SharedLog<String>()
    let task = Task {
      defer { log.add("task") }
      try await withCoroutine(on: SerialScheduler()) {
        defer {
          try? withCancellationShield { _ = try goodbye.receive() }
          log.add("coroutine")
        }
        started.fulfill(())
        _ = try Channel<Int>().receive()
      }
    }
    try await started.value()
    task.cancel()
    try await goodbye.send(1)
    _ = await task.result
    #expect(log.entries == ["coroutine", "task"])
  }

  @Test func `in a cancelled task the body does not run`() async throws {
    let runs = Tally()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) {
        try await withCoroutine { _ = runs.add() }
      }
    }
    await task.value
    #expect(runs.value == 0)
  }

  @Test func `a coroutine that has returned a value all the same gives it to a cancelled task`()
    async throws
  {
    let started = Promise<Void>()
    let task = Task {
      try await withCoroutine(on: SerialScheduler()) {
        started.fulfill(())
        while !Coroutine.isCancelled { spinWait() }
        return 6
      }
    }
    try await started.value()
    task.cancel()
    try #expect(await task.value == 6)
  }

  @Test func `cancellation flows from task to coroutine to task`() async throws {
    let started = Promise<Void>()
    let inner = Promise<Bool>()
    let task = Task {
      try await withCoroutine(on: SerialScheduler()) {
        try awaitTask {
          started.fulfill(())
          try? await Task.sleep(for: .seconds(1_000))
          inner.fulfill(Task.isCancelled)
        }
      }
    }
    try await started.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try #expect(await inner.value())
  }

  @Test func `tasks and coroutines nest many levels deep`() async throws {
    @Sendable func descend(_ depth: Int) async throws -> Int {
      if depth == 0 { return 0 }
      return try await withCoroutine { try awaitTask { try await descend(depth - 1) } + 1 }
    }
    try #expect(await descend(50) == 50)
  }

  @Test func `a task joins, reads and cancels a coroutine`() async throws {
    let gate = Channel<Int>()
    let coroutine = launch(on: SerialScheduler()) { try gate.receive() }
    try await gate.send(8)
    try await coroutine.join()
    try #expect(await coroutine.value() == 8)
    let waiting = launch(on: SerialScheduler()) { try gate.receive() }
    try await waiting.cancelAndJoin()
    #expect(waiting.error is CancellationError)
  }

  @Test func `a cancelled task stops waiting for a value, and the coroutine goes on`() async throws
  {
    let gate = Channel<Int>()
    let coroutine = launch(on: SerialScheduler()) { try gate.receive() }
    let task = Task { try await coroutine.value() }
    await Task.yield()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await gate.send(2)
    try #expect(await coroutine.value() == 2)
  }
}
