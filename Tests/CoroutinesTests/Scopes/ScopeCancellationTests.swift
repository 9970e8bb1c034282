// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

/// Cancelling a scope, and scopes in cancelled code.
@Suite struct ScopeCancellationTests {
  @Test func `cancelling the scope cancels body and children, from any thread`() throws {
    try runBlocking {
      let unwound = Counter()
      #expect(throws: CancellationError.self) {
        try withCoroutineScope { scope in
          for _ in 0..<5 {
            scope.launch {
              defer { unwound.add() }
              try waitForEver()
            }
          }
          try Coroutine.yield()
          startThread { scope.cancel() }
          defer { #expect(scope.isCancelled) }
          try waitForEver()
        }
      }
      #expect(unwound.value == 5)
    }
  }

  @Test
  func `a limit that cut off a child makes the scope throw, though its body had returned (rule 6)`()
    throws
  {
    try runBlocking {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(1)) {
          try withCoroutineScope { scope in _ = scope.launch { try waitForEver() } }
        }
      }
      // A child that ends well all the same is no reason.
      try withTimeout(.milliseconds(1)) {
        try withCoroutineScope { scope in _ = scope.launch { _ = try? waitForEver() } }
      }
      // Nor is a cancellation from inside.
      try withTimeout(.seconds(1000)) {
        try withCoroutineScope { scope in
          scope.launch { try waitForEver() }
          try Coroutine.yield()
          scope.cancel()
        }
      }
    }
  }

  @Test func `a child launched into a cancelled scope is born cancelled (rule 8)`() throws {
    try runBlocking {
      let runs = Counter()
      _ = try? withCoroutineScope { scope in
        scope.cancel()
        scope.launch { runs.add() }
        scope.launch(on: SerialScheduler()) { runs.add() }
      }
      #expect(runs.value == 0)
    }
  }

  @Test func `a scope opened in cancelled code cancels its children (rule 8)`() throws {
    try runBlocking {
      let runs = Counter()
      let coroutine = launch {
        Coroutine.current?.cancel()
        try withCoroutineScope { scope in
          scope.launch {
            try waitForEver()
            runs.add()
          }
          scope.launch(on: SerialScheduler()) {
            try waitForEver()
            runs.add()
          }
        }
      }
      try coroutine.join()
      #expect(runs.value == 0)
    }
  }

  @Test func `cancelling the coroutine does not cut the wait for children short`() throws {
    try runBlocking {
      let log = Log()
      let gate = Gate()
      let coroutine = launch {
        defer { log("scope is over") }
        try withCoroutineScope { scope in
          scope.launch {
            try withCancellationShield { try gate.wait() }
            log("child ends")
          }
          return
        }
      }
      for _ in 0..<3 { try Coroutine.yield() }
      coroutine.cancel()
      for _ in 0..<3 { try Coroutine.yield() }
      #expect(!coroutine.isFinished)
      gate.open()
      try coroutine.join()
      #expect(log.entries == ["child ends", "scope is over"])
    }
  }
}
