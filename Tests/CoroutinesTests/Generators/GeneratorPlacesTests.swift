// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch
import Testing

/// Where a generator can be used: everywhere.
@Suite struct GeneratorPlacesTests {
  /// A generator whose user changes threads, as the compiler cannot know to be safe.
  private final class Moved: @unchecked Sendable {
    // SAFETY: the tests use it from one thread at a time.
    let generator: Generator<Int>
    init(_ generator: Generator<Int>) { self.generator = generator }
  }

  private func count() -> Generator<Int> {
    Generator { yield in for value in 0... { try yield(value) } }
  }

  @Test func `on a plain thread`() async throws {
    let values = try await onThread { [self] in Array(count().prefix(5)) }
    #expect(values == [0, 1, 2, 3, 4])
  }

  @Test @MainActor func `on the main actor`() {
    #expect(Array(count().prefix(5)) == [0, 1, 2, 3, 4])
  }

  @Test func `on the main queue`() async {
    let values = await withCheckedContinuation { continuation in
      DispatchQueue.main.async { [self] in continuation.resume(returning: Array(count().prefix(5)))
      }
    }
    #expect(values == [0, 1, 2, 3, 4])
  }

  @Test func `on a dispatch queue`() {
    let values = DispatchQueue(label: "generator").sync { Array(count().prefix(5)) }
    #expect(values == [0, 1, 2, 3, 4])
  }

  @Test func `in a task, going on wherever the task goes on`() async {
    let generator = count()
    for value in 0..<200 {
      #expect(generator.next() == value)
      await Task.yield()
    }
  }

  @Test func `on one thread after the other`() async throws {
    let moved = try await onThread { [self] in Moved(count()) }
    for value in 0..<20 {
      try #expect(await onThread { moved.generator.next() } == value)
    }
    try await onThread { moved.generator.cancel() }
    try #expect(await onThread { moved.generator.next() } == nil)
  }

  @Test func `on several dispatch queues in turn`() async {
    // Not `sync`, which runs on the thread that calls it.
    func ask<Answer>(
      _ queue: DispatchQueue,
      _ work: @escaping @Sendable () -> Answer
    ) async -> Answer where Answer: Sendable {
      await withCheckedContinuation { answer in queue.async { answer.resume(returning: work()) } }
    }
    let queues = (0..<3).map { DispatchQueue(label: "turn \($0)") }
    let moved = await ask(queues[0]) { [self] in Moved(count()) }
    for value in 0..<300 {
      #expect(await ask(queues[value % 3]) { moved.generator.next() } == value)
    }
  }

  @Test func `moving between threads inside an exclusive access does not crash`() async {
    // In a process of its own. The record of an open access lies on the generator's stack and is in the
    // list of the thread that opened it: when another thread closed it, the runtime would not find it
    // there and crash.
    await #expect(processExitsWith: .success) {
      final class Store { var numbers: [Int] = [] }
      func add(_ numbers: inout [Int], _ yield: Generator<Int>.Yield) throws {
        numbers.append(numbers.count)
        try yield(numbers.count)
      }
      let moved = Moved(
        Generator { yield in
          let store = Store()
          while true { try add(&store.numbers, yield) }
        }
      )
      for value in 0..<100 {
        let next = try await onThread { moved.generator.next() }
        precondition(next == value + 1)
      }
      try await onThread { moved.generator.cancel() }
    }
  }

  @Test func `in a coroutine, whose body may park`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let steps = Steps<String>()
      let doubled = Generator<Int> { yield in
        for value in channel { try yield(value * 2) }
      }
      launch {
        for value in 1...3 {
          steps.add("send \(value)")
          try channel.send(value)
        }
        channel.close()
      }
      for value in doubled { steps.add("got \(value)") }
      #expect(steps.entries.filter { $0.hasPrefix("got") } == ["got 2", "got 4", "got 6"])
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `on every scheduler, with bodies that park`(place: Elsewhere) throws {
    try runBlocking {
      let schedulers = place.schedulers(3)
      let sums = (0..<12).map { index in
        launch(on: schedulers[index % 3]) {
          let generator = Generator<Int> { yield in
            for value in 0..<50 {
              if value % 7 == 0 { try Coroutine.yield() }
              if value % 20 == 0 { try Coroutine.sleep(for: .microseconds(50)) }
              try yield(value)
            }
          }
          var sum = 0
          for value in generator {
            sum += value
            if value % 5 == 0 { try Coroutine.yield() }
          }
          return sum
        }
      }
      for sum in sums { try #expect(sum.value() == 1_225) }
    }
  }

  @Test func `a coroutine that is cancelled while its generator's body parks unwinds both`() throws
  {
    try runBlocking {
      let steps = Steps<String>()
      let coroutine = launch {
        let generator = Generator<Int> { yield in
          defer { steps.add("body") }
          try yield(1)
          try Channel<Int>().send(1)
        }
        defer { steps.add("user") }
        _ = generator.next()
        if generator.next() == nil { steps.add("\(generator.error is CancellationError)") }
      }
      try letOthersRun()
      #expect(coroutine.state == .suspended)
      try coroutine.cancelAndJoin()
      #expect(steps.entries == ["body", "true", "user"])
    }
  }

  @Test func `coroutines of one loop may take turns with a generator`() throws {
    try runBlocking {
      let generator = count()
      let takers = (0..<3).map { _ in
        launch {
          var values: [Int] = []
          for _ in 0..<5 {
            values.append(generator.next() ?? -1)
            try Coroutine.yield()
          }
          return values
        }
      }
      let values = try takers.map { try $0.value() }
      #expect(values == [[0, 3, 6, 9, 12], [1, 4, 7, 10, 13], [2, 5, 8, 11, 14]])
    }
  }
}
