// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct StackTests {
  /// The classes are shared by the whole process, so each test has one of its own.
  private enum OwnClass {
    static let reuse: UInt32 = 9
    static let highWater: UInt32 = 10
    static let layout: UInt32 = 11
  }

  private func acquire(_ stackClass: UInt32) throws -> UnsafeMutablePointer<cck_stack_t> {
    try #require(cck_stack_acquire(currentThread(), stackClass))
  }

  private func release(_ stack: UnsafeMutablePointer<cck_stack_t>) {
    cck_stack_release(currentThread(), stack)
  }

  @Test(arguments: [
    (1, 0), (16 << 10, 0), ((16 << 10) + 1, 1), (64 << 10, 2), (256 << 10, 4), (1 << 20, 6),
    (512 << 20, 15), ((512 << 20) + 1, 16),
  ])
  func `a size belongs to the smallest class that holds it`(_ size: Int, _ expected: Int) {
    #expect(cck_stack_class(size) == UInt32(expected))
  }

  @Test func `the record leaves almost the whole class to the stack (3.5-s2)`() throws {
    let stack = try acquire(OwnClass.layout)
    defer { release(stack) }
    let nominal = Int(CCK_STACK_SMALLEST_BYTES) << Int(OwnClass.layout)
    let usable = cck_stack_usable_size(stack)
    #expect(usable <= nominal)
    #expect(usable >= nominal - 1536)
    #expect(stack.pointee.size_class == OwnClass.layout)
  }

  @Test func `an unknown class is refused with EINVAL`() {
    #expect(cck_stack_acquire_slowly(currentThread(), UInt32(CCK_STACK_CLASSES)) == nil)
    #expect(errno == EINVAL)
  }

  @Test func `a thread gets back the stack it gave back last (3.4-5)`() throws {
    let first = try acquire(OwnClass.reuse)
    let second = try acquire(OwnClass.reuse)
    let third = try acquire(OwnClass.reuse)
    #expect(Set([first, second, third]).count == 3)
    release(second)
    release(first)
    release(third)
    let again = [
      try acquire(OwnClass.reuse), try acquire(OwnClass.reuse), try acquire(OwnClass.reuse),
    ]
    #expect(again == [third, first, second])
    for stack in again { release(stack) }
  }

  @Test func `stacks in use at one time never overlap`() throws {
    let stacks = try (0..<600).map { _ in try acquire(2) }
    let low = stacks.map { UInt(bitPattern: $0.pointee.low) }
    let ranges = zip(low, stacks).map { $0..<UInt(bitPattern: $1) }.sorted {
      $0.lowerBound < $1.lowerBound
    }
    for (one, next) in zip(ranges, ranges.dropFirst()) {
      #expect(one.upperBound < next.lowerBound)
    }
    for stack in stacks { release(stack) }
  }

  @Test func `high water tells how deep a stack has been used`() throws {
    let stack = try acquire(OwnClass.highWater)
    defer { release(stack) }
    #expect(cck_stack_high_water(stack) == 0)
    let top = UnsafeMutableRawPointer(stack)
    (top - 1000).storeBytes(of: 1, as: UInt8.self)
    let shallow = cck_stack_high_water(stack)
    #expect((1000..<1016).contains(shallow))
    (top - 70_000).storeBytes(of: 1, as: UInt8.self)
    #expect((70_000..<70_016).contains(cck_stack_high_water(stack)))
  }

  @Test func `a thread that ends gives its hot stacks to the others (3.4-6)`() async {
    // Nobody else makes stacks there.
    await #expect(processExitsWith: .success) {
      let before = cck_stack_statistics().slots_made
      for _ in 0..<8 {
        Joinable {
          let thread = currentThread()
          guard let stack = cck_stack_acquire(thread, 4) else { return }
          cck_stack_release(thread, stack)
        }.join()
      }
      let stack = try #require(cck_stack_acquire(currentThread(), 4))
      #expect(cck_stack_statistics().slots_made == before + 1)
      #expect(cck_stack_high_water(stack) < 4096)
    }
  }

  @Test func `an address in a guard leads to its stack, one above does not`() throws {
    let stack = try acquire(OwnClass.layout)
    defer { release(stack) }
    let low = UnsafeRawPointer(stack.pointee.low)
    #expect(cck_stack_whose_guard(low - 1) == stack)
    #expect(cck_stack_whose_guard(low - (16 << 10)) == stack)
    #expect(cck_stack_whose_guard(low) == nil)
    var local = 0
    #expect(withUnsafePointer(to: &local) { cck_stack_whose_guard($0) } == nil)
  }
}

