// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// Recurses until the stack is used up.
@inline(never)
private func recurse(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { buffer in
    buffer[0] = UInt8(truncatingIfNeeded: depth)
    return recurse(depth + 1) + Int(buffer[0])
  }
}

@Suite struct OverflowTests {
  private func expectReport(_ text: String, size: Int) {
    #expect(text.contains("stack overflow in coroutine #"))
    #expect(text.contains("\"runaway\""))
    #expect(text.contains("\nIt was launched at CoroutinesTests/OverflowTests.swift:"))
    #expect(text.contains("all \(size) KiB of its stack"))
    #expect(text.contains("launch(stackSize: .kibibytes(\(size * 4)))"))
  }

  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `an overflow under runBlocking names the coroutine, its size and the fix`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        _ = try launch(name: "runaway") { recurse(0) }.value()
      }
    }
    expectReport(text(result), size: 256)
  }

  @Test func `an overflow on a serial scheduler's thread is reported as well`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        _ = try launch(on: SerialScheduler(), name: "runaway", stackSize: .small) { recurse(0) }
          .value()
      }
    }
    expectReport(text(result), size: 64)
  }

  @Test func `an overflow on a dispatch queue is reported as well (3.4-5)`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        let queue = DispatchQueue(label: "test")
        _ = try launch(on: queue, name: "runaway", stackSize: .kibibytes(512)) { recurse(0) }
          .value()
      }
    }
    expectReport(text(result), size: 512)
  }

  @Test func `an overflow on a stack that another coroutine used before names the new one`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        for _ in 0..<10 { try launch(name: "innocent") {}.join() }
        _ = try launch(name: "runaway") { recurse(0) }.value()
      }
    }
    expectReport(text(result), size: 256)
    #expect(!text(result).contains("innocent"))
  }

  @Test func `a nameless coroutine is reported by its number`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        try launch(name: "innocent") {}.join()
        _ = try launch { recurse(0) }.value()
      }
    }
    #expect(text(result).contains("stack overflow in coroutine #"))
    #expect(!text(result).contains("innocent"))
  }

  @Test func `a bad pointer in a coroutine is not called an overflow`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        UnsafeMutableRawPointer(bitPattern: 0x10)?.storeBytes(of: 1, as: UInt8.self)
      }
    }
    #expect(!text(result).contains("stack overflow"))
  }
}
