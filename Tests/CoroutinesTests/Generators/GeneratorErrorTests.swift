// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation
import Testing

@Suite(.serialized) struct GeneratorErrorTests {
  @Test func `what the body throws ends the sequence and is in error`() {
    let generator = Generator<Int> { yield in
      try yield(1)
      throw Failure(2)
    }
    #expect(generator.error == nil)
    #expect(Array(generator) == [1])
    #expect(generator.error as? Failure == Failure(2))
    #expect(generator.next() == nil)
  }

  @Test func `a normal end and cancellation leave no failure to report`() {
    let generator = Generator<Int> { yield in try yield(1) }
    _ = Array(generator)
    #expect(generator.error == nil)
    let cancelled = Generator<Int> { yield in try yield(1) }
    _ = cancelled.next()
    cancelled.cancel()
    #expect(cancelled.error is CancellationError)
  }

  @Test func `an error that nobody looks at goes to the handler (rule 6)`() async {
    // In a process of its own: the handler belongs to the whole process.
    await #expect(processExitsWith: .exitCode(7)) {
      let reports = Tally()
      Coroutine.unobservedErrorHandler = { report in
        let text = "\(report)"
        if report.error as? Failure == Failure(3), text.contains("Generator<Int>") { reports.add() }
      }
      do {
        let generator = Generator<Int> { _ in throw Failure(3) }
        _ = generator.next()
      }
      exit(reports.value == 1 ? 7 : 1)
    }
  }

  @Test func `an error that was looked at does not go to the handler`() async {
    await #expect(processExitsWith: .exitCode(7)) {
      Coroutine.unobservedErrorHandler = { _ in exit(1) }
      do {
        let generator = Generator<Int> { _ in throw Failure(3) }
        _ = generator.next()
        _ = generator.error
        let dropped = Generator<Int> { yield in try yield(1) }
        _ = dropped.next()
      }
      exit(7)
    }
  }

  @Test func `a yield that was kept for later throws finished (rule 12)`() {
    final class Keeper { var yield: Generator<Int>.Yield? }
    let keeper = Keeper()
    let generator = Generator<Int> { yield in
      keeper.yield = yield
      try yield(1)
    }
    #expect(Array(generator) == [1])
    #expect(throws: GeneratorError.finished) { try keeper.yield?(2) }
    #expect("\(GeneratorError.finished)".contains("Do not keep the yield closure"))
  }

  @Test func `a yield by the generator's user throws (rule 12)`() {
    final class Keeper { var yield: Generator<Int>.Yield? }
    let keeper = Keeper()
    let generator = Generator<Int> { yield in
      keeper.yield = yield
      try yield(1)
      try yield(2)
    }
    #expect(generator.next() == 1)
    #expect(throws: GeneratorError.yieldedElsewhere) { try keeper.yield?(9) }
    #expect(generator.next() == 2)
    #expect("\(GeneratorError.yieldedElsewhere)".contains("use a Channel between coroutines"))
  }

  @Test func `a yield by another coroutine throws (rule 12)`() throws {
    try runBlocking {
      let generator = Generator<Int> { yield in
        let other = launch { try yield(9) }
        #expect(throws: GeneratorError.yieldedElsewhere) { try other.value() }
        try yield(1)
      }
      #expect(Array(generator) == [1])
    }
  }
}
