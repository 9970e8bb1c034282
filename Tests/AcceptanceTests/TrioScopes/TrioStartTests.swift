// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Trio's `nursery.start`: a child that says when it is ready, made of a scope and a promise.
@Suite(.timeLimit(.minutes(30))) struct TrioStartTests {
  /// Launches a child and waits until it says that it has started.
  ///
  /// What it throws before is thrown here, and does not fail the scope; what it throws later does.
  private static func start<Value>(
    in scope: CoroutineScope,
    _ body: @escaping (_ started: CallbackResolver<Value>) throws -> Void
  ) throws -> Value {
    let ready = Promise<Value>()
    var resolver: CallbackResolver<Value>? = CallbackResolver(ready)
    let child = scope.launch {
      guard let started = resolver else { return }
      // The child alone has it now: without a word from it the promise is abandoned.
      resolver = nil
      do {
        try body(started)
      } catch  where started(throwing: error) {}
    }
    do {
      return try ready.await()
    } catch {
      if error is CancellationError { child.cancel() }
      throw error
    }
  }

  @Test(arguments: [1, 2])
  func `start waits until the child says so, and the scope until it ends`(_ seconds: Int) throws {
    let elapsed = try inTrioTime {
      try withCoroutineScope { scope in
        let time = try trioTime {
          let value: Int = try Self.start(in: scope) { started in
            try Coroutine.sleep(for: .seconds(seconds))
            started(seconds)
            try Coroutine.sleep(for: .seconds(seconds))
          }
          #expect(value == seconds)
        }
        #expect(time == .seconds(seconds))
      }
    }
    #expect(elapsed == .seconds(2 * seconds))
  }

  @Test func `saying so twice is refused`() throws {
    try inTrioTime {
      try withCoroutineScope { scope in
        let value: Int = try Self.start(in: scope) { started in
          #expect(started(1))
          #expect(!started(2))
        }
        #expect(value == 1)
      }
    }
  }

  @Test func `what the child throws before it has started comes out of start, not of the scope`()
    throws
  {
    try inTrioTime {
      try withCoroutineScope { scope in
        #expect(throws: TrioError("too early")) {
          let _: Int = try Self.start(in: scope) { _ in throw TrioError("too early") }
        }
        #expect(!scope.isCancelled)
        try Coroutine.yield()
      }
    }
  }

  @Test func `what the child throws after it has started comes out of the scope`() throws {
    try inTrioTime {
      #expect(throws: TrioError("later")) {
        try withCoroutineScope { scope in
          let value: Int = try Self.start(in: scope) { started in
            started(1)
            try waitUntilTrioTasksBlock()
            throw TrioError("later")
          }
          #expect(value == 1)
          try trioSleepForever()
        }
      }
    }
  }

  @Test func `a child that ends without having started is an error of start`() throws {
    try inTrioTime {
      try withCoroutineScope { scope in
        let error = #expect(throws: PromiseError.self) {
          let _: Int = try Self.start(in: scope) { _ in }
        }
        #expect(error == .abandoned)
      }
    }
  }

  @Test func `start that is cancelled ends the child that has not started`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      try withCoroutineScope { scope in
        let isOver = try trioMoveOn(after: .seconds(1)) {
          let _: Int = try Self.start(in: scope) { started in
            defer { notes.add("ended") }
            try Coroutine.sleep(for: .seconds(5))
            started(1)
          }
        }
        #expect(isOver)
      }
      #expect(notes.entries == ["ended"])
    }
  }

  @Test func `start in a scope that is cancelled begins nothing`() throws {
    try inTrioTime {
      let notes = Notebook<String>()
      let isCaught = try trioScope { scope in
        scope.cancel()
        let _: Int = try Self.start(in: scope) { started in
          notes.add("begun")
          started(1)
        }
      }
      #expect(isCaught)
      #expect(notes.entries == [])
    }
  }

  @Test func `children that start keep the scope open, though its body is done`() throws {
    let elapsed = try inTrioTime {
      try withCoroutineScope { outer in
        try withCoroutineScope { inner in
          for delay in [0, 1] {
            outer.launch {
              try Coroutine.sleep(for: .seconds(delay))
              let _: Int = try Self.start(in: inner) { started in
                try Coroutine.sleep(for: .seconds(2))
                started(1)
                try Coroutine.sleep(for: .seconds(3))
              }
            }
          }
          // The scope must not be over before the second one is launched into it.
          try Coroutine.sleep(for: .seconds(1))
          try Coroutine.yield()
        }
      }
    }
    #expect(elapsed == .seconds(6))
  }
}