/// What changes the whole process's way of making stacks runs in a process of its own.
@Suite struct StackLimitTests {
  @Test func `guards of the kernel's own kind are used where it has them`() async {
    await #expect(processExitsWith: .success) {
      let stack = try #require(cck_stack_acquire(currentThread(), 4))
      let kinds = [UInt32(CCK_GUARD_ADVICE), UInt32(CCK_GUARD_PROTECT)]
      #expect(kinds.contains(stack.pointee.guard))
    }
  }

  @Test func `without them guards are protected pages`() async {
    await #expect(processExitsWith: .success) {
      cck_stack_limit_guard(UInt32(CCK_GUARD_PROTECT))
      let stack = try #require(cck_stack_acquire(currentThread(), 4))
      #expect(stack.pointee.guard == UInt32(CCK_GUARD_PROTECT))
    }
  }

  @Test(arguments: [UInt32(CCK_GUARD_ADVICE), UInt32(CCK_GUARD_PROTECT)])
  func `a write to a guard kills the process (3.4-5)`(_ kind: UInt32) async {
    await #expect(processExitsWith: .failure) { [kind] in
      cck_stack_limit_guard(kind)
      guard let stack = cck_stack_acquire(currentThread(), 4) else { exit(EXIT_SUCCESS) }
      (stack.pointee.low - 1).storeBytes(of: 1, as: UInt8.self)
      exit(EXIT_SUCCESS)
    }
  }

  @Test(arguments: [UInt32(CCK_GUARD_ADVICE), UInt32(CCK_GUARD_PROTECT)])
  func `so does a read (3.5-s2)`(_ kind: UInt32) async {
    await #expect(processExitsWith: .failure) { [kind] in
      cck_stack_limit_guard(kind)
      guard let stack = cck_stack_acquire(currentThread(), 4) else { exit(EXIT_SUCCESS) }
      // Printed, or a compiler might leave it out.
      print((stack.pointee.low - 1).load(as: UInt8.self))
      exit(EXIT_SUCCESS)
    }
  }

  @Test func `a damaged canary stops the process when the stack is given back`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      cck_stack_limit_guard(UInt32(CCK_GUARD_CANARY))
      guard let stack = cck_stack_acquire(currentThread(), 4) else { exit(EXIT_SUCCESS) }
      stack.pointee.identifier = 77
      stack.pointee.low.storeBytes(of: 1, as: UInt8.self)
      cck_stack_release(currentThread(), stack)
      exit(EXIT_SUCCESS)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("coroutine #77 (256 KiB) overflowed"))
    #expect(text.contains("launch(stackSize:)"))
  }

  @Test func `an intact canary lets the stack be used again`() async {
    await #expect(processExitsWith: .success) {
      cck_stack_limit_guard(UInt32(CCK_GUARD_CANARY))
      for _ in 0..<1000 {
        let stack = try #require(cck_stack_acquire(currentThread(), 4))
        #expect(stack.pointee.guard == UInt32(CCK_GUARD_CANARY))
        (UnsafeMutableRawPointer(stack) - 100_000).storeBytes(of: 1, as: UInt8.self)
        cck_stack_release(currentThread(), stack)
      }
      #expect(cck_stack_statistics().slots_made == 1)
    }
  }

  @Test(arguments: [UInt32(CCK_GUARD_ADVICE), UInt32(CCK_GUARD_PROTECT)])
  func `40,000 stacks at a time are more than the system's mappings, and fine`(
    _ kind: UInt32
  ) async {
    await #expect(processExitsWith: .success) { [kind] in
      cck_stack_limit_guard(kind)
      let thread = currentThread()
      var stacks: [UnsafeMutablePointer<cck_stack_t>] = []
      for _ in 0..<40_000 { stacks.append(try #require(cck_stack_acquire(thread, 4))) }
      #expect(Set(stacks).count == 40_000)
      for stack in stacks { cck_stack_release(thread, stack) }
      // Past the warm ones, memory went back to the system; the stacks are as good as new.
      for _ in 0..<40_000 {
        let stack = try #require(cck_stack_acquire(thread, 4))
        (UnsafeMutableRawPointer(stack) - 64).storeBytes(of: 1, as: UInt8.self)
      }
      #expect(cck_stack_statistics().slots_made == 40_000)
    }
  }

  @Test func `faked shortage fails so many requests and then none`() async {
    await #expect(processExitsWith: .success) {
      let thread = currentThread()
      cck_stack_fail_next(2)
      #expect(cck_stack_acquire(thread, 4) == nil)
      #expect(errno == ENOMEM)
      #expect(cck_stack_acquire(thread, 4) == nil)
      #expect(cck_stack_acquire(thread, 4) != nil)
    }
  }
}
