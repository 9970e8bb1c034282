// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineTestSupport
import Coroutines
import Testing

/// Cancellation down a tree whose coroutines may be anywhere in a pool.
@Suite(.timeLimit(.minutes(30)))
struct PoolCancellationTests {
  /// Launches a line of descendants, each the child of the one before, and has them all wait.
  private func descend(_ depth: Int, _ reached: Gate, _ unwound: Counter) throws {
    defer { unwound.add() }
    if depth > 1 {
      launch(stackSize: .small) { try descend(depth - 1, reached, unwound) }
    } else {
      reached.open()
    }
    try waitForEver()
  }

  @Test(arguments: [1, 3])
  func `a long line of descendants is cancelled to its end (rule 8)`(threads: Int) throws {
    let unwound = Counter()
    // A sanitizer's record of a stack is large.
    let depth = cck_is_instrumented() == 0 ? 20_000 : 3_000
    let pool = PoolScheduler(threads: threads)
    try runBlocking {
      let reached = Gate()
      let root = launch(on: pool, stackSize: .small) { try descend(depth, reached, unwound) }
      try reached.wait()
      try root.cancelAndJoin()
      while unwound.value < depth { try Coroutine.sleep(for: .microseconds(100)) }
    }
    #expect(unwound.value == depth)
  }

  @Test func `what is launched after a limit has passed does not belong to it (rule 8)`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let late = launch(on: pool) {
        let gate = Gate()
        #expect(throws: TimeoutError.self) {
          try withTimeout(.milliseconds(1)) {
            // Cancelled with the limit, but lives on after it.
            launch { try withCancellationShield { try gate.wait() } }
            try waitForEver()
          }
        }
        defer { gate.open() }
        return try launch { 5 }.value()
      }
      try #expect(late.value() == 5)
    }
  }

  @Test func `the same within another scope (rule 8)`() throws {
    let pool = PoolScheduler(threads: 1)
    try runBlocking {
      let late = launch(on: pool) {
        let gate = Gate()
        return try withTimeout(.seconds(60)) {
          #expect(throws: TimeoutError.self) {
            try withTimeout(.milliseconds(1)) {
              launch { try withCancellationShield { try gate.wait() } }
              try waitForEver()
            }
          }
          defer { gate.open() }
          return try launch { 5 }.value()
        }
      }
      try #expect(late.value() == 5)
    }
  }
}
