// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

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
  func `a coroutine can use its stack almost to the end`(_ size: StackSize) throws {
    let target = size.byteCount - (24 << 10)
    let used = try runBlocking {
      try launch(stackSize: size) {
        var here = 0
        return withUnsafePointer(to: &here) { start in
          descend(UInt(bitPattern: start), target)
        }
      }.value()
    }
    #expect(used >= target)
  }

  @Test func `runBlocking's own body gets the size asked for`() throws {
    let used = try runBlocking(stackSize: .kibibytes(4096)) {
      var here = 0
      return withUnsafePointer(to: &here) { descend(UInt(bitPattern: $0), 3 << 20) }
    }
    #expect(used >= 3 << 20)
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

/// Goes so many bytes deeper than `start`; returns how deep it went.
@inline(never)
private func descend(_ start: UInt, _ target: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { buffer in
    buffer[0] = 1
    let depth = Int(start) - Int(bitPattern: buffer.baseAddress)
    return depth >= target ? depth : max(depth, descend(start, target))
  }
}
