// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Foundation
import Testing

@testable import Coroutines

/// When loops give the memory of free stacks back (M2 in depot.h).
///
/// In processes of their own: what is counted is the process's.
@Suite(.timeLimit(.minutes(30))) struct MemoryReturnTests {
  /// More than are kept warm, by some portions.
  private static let crowd = 20_000

  private static var due: Int { cck_stack_statistics().slots_due }

  /// `runBlocking`, for exit tests, whose bodies are asynchronous.
  private static func onLoop(_ body: () throws -> Void) throws { try runBlocking(body) }

  /// Launches a crowd that waits for one thing, and lets it end.
  private static func makeCrowd() throws {
    let latch = Channel<Void>()
    let crowd = (0..<crowd).map { _ in launch(stackSize: .small) { _ = try? latch.receive() } }
    try Coroutine.yield()
    latch.close()
    for coroutine in crowd { try coroutine.join() }
  }

  @Test func `short sleeps leave it, long ones are interrupted for a portion`() async {
    await #expect(processExitsWith: .success) {
      let thread = currentThread()
      let memory = MemoryReturn(thread)
      #expect(memory.firstSleep(of: -1) == nil)
      let stacks = (0..<Self.crowd).compactMap { _ in cck_stack_acquire(thread, 0) }
      for stack in stacks { cck_stack_release(thread, stack) }
      let (due, since) = (Self.due, cck_stack_statistics().due_since)
      #expect(due > 3000)
      #expect(memory.firstSleep(of: 0) == nil)
      #expect(memory.firstSleep(of: 10_000_000) == nil)
      #expect(memory.firstSleep(of: 10_000_001) == 10_000_000)
      #expect(memory.firstSleep(of: -1) == 10_000_000)
      memory.sleptThrough()
      #expect(Self.due == due - 1024)
      memory.look(at: since + CCK_LONGEST_DUE - 1)
      #expect(Self.due == due - 1024)
      memory.look(at: since + CCK_LONGEST_DUE)
      #expect(Self.due == due - 1024 - 64)
      memory.end()
      #expect(Self.due == 0)
      #expect(thread.pointee.returns_memory == 0)
    }
  }

  @Test func `a loop that has nothing to do for a while gives it back`() async {
    await #expect(processExitsWith: .success) {
      try Self.onLoop {
        for _ in 0..<2 {
          try Self.makeCrowd()
          // Each time it sleeps a portion goes, and four are due; by looking in between it would get through a third of them.
          for _ in 0..<20 where Self.due > 0 { try Coroutine.sleep(for: .milliseconds(100)) }
          #expect(Self.due == 0)
        }
        try Self.makeCrowd()
      }
      // The loop is over.
      #expect(Self.due == 0)
    }
  }

  @Test func `so does one that waits for another thread`() async {
    await #expect(processExitsWith: .success) {
      let channel = Channel<Int>()
      let other = SerialScheduler(name: "crowd")
      try Self.onLoop {
        try launch(on: other) { try Self.makeCrowd() }.join()
        let answer = launch(on: other) { try channel.receive() }
        while Self.due > 0 { try Coroutine.sleep(for: .milliseconds(1)) }
        try channel.send(1)
        #expect(try answer.value() == 1)
      }
    }
  }

  @Test func `one that always has other work does so after a second`() async {
    await #expect(processExitsWith: .success) {
      try Self.onLoop {
        try Self.makeCrowd()
        while Self.due > 0 { try Coroutine.yield() }
      }
    }
  }

  @Test func `the loops of a pool do so, too`() async {
    await #expect(processExitsWith: .success) {
      let pool = PoolScheduler(threads: 2)
      try Self.onLoop {
        try launch(on: pool) { try Self.makeCrowd() }.join()
        while Self.due > 0 { try Coroutine.sleep(for: .milliseconds(1)) }
      }
    }
  }

  @Test func `on a dispatch queue it goes back at once`() async {
    await #expect(processExitsWith: .success) {
      let queue = Scheduler.queue(DispatchQueue(label: "crowd"))
      try Self.onLoop {
        try launch(on: queue) { try Self.makeCrowd() }.join()
        #expect(Self.due < 64)
      }
    }
  }
}
