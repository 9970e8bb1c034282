// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// An `async` function awaited from a coroutine.
///
/// The tests are `async` themselves and block no thread
/// of the concurrency pool, on which the awaited functions run.
@Suite struct AwaitTaskTests {
  private static func double(_ value: Int) async throws -> Int {
    await Task.yield()
    if value < 0 { throw Failure(value) }
    return value * 2
  }

  @Test(arguments: Elsewhere.allCases)
  func `its value and its errors come back`(place: Elsewhere) async throws {
    try await withCoroutine(on: place.schedulers(1)[0]) {
      for value in 0..<50 {
        try #expect(awaitTask { try await Self.double(value) } == value * 2)
      }
      #expect(throws: Failure(-3)) { try awaitTask { try await Self.double(-3) } }
    }
  }

  @Test func `other coroutines run while one awaits`() async throws {
    let gate = Channel<Int>()
    let sum = try await withCoroutine(on: SerialScheduler()) {
      let awaiting = launch { try awaitTask { try await gate.receive() } }
      try letOthersRun()
      #expect(awaiting.state == .suspended)
      // If the thread were blocked, this would never be sent.
      try gate.send(4)
      return try awaiting.value()
    }
    #expect(sum == 4)
  }

  @Test func `a thousand coroutines on one thread await at the same time`() async throws {
    let arrived = Tally()
    let gate = Promise<Int>()
    let sum = try await withCoroutine(on: SerialScheduler()) {
      let all = (0..<1_000).map { index in
        launch(stackSize: .small) {
          try awaitTask {
            if arrived.add() == 1_000 { gate.fulfill(1) }
            return try await gate.value() + index
          }
        }
      }
      return try all.reduce(0) { try $0 + $1.value() }
    }
    #expect(sum == 1_000 + 999 * 1_000 / 2)
  }

  @Test func `cancelling the coroutine cancels the task and ends the wait`() async throws {
    let started = Promise<Void>()
    let ended = Promise<Bool>()
    let coroutine = launch(on: SerialScheduler()) {
      try awaitTask {
        started.fulfill(())
        await withTaskCancellationHandler {
          while !Task.isCancelled { await Task.yield() }
        } onCancel: {
        }
        ended.fulfill(Task.isCancelled)
      }
    }
    try await started.value()
    coroutine.cancel()
    await #expect(throws: CancellationError.self) { try await coroutine.value() }
    try #expect(await ended.value())
  }

  @Test func `a timeout cancels the task too`() async throws {
    let ended = Promise<Bool>()
    try await withCoroutine(on: SerialScheduler()) {
      _ = #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) {
          try awaitTask {
            try? await Task.sleep(for: .seconds(1_000))
            ended.fulfill(Task.isCancelled)
          }
        }
      }
    }
    try #expect(await ended.value())
  }

  @Test func `in cancelled code no task is started (rule 2)`() async throws {
    let started = Tally()
    try await withCoroutine {
      Coroutine.current?.cancel()
      _ = #expect(throws: CancellationError.self) { try awaitTask { _ = started.add() } }
    }
    #expect(started.value == 0)
  }

  @Test func `cancelling at any moment leaves no task behind`() async throws {
    let (began, ended) = (Tally(), Tally())
    let schedulers = Elsewhere.both.schedulers(2)
    for round in 0..<200 {
      let coroutine = launch(on: schedulers[round % 2]) {
        try awaitTask {
          began.add()
          defer { ended.add() }
          try await Task.sleep(for: .seconds(1_000))
        }
      }
      if round % 3 == 0 { await Task.yield() }
      coroutine.cancel()
      await #expect(throws: CancellationError.self) { try await coroutine.value() }
    }
    while ended.value < began.value { await Task.yield() }
  }

  @Test func `outside a coroutine it throws (rule 12)`() async throws {
    try await onThread {
      let error = #expect(throws: CoroutineError.outsideCoroutine) { try awaitTask { 1 } }
      #expect(error?.description.contains("awaitTask(_:)") == true)
    }
  }

  @Test func `values are released once`() async throws {
    let census = Census()
    try await withCoroutine {
      for value in 0..<20 {
        try #expect(awaitTask { Counted(value, census) }.number == value)
      }
    }
    while census.alive > 0 { await Task.yield() }
  }
}
