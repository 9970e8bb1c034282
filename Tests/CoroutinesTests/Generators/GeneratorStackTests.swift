// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Testing

/// Stacks are given back.
///
/// In processes of their own, because the count is the process's.
@Suite struct GeneratorStackTests {
  @Test func `a hundred thousand generators in turn need a handful of stacks`() async {
    await #expect(processExitsWith: .success) {
      let before = cck_stack_statistics().slots_made
      var sum = 0
      for index in 0..<100_000 {
        let generator = Generator<Int> { yield in for value in 0..<3 { try yield(value) } }
        switch index % 4 {
        case 0: for value in generator { sum += value }
        case 1: sum += generator.next() ?? 0
        case 2: for value in generator where value == 1 { break }
        default: break
        }
      }
      let made = cck_stack_statistics().slots_made - before
      precondition(made <= 64, "\(made) stacks were made")
    }
  }

  @Test func `many generators at once get a stack each, and give it back`() async {
    await #expect(processExitsWith: .success) {
      func round() -> Int {
        let generators = (0..<2_000).map { index in
          Generator<Int> { yield in for value in index... { try yield(value) } }
        }
        precondition(generators.map { $0.next() } == Array(0..<2_000))
        precondition(generators.map { $0.next() } == Array(1..<2_001))
        return cck_stack_statistics().slots_made
      }
      let first = round()
      for _ in 0..<5 { precondition(round() == first, "stacks leak") }
    }
  }

  @Test func `a generator that ends on another thread gives its stack back there`() async {
    await #expect(processExitsWith: .success) {
      final class Holder: @unchecked Sendable {
        // SAFETY: used by one thread at a time.
        var generator: Generator<Int>?
      }
      var after = 0
      for index in 0..<200 {
        let holder = Holder()
        // One after the other: a thread that has not ended may have the stack still.
        Joinable {
          holder.generator = Generator { yield in for value in 0... { try yield(value) } }
          _ = holder.generator?.next()
        }
        .join()
        Joinable { holder.generator = nil }.join()
        if index == 20 { after = cck_stack_statistics().slots_made }
      }
      precondition(cck_stack_statistics().slots_made == after, "stacks leak")
    }
  }
}
