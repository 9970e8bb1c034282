// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines
import Testing

/// Rule 12: misuse stops the program with a text that says what to do.
@Suite struct GeneratorMisuseTests {
  private final class Holder: @unchecked Sendable {
    // SAFETY: used by one thread at a time.
    var generator: Generator<Int>?
  }

  @Test func `a generator that asks itself for a value stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      let holder = Holder()
      holder.generator = Generator { yield in
        try yield(1)
        _ = holder.generator?.next()
      }
      _ = holder.generator?.next()
      _ = holder.generator?.next()
    }
    #expect(result.text.contains("asked for a value by its own body"))
    #expect(result.text.contains("take the value from another generator"))
  }

  @Test func `a two-way generator that asks itself throws (rule 12)`() throws {
    final class Holder { var generator: TwoWayGenerator<Int, Int, Void>? }
    let holder = Holder()
    holder.generator = TwoWayGenerator { _ in _ = try holder.generator?.return(()) }
    #expect(throws: GeneratorError.alreadyRunning) { _ = try holder.generator?.next() }
    #expect(holder.generator?.isFinished == true)
    holder.generator = nil
  }

  @Test func `a pinned generator on another thread stops the program (rule 12)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      let holder = Holder()
      let scheduler = SerialScheduler()
      try await withCoroutine(on: scheduler) {
        holder.generator = Generator { yield in for value in 0... { try yield(value) } }
        _ = holder.generator?.next()
      }
      _ = try await onThread { holder.generator?.next() }
      withExtendedLifetime(scheduler) {}
    }
    #expect(result.text.contains("was used on another thread"))
    #expect(result.text.contains("Use it where it started"))
  }

  @Test func `a yield on another thread throws, and the generator goes on (rule 12)`() async throws
  {
    final class Keeper: @unchecked Sendable {
      // SAFETY: used by one thread at a time.
      var yield: Generator<Int>.Yield?
      var generator: Generator<Int>?
    }
    let keeper = Keeper()
    try await onThread {
      keeper.generator = Generator { yield in
        keeper.yield = yield
        try yield(1)
        try yield(2)
      }
      #expect(keeper.generator?.next() == 1)
    }
    try await onThread {
      #expect(throws: GeneratorError.yieldedElsewhere) { try keeper.yield?(9) }
    }
    try await onThread {
      #expect(keeper.generator?.next() == 2)
      keeper.generator = nil
    }
  }
}
