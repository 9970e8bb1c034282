// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

#if os(Linux)
import Glibc
#endif

@Suite struct StackSizeTests {
  @Test(arguments: [
    (1, 16), (16, 16), (17, 32), (64, 64), (65, 128), (256, 256), (1000, 1024), (524_288, 524_288),
  ])
  func `sizes are rounded up to a power of two`(_ kibibytes: Int, _ rounded: Int) {
    #expect(StackSize.kibibytes(kibibytes).byteCount == rounded << 10)
    #expect(StackSize.bytes(kibibytes << 10) == .kibibytes(kibibytes))
  }

  @Test func `the named sizes are 64 and 256 KiB`() {
    #expect(StackSize.small.byteCount == 64 << 10)
    #if os(Linux)
    #expect(StackSize.default.byteCount == 256 << 10)
    #endif
  }

  @Test(arguments: [StackSize.kibibytes(64), .kibibytes(256), .kibibytes(1024), .kibibytes(8192)])
  func `a coroutine can use the stack that it asked for (3.4-12)`(_ size: StackSize) throws {
    let levels = levels(in: size)
    let reached = try runBlocking {
      try launch(stackSize: size) { descend(levels) }.value()
    }
    #expect(reached == levels)
  }

  @Test func `runBlocking's own body gets the size asked for`() throws {
    let levels = levels(in: .kibibytes(4096))
    #expect(try runBlocking(stackSize: .kibibytes(4096)) { descend(levels) } == levels)
  }

  @Test(arguments: [0, -1, Int.min, (512 << 20) + 1, Int.max])
  func `an absurd number of bytes stops the program (rule 12)`(_ count: Int) async {
    await #expect(processExitsWith: .failure) { [count] in
      _ = StackSize.bytes(count)
    }
  }

  @Test(arguments: [0, -1, 524_289, Int.max])
  func `an absurd number of kibibytes stops the program (rule 12)`(_ count: Int) async {
    await #expect(processExitsWith: .failure) { [count] in
      _ = StackSize.kibibytes(count)
    }
  }

  @Test func `the message names the size and the largest possible one`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = StackSize.bytes(1 << 40)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("1099511627776 bytes"))
    #expect(text.contains("512 MiB"))
  }

  // MARK: - No memory

  @Test func `without memory for its stack a coroutine ends with an error, others go on`() async {
    await #expect(processExitsWith: .success) {
      let schedulers: [Scheduler] = [SerialScheduler(), .queue(DispatchQueue(label: "test"))]
      try blocking {
        for scheduler in [Scheduler.current] + schedulers {
          // The others have their stacks before memory runs out.
          let gate = Gate()
          let others = (0..<10).map { index in
            launch(on: scheduler) {
              try gate.wait()
              return index
            }
          }
          try launch(on: scheduler) { try Coroutine.yield() }.join()
          cck_stack_fail_next(2)
          let runs = Counter()
          let starved = [
            launch(on: scheduler, stackSize: .kibibytes(32 << 10)) { runs.add() },
            launch(on: scheduler, stackSize: .kibibytes(64 << 10)) { runs.add() },
          ]
          for coroutine in starved {
            #expect(throws: CoroutineError.noMemoryForStack) { try coroutine.value() }
            #expect("\(coroutine.error as Any)".contains("launch(stackSize: .small)"))
          }
          #expect(runs.value == 0)
          gate.open()
          #expect(try others.map { try $0.value() } == Array(0..<10))
          // And with memory back, so are coroutines.
          #expect(try launch(on: scheduler, stackSize: .kibibytes(16 << 10)) { 1 }.value() == 1)
        }
      }
    }
  }

  #if os(Linux)
  /// A sanitizer's own memory takes more address space than any limit leaves.
  @Test(.enabled(if: cck_is_instrumented() == 0), .timeLimit(.minutes(30)))
  func `without address space for more stacks, those that have one go on unharmed`() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      limit.rlim_cur = 3 << 30
      let status = setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      #expect(status == 0)
      try blocking {
        let gate = Gate()
        let coroutines = (0..<40_000).map { index in
          launch {
            try gate.wait()
            return index
          }
        }
        try Coroutine.yield()
        gate.open()
        var (ran, starved) = (0, 0)
        for (index, coroutine) in coroutines.enumerated() {
          do {
            let value = try coroutine.value()
            #expect(value == index)
            ran += 1
          } catch CoroutineError.noMemoryForStack {
            starved += 1
          }
        }
        #expect(ran > 1000)
        #expect(starved > 1000)
        // Their stacks are free again.
        let after = try launch { 1 }.value()
        #expect(after == 1)
      }
    }
  }
  #endif

  @Test func `a starved coroutine fails its scope and wakes the joiners`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        #expect(throws: CoroutineError.noMemoryForStack) {
          try withCoroutineScope { scope in
            cck_stack_fail_next(1)
            scope.launch(stackSize: .kibibytes(32 << 10)) {}
            try waitForEver()
          }
        }
        return
      }
    }
  }

  @Test func `runBlocking without memory for its stack throws`() async {
    await #expect(processExitsWith: .success) {
      cck_stack_fail_next(1)
      #expect(throws: CoroutineError.noMemoryForStack) {
        try blocking(stackSize: .kibibytes(32 << 10)) {}
      }
      let value = try blocking { 1 }
      #expect(value == 1)
    }
  }
}

/// A depth of `descend` that uses a good part of the stack, and fits into it with room to spare for
/// the larger frames of instrumented builds.
private func levels(in size: StackSize) -> Int {
  (size.byteCount - (24 << 10)) / 5120
}

/// Goes so many levels deeper, each of which takes more than 1,024 bytes; returns how deep it went.
@inline(never)
private func descend(_ levels: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
    buffer[0] = 1
    return levels == 0 ? 0 : descend(levels - 1) + Int(buffer[0])
  }
}
