// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesTesting
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(30))) struct LeakCheckTests {
  /// Where a check can stand.
  enum Place: CaseIterable {
    case runBlocking, testScheduler

    func run(_ body: @escaping () throws -> Void) throws {
      switch self {
      case .runBlocking: try Coroutines.runBlocking(body)
      case .testScheduler: try TestScheduler().run(body)
      }
    }
  }

  /// What a check finds. (Lines inside a macro's closure are not those of the file.)
  private func leaks(_ body: () throws -> Void) throws -> LeakError? {
    do { try withLeakCheck(body) } catch let leaks as LeakError { return leaks }
    return nil
  }

  @Test(arguments: Place.allCases) func `a program that ends clean passes`(place: Place) throws {
    try place.run {
      let isClosed = try withLeakCheck {
        let numbers = Channel<Int>(capacity: 2)
        let squares = Generator<Int> { yield in for n in 1...5 { try yield(n * n) } }
        try withCoroutineScope { scope in
          let squarer = scope.launch {
            defer { numbers.close() }
            for square in squares { try numbers.send(square) }
          }
          #expect(numbers.reduce(0, +) == 55)
          try squarer.join()
        }
        return numbers.isClosed
      }
      #expect(isClosed)
    }
  }

  @Test(arguments: Place.allCases)
  func `a coroutine that waits for ever is found, with its wait and its place`(
    place: Place
  ) throws {
    try place.run {
      let before = #line
      let leaks = try leaks {
        let jobs = Channel<Int>(name: "jobs")
        let worker = launch(name: "worker") { while true { _ = try jobs.receive() } }
        try jobs.send(1)
        try #require(!worker.isFinished)
      }
      let one = try #require(leaks?.coroutines.first)
      #expect(leaks?.coroutines.count == 1)
      #expect(leaks?.stacks == 1)
      #expect(one.coroutine.contains("\"worker\""))
      #expect(Int(one.creationSite.line) == before + 3)
      #expect(one.wait?.contains("Channel.receive() on channel \"jobs\" made at ") == true)
      #expect("\(leaks as Any)".contains("1 coroutine, with 1 stack"))
      // It is cancelled: else `runBlocking` would wait for it, and `run` report a deadlock.
    }
  }

  @Test(arguments: Place.allCases) func `a grandchild whose parents have ended is found`(
    place: Place
  ) throws {
    try place.run {
      let leaks = #expect(throws: LeakError.self) {
        try withLeakCheck {
          try launch {
            try launch {
              launch(name: "orphan") { try Channel<Void>(name: "nothing").receive() }
              try Coroutine.yield()
            }.join()
          }.join()
        }
      }
      #expect(leaks?.coroutines.map { $0.coroutine.contains("orphan") } == [true])
    }
  }

  @Test(arguments: Place.allCases) func `who awaits a promise that nobody settles is found`(
    place: Place
  ) throws {
    try place.run {
      let promise = Promise<Int>()
      let leaks = #expect(throws: LeakError.self) {
        try withLeakCheck {
          launch(name: "waiting") { _ = try promise.await() }
          return
        }
      }
      #expect(leaks?.coroutines.first?.wait?.contains("on promise made at") == true)
      promise.cancel()
    }
  }

  @Test(arguments: Place.allCases) func `a generator that is kept is found, and one dropped is not`(
    place: Place
  ) throws {
    try place.run {
      var kept: [Any] = []
      let before = #line
      let leaks = try leaks {
        let numbers = Generator<Int> { yield in for n in 0... { try yield(n) } }
        _ = numbers.next()
        let dropped = Generator<Int> { yield in for n in 0... { try yield(n) } }
        _ = dropped.next()
        let unused = Generator<Int> { yield in try yield(1) }
        let echo = TwoWayGenerator<Int, Int, Void> { yield in
          while true { _ = try yield(1) }
        }
        _ = try echo.next(0)
        kept = [numbers, unused, echo]
      }
      #expect(leaks?.generators.map { Int($0.line) - before } == [2, 7])
      #expect(leaks?.coroutines.isEmpty == true)
      #expect(leaks?.stacks == 2)
      #expect("\(leaks as Any)".contains("2 generators, with 2 stacks"))
      withExtendedLifetime(kept) {}
    }
  }

  @Test func `a sleeper is found, and its hour is not waited for`() throws {
    let scheduler = TestScheduler()
    try scheduler.run {
      let leaks = #expect(throws: LeakError.self) {
        try withLeakCheck {
          launch { try Coroutine.sleep(for: .seconds(3600)) }
          return
        }
      }
      #expect(leaks?.coroutines.first?.wait == "Coroutine.sleep(for:)")
    }
    #expect(scheduler.elapsed == .zero)
  }

  @Test func `one that never parks for long is found`() throws {
    try TestScheduler().run {
      let leaks = #expect(throws: LeakError.self) {
        try withLeakCheck {
          launch(name: "spinner") { while true { try Coroutine.yield() } }
          return
        }
      }
      #expect(leaks?.coroutines.first?.wait == nil)
    }
  }

  @Test(arguments: Place.allCases) func `who can still run to its end is let run`(
    place: Place
  ) throws {
    try place.run {
      try withLeakCheck {
        let done = Channel<Void>(capacity: 1)
        launch {
          try done.send(())
          for _ in 0..<20 { try Coroutine.yield() }
        }
        try done.receive()
      }
    }
  }

  @Test func `outside coroutines it finds what the loops do not wait for`() throws {
    let queue = DispatchQueue(label: "leaks")
    // Both threads have to answer within the patience.
    let isAsExpected = inTime(within: [.milliseconds(500), .seconds(5), .seconds(20)]) { patience in
      let jobs = Channel<Int>(name: "outside")
      defer { jobs.close() }
      let leaks = #expect(throws: LeakError.self) {
        try withLeakCheck(patience: patience) {
          try runBlocking {
            launch(on: queue, name: "on a queue") { _ = try jobs.receive() }
            return
          }
          let loop = SerialScheduler(name: "loop")
          launch(on: loop, name: "on a loop") { _ = try jobs.receive() }
        }
      }
      return leaks?.coroutines.count == 2
        && leaks?.coroutines.allSatisfy { $0.wait?.contains("\"outside\"") == true } == true
    }
    #expect(isAsExpected)
  }

  @Test func `around a scheduler that is stepped by hand it finds those that were left`() throws {
    let scheduler = TestScheduler()
    let leaks = #expect(throws: LeakError.self) {
      try withLeakCheck {
        scheduler.launch(name: "left") { try Coroutine.sleep(for: .seconds(1)) }
        scheduler.launch(name: "never begun") {}
        scheduler.step()
      }
    }
    #expect(leaks?.coroutines.map { $0.wait == nil } == [false, true])
    #expect(leaks?.stacks == 1)
    try scheduler.runUntilFinished()
  }

  @Test func `what others launch meanwhile is not counted`() throws {
    try TestScheduler().run {
      let never = Promise<Void>()
      let other = launch {
        try Coroutine.yield()
        launch(name: "not ours") { try never.await() }
        try Coroutine.yield()
      }
      try withLeakCheck {
        for _ in 0..<5 { try Coroutine.yield() }
        try other.join()
      }
      never.fulfill(())
    }
  }

  @Test func `checks nest, and what the inner one finds the outer one finds`() throws {
    try TestScheduler().run {
      let never = Promise<Void>()
      let outer = try leaks {
        let inner = try leaks {
          launch(name: "shielded") { try withCancellationShield { try never.await() } }
        }
        #expect(inner?.coroutines.count == 1)
      }
      #expect(outer?.coroutines.count == 1)
      never.fulfill(())
    }
  }

  @Test func `an error of the body is thrown, and no other`() throws {
    struct Own: Error {}
    try TestScheduler().run {
      let never = Promise<Void>()
      #expect(throws: Own.self) {
        try withLeakCheck {
          launch { try never.await() }
          throw Own()
        }
      }
      never.fulfill(())
      // The loop is as before: what is launched now belongs to no check.
      try launch {}.join()
    }
  }

  @Test func `errors that nobody looks at go where they go without a check`() {
    struct Oops: Error {}
    for place in Place.allCases {
      #expect(throws: Oops.self) {
        try place.run {
          try withLeakCheck {
            launch { throw Oops() }
            try Coroutine.yield()
          }
        }
      }
    }
  }

  @Test func `a leak that depends on the order is found by exploring`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try explore {
        try withLeakCheck {
          let answer = Channel<Int>()
          launch(name: "asker") { try answer.send(1) }
          // Takes the asker's place if it comes first.
          launch { answer.sendIfReady(2) }
          _ = try answer.receive()
        }
      }
    }
    #expect(failure?.error is LeakError)
    #expect("\(failure as Any)".contains("asker"))
  }

  @Test func `a thousand clean checks leave the loop as fast as before`() throws {
    try runBlocking {
      for _ in 0..<1000 {
        try withLeakCheck { try launch { try Coroutine.yield() }.join() }
      }
      let children = (0..<10).map { number in launch { number } }
      let numbers = try children.map { try $0.value() }
      #expect(numbers == Array(0..<10))
    }
  }
}
