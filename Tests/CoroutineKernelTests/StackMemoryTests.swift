// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What free stacks keep, and what goes back to the system (M1–M3 in depot.h).
///
/// In processes of their own: what is counted is the process's.
@Suite(.timeLimit(.minutes(30))) struct StackMemoryTests {
  private typealias Stack = UnsafeMutablePointer<cck_stack_t>

  /// So many are kept warm.
  private static let warm = 16_384

  /// The lowest byte of the page that a stack's record lies in, which its first coroutine has touched.
  private static func topPage(_ stack: Stack) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: stack) & ~4095).unsafelyUnwrapped
  }

  private static func acquire(_ count: Int, _ stackClass: UInt32) -> [Stack] {
    (0..<count).map { _ in
      guard let stack = cck_stack_acquire(currentThread(), stackClass) else {
        fatalError("no stack")
      }
      return stack
    }
  }

  private static func release(_ stacks: [Stack]) {
    for stack in stacks { cck_stack_release(currentThread(), stack) }
  }

  /// Whether a page is in memory.
  private static func isResident(_ page: UnsafeMutableRawPointer) -> Bool {
    var state: UInt8 = 0
    precondition(mincore(page, 4096, &state) == 0)
    return state & 1 != 0
  }

  private static func residentCount(_ pages: [UnsafeMutableRawPointer]) -> Int {
    pages.count { isResident($0) }
  }

  @Test func `without a loop, memory beyond the warm ones' goes back in batches (M1, M2)`() async {
    await #expect(processExitsWith: .success) {
      let stacks = Self.acquire(Self.warm + 2000, 0)
      let pages = stacks.map(Self.topPage)
      #expect(Self.residentCount(pages) == pages.count)
      Self.release(stacks)
      let left = Self.residentCount(pages)
      // 256 are the thread's own, and a batch is 64.
      #expect((Self.warm...Self.warm + 256 + 64).contains(left), "\(left)")
      #expect(cck_stack_statistics().slots_due < 64)
    }
  }

  @Test func `with one, it stays until it is asked for (M2)`() async {
    await #expect(processExitsWith: .success) {
      currentThread().pointee.returns_memory = 1
      let stacks = Self.acquire(Self.warm + 2000, 0)
      let pages = stacks.map(Self.topPage)
      Self.release(stacks)
      #expect(Self.residentCount(pages) == pages.count)
      let statistics = cck_stack_statistics()
      let due = statistics.slots_due
      #expect((1700...2000).contains(due))
      #expect(cck_stack_memory_is_overdue(statistics.due_since + CCK_LONGEST_DUE - 1) == 0)
      #expect(cck_stack_memory_is_overdue(statistics.due_since + CCK_LONGEST_DUE) == 1)
      cck_stack_return_memory(1000)
      #expect(cck_stack_statistics().slots_due == due - 1000)
      #expect(Self.residentCount(pages) == pages.count - 1000)
      // Who needs stacks takes those first that still have their memory.
      let again = Self.acquire(pages.count - 1000, 0)
      #expect(cck_stack_statistics().slots_due == 0)
      #expect(Self.residentCount(pages) == pages.count - 1000)
      #expect(Set(again).isSubset(of: Set(stacks)))
      Self.release(again)
      cck_stack_return_memory(.max)
      #expect(cck_stack_statistics().slots_due == 0)
      #expect(cck_stack_memory_is_due() == 0)
      #expect(cck_stack_statistics().slots_made == Self.warm + 2000)
    }
  }

  @Test func `a warm one keeps 32 KiB, and no less (M1)`() async {
    await #expect(processExitsWith: .success) {
      currentThread().pointee.returns_memory = 1
      let stacks = Self.acquire(1000, 2)
      let deep = stacks.map { $0.pointee.low + 4096 * 2 }
      let shallow = stacks.map { $0.pointee.low + 4096 * 9 }
      for page in deep + shallow { page.storeBytes(of: 1, as: UInt8.self) }
      Self.release(stacks)
      #expect(Self.residentCount(deep) == 1000)
      cck_stack_return_memory(.max)
      // The thread keeps 256 at most, and half of them at least.
      #expect((128...256).contains(Self.residentCount(deep)))
      #expect(Self.residentCount(shallow) == 1000)
    }
  }

  @Test(arguments: [
    UInt32(CCK_GUARD_ADVICE), UInt32(CCK_GUARD_PROTECT), UInt32(CCK_GUARD_CANARY),
  ])
  func `neighbours that gave their memory back together are as good as new`(
    _ kind: UInt32
  ) async {
    await #expect(processExitsWith: .success) { [kind] in
      cck_stack_limit_guard(kind)
      currentThread().pointee.returns_memory = 1
      for _ in 0..<3 {
        let stacks = Self.acquire(Self.warm + 1000, 0)
        #expect(Set(stacks).count == stacks.count)
        for stack in stacks {
          #expect(stack.pointee.size_class == 0)
          #expect(stack.pointee.low < UnsafeMutableRawPointer(stack))
          (UnsafeMutableRawPointer(stack) - 64).storeBytes(of: 1, as: UInt8.self)
        }
        Self.release(stacks)
        cck_stack_return_memory(.max)
      }
    }
  }

  @Test func `a guard between two of them still ends the process (M3)`() async {
    // One of the stacks that have given their memory back, and the guard of it.
    await #expect(processExitsWith: .failure) {
      currentThread().pointee.returns_memory = 1
      let stacks = Self.acquire(Self.warm + 1000, 0)
      let middle = Self.warm + 500
      let low = stacks[middle].pointee.low
      Self.release(stacks)
      cck_stack_return_memory(.max)
      // Else it would end for want of what the test is about.
      for stack in stacks[middle - 1...middle + 1] where Self.isResident(Self.topPage(stack)) {
        exit(EXIT_SUCCESS)
      }
      (low - 1).storeBytes(of: 1, as: UInt8.self)
      exit(EXIT_SUCCESS)
    }
  }

  @Test func `while memory goes back, others take and release stacks (M3)`() async {
    await #expect(processExitsWith: .success) {
      let before = Self.acquire(Self.warm + 3000, 0)
      currentThread().pointee.returns_memory = 1
      Self.release(before)
      onThreads(4) { number in
        currentThread().pointee.returns_memory = 1
        for round in 0..<60 {
          if number == 0 {
            cck_stack_return_memory(round.isMultiple(of: 2) ? 512 : 64)
            continue
          }
          let stacks = Self.acquire(6500, 0)
          for stack in stacks {
            (UnsafeMutableRawPointer(stack) - 64).storeBytes(of: UInt(number), as: UInt.self)
          }
          for stack in stacks {
            let found = (UnsafeMutableRawPointer(stack) - 64).load(as: UInt.self)
            precondition(found == UInt(number), "a stack in use has lost its memory, or serves two")
            precondition(stack.pointee.size_class == 0)
          }
          Self.release(stacks)
        }
        cck_stack_release_cache(currentThread())
      }
      cck_stack_release_cache(currentThread())
      let statistics = cck_stack_statistics()
      #expect(statistics.slots_free == statistics.slots_made)
    }
  }
}
