// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Testing

#if os(Linux)
import Glibc

/// What a process can run out of, in processes of their own.
///
/// No address space: `StackSizeTests`; no
/// threads: `NoThreadTests`; no descriptors in what uses some: `NoDescriptorTests`.
@Suite(.timeLimit(.minutes(30))) struct ExhaustionTests {
  /// The program itself has used up its mappings: there is none for another slab of stacks.
  ///
  /// A sanitizer's own allocator ends the process then.
  @Test(.enabled(if: cck_is_instrumented() == 0))
  func `without mappings for more stacks, those that have one go on unharmed`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        let gate = Gate()
        let early = (0..<100).map { index in
          launch {
            try gate.wait()
            return index
          }
        }
        try Coroutine.yield()
        let mappings = Mappings()
        let late = (0..<20_000).map { index in
          launch {
            try gate.wait()
            return index
          }
        }
        try Coroutine.yield()
        gate.open()
        for (index, coroutine) in early.enumerated() { try expect(coroutine.value(), is: index) }
        var (ran, starved) = (0, 0)
        for (index, coroutine) in late.enumerated() {
          do {
            try expect(coroutine.value(), is: index)
            ran += 1
          } catch CoroutineError.noMemoryForStack {
            starved += 1
          }
        }
        #expect(ran > 0)
        #expect(starved > 1000)
        mappings.giveBack()
        // There is room again.
        let more = (0..<2000).map { index in launch { index } }
        for (index, coroutine) in more.enumerated() { try expect(coroutine.value(), is: index) }
      }
    }
  }

  /// Protected pages as guards cost two mappings a stack: the library leaves the last ones to the
  /// program, and warns once.
  @Test(.enabled(if: cck_is_instrumented() == 0))
  func `40,000 coroutines with guards that cost mappings leave some to the program`() async {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardErrorContent]
    ) {
      cck_stack_limit_guard(UInt32(CCK_GUARD_PROTECT))
      try blocking {
        let gate = Gate()
        let coroutines = (0..<40_000).map { index in
          launch {
            try gate.wait()
            return index
          }
        }
        try Coroutine.yield()
        #expect(cck_stack_statistics().guard == UInt32(CCK_GUARD_CANARY))
        let mapping = mmap(nil, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        #expect(mapping != MAP_FAILED)
        gate.open()
        for (index, coroutine) in coroutines.enumerated() {
          try expect(coroutine.value(), is: index)
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.split(separator: "\n").count { $0.contains("canar") } == 1, "\(text)")
  }

  @Test func `the core needs no descriptors`() async {
    await #expect(processExitsWith: .success) {
      let descriptors = TakenDescriptors(left: 0)
      cck_stack_limit_guard(UInt32(CCK_GUARD_PROTECT))
      try blocking {
        let channel = Channel<Int>()
        let scheduler = SerialScheduler()
        let sender = launch(on: scheduler) {
          for number in 1...100 {
            try channel.send(number)
            try Coroutine.sleep(for: .microseconds(10))
          }
          channel.close()
        }
        var sum = 0
        for number in channel { sum += number }
        #expect(sum == 5050)
        try sender.value()
        try expect(offload { 6 * 7 }, is: 42)
        #expect(throws: TimeoutError.self) {
          try withTimeout(.milliseconds(1)) { try waitForEver() }
        }
        #expect(Array(Generator<Int> { yield in for n in 1...3 { try yield(n) } }) == [1, 2, 3])
      }
      descriptors.giveBack()
    }
  }
}

/// All of the mappings that the system allows a process.
private final class Mappings {
  private static let pages = 80_000
  private let start: UnsafeMutableRawPointer?
  private var last: [UnsafeMutableRawPointer] = []

  /// Takes them: each second page is protected in another way than its neighbours, as far as that goes.
  ///
  /// The heap goes on growing within the mapping that it has.
  init() {
    let kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    start = mmap(nil, Self.pages * 4096, PROT_NONE, kind, -1, 0)
    guard let start, start != MAP_FAILED else { preconditionFailure("no room for a mapping") }
    var page = 0
    while page < Self.pages, mprotect(start + page * 4096, 4096, PROT_READ) == 0 { page += 2 }
    precondition(page < Self.pages, "there is no limit of mappings here")
    // Shared ones are never made one with their neighbours.
    while let mapping = mmap(nil, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
      mapping != MAP_FAILED
    {
      last.append(mapping)
    }
  }

  func giveBack() {
    for mapping in last { munmap(mapping, 4096) }
    munmap(start, Self.pages * 4096)
  }
}

/// `#expect` for calls that throw, where an exit test's body does not let them.
private func expect<Value: Equatable>(
  _ value: @autoclosure () throws -> Value,
  is expected: Value
) throws {
  let value = try value()
  #expect(value == expected)
}
#endif
