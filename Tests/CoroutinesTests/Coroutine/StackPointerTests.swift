// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Testing

/// Stacks stay where they are while their coroutines wait, and serve one coroutine after the other.
@Suite(.timeLimit(.minutes(30))) struct StackPointerTests {
  /// Numbers on some coroutine's stack.
  private struct Numbers: @unchecked Sendable {
    // SAFETY: the owner waits while another coroutine of its scheduler uses them.
    let pointer: UnsafeMutablePointer<Int>
  }

  /// Uses as much of the caller's stack as may lie below an owner's numbers.
  @inline(never)
  private static func dive(_ depth: Int) -> Int {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 64) { buffer in
      buffer.initialize(repeating: depth)
      return depth == 0 ? 0 : dive(depth - 1) + buffer[depth % 64]
    }
  }

  @Test(arguments: Place.allCases)
  func `what lies on a waiting coroutine's stack can be read and written by others (3.5-s1)`(
    _ place: Place
  ) throws {
    let sums = try place.run {
      let requests = Channel<Numbers>()
      let owners = (0..<20).map { number in
        launch {
          try withUnsafeTemporaryAllocation(of: Int.self, capacity: 16) { buffer in
            let pointer = try #require(buffer.baseAddress)
            // On the stack, or the test shows nothing. (Sanitizers move such memory to the heap.)
            let distance = abs(Int(bitPattern: pointer) - Int(bitPattern: cck_context_frame()))
            #expect(distance < 256 << 10 || cck_is_instrumented() != 0)
            buffer.initialize(repeating: number)
            for _ in 0..<5 {
              _ = Self.dive(50)
              try requests.send(Numbers(pointer: pointer))
              try Coroutine.yield()
            }
            return buffer.reduce(0, +)
          }
        }
      }
      let writer = launch {
        for numbers in requests {
          _ = Self.dive(50)
          for index in 0..<16 { numbers.pointer[index] += 1 }
        }
      }
      let sums = try owners.map { try $0.value() }
      requests.close()
      try writer.value()
      return sums
    }
    #expect(sums == (0..<20).map { 16 * ($0 + 5) })
  }

  @Test func `a hundred thousand coroutines in turn need a handful of stacks (3.4-5)`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        try launch {}.join()
        let before = cck_stack_statistics()
        for index in 0..<100_000 {
          let coroutine = launch { if index % 2 == 0 { try Coroutine.yield() } }
          try coroutine.join()
        }
        let after = cck_stack_statistics()
        #expect(after.slots_made - before.slots_made <= 8)
        #expect(after.bytes_mapped == before.bytes_mapped)
      }
    }
  }
}
