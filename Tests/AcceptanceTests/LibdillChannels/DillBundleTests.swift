// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `bundle.c`, and what `go1`, `go2`, `go3`, `sleep`, `overload`, `threads` ask besides: coroutines that
/// are waited for and closed together.
@Suite(.timeLimit(.minutes(30))) struct DillBundleTests {
  // MARK: - hclose of a bundle: cancel the scope

  @Test func `a bundle of nothing is closed and waited for at once`() throws {
    try DillProgram.run { program in
      try withCoroutineScope { _ in }
      try withCoroutineScope { $0.cancel() }
      #expect(program.now == 0)
    }
  }

  @Test(arguments: [LaunchStart.queued, .immediately])
  func `closing a bundle at once ends a coroutine that has not waited yet`(
    start: LaunchStart
  ) throws {
    try DillProgram.run { program in
      var hasRun = false
      try withCoroutineScope { scope in
        scope.launch(start: start) { hasRun = true }
        scope.cancel()
      }
      // libdill starts a coroutine by running it; here that is a choice.
      #expect(hasRun == (start == .immediately))
      #expect(program.now == 0)
    }
  }

  @Test(arguments: [1, 2])
  func `coroutines that have ended do not hinder closing`(count: Int) throws {
    try DillProgram.run { program in
      var ended = 0
      try withCoroutineScope { scope in
        for _ in 0..<count {
          scope.launch {
            try program.msleep(50)
            ended += 1
          }
        }
        try program.msleep(100)
        scope.cancel()
      }
      #expect(ended == count)
      #expect(program.now == 100)
    }
  }

  @Test(arguments: [1, 2])
  func `closing cancels coroutines that wait, and waits until they have ended`(count: Int) throws {
    try DillProgram.run { program in
      var endings: [DillEnding] = []
      try withCoroutineScope { scope in
        for _ in 0..<count {
          scope.launch {
            endings.append(try DillEnding(of: { try program.msleep(100_000) }))
            // Cleaning up may take its time.
            try withCancellationShield { try program.msleep(5) }
          }
        }
        try program.msleep(100)
        scope.cancel()
      }
      #expect(endings == [DillEnding](repeating: .cancelled, count: count))
      #expect(program.now == 105)
    }
  }

  @Test(arguments: [StackSize.small, .default, .kibibytes(64)])
  func `a coroutine of a bundle may have a stack of any size`(size: StackSize) throws {
    try DillProgram.run { _ in
      let value = try withCoroutineScope { try $0.launch(stackSize: size) { 42 }.value() }
      #expect(value == 42)
    }
  }

  @Test func `a coroutine may start others in the bundle it belongs to`() throws {
    try DillProgram.run { program in
      var ended: [Int] = []
      try withCoroutineScope { scope in
        _ = scope.launch {
          scope.launch {
            try program.msleep(50)
            ended.append(2)
          }
          ended.append(1)
        }
      }
      #expect(ended == [1, 2])
      #expect(program.now == 50)
    }
  }

  // MARK: - bundle_wait

  @Test(arguments: [[50], [50, 100], [100, 50]])
  func `a bundle is waited for until its last coroutine has ended`(delays: [Int]) throws {
    try DillProgram.run { program in
      try withCoroutineScope { scope in
        for delay in delays { scope.launch { try program.msleep(delay) } }
      }
      #expect(program.now == delays.max())
    }
  }

  @Test func `a bundle that has been waited for takes another coroutine`() throws {
    try DillProgram.run { program in
      var hasRun = false
      try withCoroutineScope { scope in
        let first = [50, 100].map { delay in scope.launch { try program.msleep(delay) } }
        for coroutine in first { try coroutine.join() }
        #expect(program.now == 100)
        scope.launch { hasRun = true }
      }
      #expect(hasRun)
    }
  }

  @Test func `waiting within a time ends when the coroutine does`() throws {
    try DillProgram.run { program in
      let worker = launch { try program.msleep(50) }
      try withTimeout(.milliseconds(1000)) { try worker.join() }
      #expect(program.now == 50)
      try worker.cancelAndJoin()
    }
  }

  @Test func `a wait that times out leaves the coroutine running, and closing ends it`() throws {
    try DillProgram.run { program in
      let worker = launch { try DillEnding(of: { try program.msleep(100_000) }) }
      try #expect(
        DillEnding(of: { try withTimeout(.milliseconds(50)) { try worker.join() } }) == .timedOut
      )
      #expect(program.now == 50)
      #expect(!worker.isFinished)
      #expect(!worker.isCancelled)
      worker.cancel()
      try #expect(worker.value() == .cancelled)
      #expect(program.now == 50)
    }
  }

  @Test func `a time around a whole bundle cancels its coroutines, which may end as they like`()
    throws
  {
    try DillProgram.run { program in
      var endings: [DillEnding] = []
      try withTimeout(.milliseconds(50)) {
        try withCoroutineScope { scope in
          for _ in 0..<2 {
            scope.launch { endings.append(try DillEnding(of: { try program.msleep(100_000) })) }
          }
        }
      }
      #expect(endings == [.cancelled, .cancelled])
      #expect(program.now == 50)
    }
  }

  @Test func `a time around a whole bundle is over if it cut off one of its coroutines`() throws {
    try DillProgram.run { program in
      var ended = 0
      try #expect(
        DillEnding(of: {
          try withTimeout(.milliseconds(50)) {
            try withCoroutineScope { scope in
              for delay in [10, 100_000] {
                scope.launch {
                  try program.msleep(delay)
                  ended += 1
                }
              }
            }
          }
        }) == .timedOut
      )
      #expect(ended == 1)
      #expect(program.now == 50)
    }
  }

  @Test func `closing a bundle from inside is no error, whatever it cuts off`() throws {
    try DillProgram.run { program in
      let value = try withCoroutineScope { scope in
        scope.launch { try program.msleep(100_000) }
        try program.msleep(50)
        scope.cancel()
        return 7
      }
      #expect(value == 7)
      #expect(program.now == 50)
    }
  }

  @Test func `in all orders, closing a bundle ends its coroutines wherever they wait`() throws {
    let exploration = try explore(.exhaustive(delays: 3)) {
      let channel = Channel<Int>()
      var running = 0
      try withCoroutineScope { scope in
        for number in 0..<2 {
          scope.launch {
            running += 1
            defer { running -= 1 }
            try channel.send(number)
            _ = try channel.receive()
          }
        }
        try Coroutine.yield()
        scope.cancel()
      }
      try DillFailure.unless(running == 0, "one is left")
      try DillFailure.unless(channel.receiveIfReady() == .empty, "one still sends")
      try DillFailure.unless(!channel.sendIfReady(1).isSent, "one still receives")
    }
    #expect(exploration.isComplete)
  }

  // MARK: - go1, go2, go3

  @Test(arguments: 1...10)
  func `coroutines that give up their turn all do their work`(seed: UInt64) throws {
    try DillProgram.run(order: .random(seed: seed)) { _ in
      var sum = 0
      try withCoroutineScope { scope in
        for (count, number) in [(3, 7), (1, 11), (2, 5)] {
          scope.launch {
            for _ in 0..<count {
              sum += number
              try Coroutine.yield()
            }
          }
        }
      }
      #expect(sum == 42)
    }
  }

  @Test func `twenty coroutines come and go, again and again`() throws {
    try DillProgram.run { program in
      for round in 1...50 {
        try withCoroutineScope { scope in
          for _ in 0..<20 { scope.launch { try program.msleep(50) } }
        }
        #expect(program.now == 50 * round)
      }
    }
  }

  @Test func `three coroutines that are closed while they sleep cannot sleep again`() throws {
    try DillProgram.run { program in
      let workers = (0..<3).map { _ in
        launch { try (0..<2).map { _ in try DillEnding(of: { try program.msleep(1000) }) } }
      }
      try program.msleep(30)
      for worker in workers { worker.cancel() }
      for worker in workers { try #expect(worker.value() == [.cancelled, .cancelled]) }
      #expect(program.now == 30)
    }
  }

  // MARK: - sleep, overload, threads

  @Test(arguments: 1...10)
  func `numbers are sorted by sleeping`(seed: UInt64) throws {
    try DillProgram.run(order: .random(seed: seed)) { program in
      let channel = Channel<Int>()
      for number in [30, 40, 10, 20] {
        launch {
          try program.msleep(number)
          try channel.send(number)
        }
      }
      try #expect(channel.receive(count: 4) == [10, 20, 30, 40])
      #expect(program.now == 40)
      try program.msleep(60)
      #expect(program.now == 100)
    }
  }

  @Test func `a value that goes round for ever keeps nobody from being closed`() throws {
    try runBlocking {
      let (left, right) = (Channel<Int>(), Channel<Int>())
      var rounds = 0
      let relays = [(left, right), (right, left)].map { source, target in
        launch {
          while true {
            try target.send(try source.receive())
            rounds += 1
          }
        }
      }
      try left.send(42)
      // The ring always has work; a timer must come through all the same.
      try Coroutine.sleep(for: .milliseconds(2))
      #expect(rounds > 0)
      for relay in relays { try relay.cancelAndJoin() }
      for relay in relays { #expect(relay.isFinished) }
    }
  }

  @Test func `two threads have coroutines of their own at the same time`() throws {
    func work() throws -> [String] {
      var notes: [String] = []
      try withCoroutineScope { scope in
        for (name, count) in [("a", 4), ("b", 2), ("c", 3)] {
          scope.launch {
            for _ in 0..<count {
              notes.append(name)
              try Coroutine.yield()
            }
          }
        }
      }
      return notes
    }
    let expected = ["a", "b", "c", "a", "b", "c", "a", "c", "a"]
    let other = SerialScheduler(name: "libdill")
    try runBlocking {
      let there = launch(on: other) { try work() }
      try #expect(work() == expected)
      try #expect(there.value() == expected)
    }
  }
}
