// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs `body` on `count` threads of its own and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    startKernelThread(named: "test \(index)") {
      body(index)
      group.leave()
    }
  }
  group.wait()
}

/// A coroutine that has not started; its memory is the caller's.
func makeFiber(
  on home: UnsafeMutablePointer<Home>,
  identifier: UInt64 = 0
) -> UnsafeMutablePointer<Fiber> {
  let fiber = UnsafeMutablePointer<Fiber>.allocate(capacity: 1)
  fiber.initialize(
    to: Fiber(
      home: home,
      stackClass: 0,
      identifier: identifier,
      thread: currentThread(),
      body: { _ in }
    )
  )
  return fiber
}

/// A generator whose numbers a seed determines (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A pointer that the test's own order of events makes safe to use from several threads.
struct Shared<Pointee: ~Copyable>: @unchecked Sendable {
  // SAFETY: what it points to is atomic, or guarded by the lock under test.
  let pointer: UnsafeMutablePointer<Pointee>

  init(_ pointer: UnsafeMutablePointer<Pointee>) {
    self.pointer = pointer
  }
}

/// Lets other threads run.
func giveWay() {
  sched_yield()
}
