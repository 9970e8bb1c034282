// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CSingleStep
import CoroutineTestSupport
import Coroutines
import Testing

/// Threads that are looked at by signals.
@Suite(.timeLimit(.minutes(30))) struct ThreadSightTests {
  #if os(Linux) && arch(x86_64)
  /// The signal may come between any two instructions, so it comes between all.
  ///
  /// Within a switch the registers are of two stacks, and before a new stack's first instruction of none.
  @Test(.disabled(if: cck_is_instrumented() != 0, "steps are of the program's instructions only"))
  func `a thread can be looked at between any two instructions`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        let channel = Channel<Int>()
        func round() throws {
          try withCoroutineScope { scope in
            scope.launch { try Coroutine.yield() }
            scope.launch(start: .immediately) { try channel.send(1) }
            scope.launch { _ = try channel.receive() }
          }
          for _ in Generator<Int>({ yield in try yield(1) }) {}
          try Coroutine.sleep(for: .microseconds(1))
        }
        // What is done once in a process takes long, step by step.
        try round()
        #expect(css_begin() == 0)
        try round()
        let tally = css_end()
        #expect(tally.looks > 10_000)
        #expect(tally.empty == 0)
        // Two of each switch, of which there are more.
        #expect(tally.midway > 20)
      }
    }
  }
  #endif

  @Test(.disabled(if: cck_is_instrumented() != 0, "ThreadSanitizer keeps signals back"))
  func `a busy thread can be looked at from another`() async {
    await #expect(processExitsWith: .success) {
      let number = Promise<Int32>()
      let isOver = Cell(false)
      let busy = launch(on: SerialScheduler()) {
        number.fulfill(cck_thread_number())
        while isOver.value == false {
          try withCoroutineScope { scope in
            for _ in 0..<10 { scope.launch { try Coroutine.yield() } }
          }
        }
      }
      try blocking {
        let thread = try number.await()
        var sight = cck_sight_t()
        var seen = 0
        for _ in 0..<1000 where cck_frames_of_thread(thread, 10_000_000_000, &sight) == 0 {
          seen += sight.count > 0 ? 1 : 0
        }
        isOver.value = true
        try busy.join()
        #if os(Linux) && (arch(x86_64) || arch(arm64))
        #expect(seen == 1000)
        #endif
      }
    }
  }
}
