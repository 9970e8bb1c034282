// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

private struct Broken: Error, CustomStringConvertible {
  let description: String
}

private struct Failure: Error, Equatable { let number: Int }

private func require(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
  if !isTrue { throw Broken(description: what()) }
}

@Suite(.timeLimit(.minutes(30))) struct ScopeExplorationTests {
  @Test func `every child has ended when the scope ends, in all orders (rule 6)`() throws {
    let exploration = try explore {
      try withLeakCheck {
        var children: [Coroutine] = []
        try withCoroutineScope { scope in
          for number in 0..<2 {
            children.append(
              scope.launch {
                for _ in 0..<number { try Coroutine.yield() }
                children.append(scope.launch { try Coroutine.yield() })
              }
            )
          }
        }
        try require(children.count == 4, "\(children)")
        try require(children.allSatisfy(\.isFinished), "\(children)")
      }
    }
    #expect(exploration.isComplete)
  }

  @Test func `a failing child cancels its siblings, and its error comes out (rule 6)`() throws {
    let exploration = try explore {
      try withLeakCheck {
        let (never, start) = (Channel<Int>(), CoroutineClock().now)
        var ends: [String] = []
        do {
          try withCoroutineScope { scope in
            scope.launch {
              defer { ends.append("waiting") }
              _ = try never.receive()
            }
            scope.launch {
              defer { ends.append("sleeping") }
              try Coroutine.sleep(for: .seconds(3600))
            }
            scope.launch {
              try Coroutine.yield()
              throw Failure(number: 1)
            }
          }
          throw Broken(description: "the scope did not throw")
        } catch is Failure {}
        // One that had not begun when it was cancelled does not run.
        try require(ends.count <= 2 && Set(ends).count == ends.count, "\(ends)")
        try require(start.duration(to: CoroutineClock().now) == .zero, "a sibling slept on")
        // Nobody waits at the channel any more.
        try require(!never.sendIfReady(1).isSent, "a receiver was left in line")
      }
    }
    #expect(exploration.isComplete)
  }

  @Test func `of several failing children the first one's error comes out (rule 6)`() throws {
    try explore {
      var first: Int?
      do {
        try withCoroutineScope { scope in
          for number in 1...3 {
            scope.launch {
              try Coroutine.yield()
              first = first ?? number
              throw Failure(number: number)
            }
          }
        }
        throw Broken(description: "the scope did not throw")
      } catch let failure as Failure {
        try require(failure.number == first, "\(failure), and \(first as Any) was first")
      }
    }
  }

  @Test func `a scope cancelled at any point waits for its children (rules 6 and 8)`() throws {
    let sweep = try sweepCancellation { victim in
      try withLeakCheck {
        let gate = Channel<Void>()
        var (begun, ended) = (0, 0)
        let parent = launch(name: victim) {
          try withCoroutineScope { scope in
            for _ in 0..<2 {
              scope.launch {
                begun += 1
                defer { ended += 1 }
                try gate.receive()
                // Goodbyes are waited for.
                try withCancellationShield { try Coroutine.yield() }
              }
            }
            try Coroutine.yield()
            try gate.send(())
            try gate.send(())
          }
          try Coroutine.yield()
        }
        try parent.join()
        try require(begun == ended, "\(begun) began and \(ended) ended")
      }
    }
    #expect(sweep.places >= 3)
  }

  @Test func `children of a cancelled scope on other schedulers end, too (rule 8)`() throws {
    let other = SerialScheduler(name: "other")
    let scheduler = TestScheduler()
    scheduler.outsidePatience = .seconds(300)
    try scheduler.run {
      try withLeakCheck(patience: .seconds(300)) {
        let never = Promise<Void>()
        try withCoroutineScope { scope in
          let child = scope.launch(on: other) { try never.await() }
          scope.cancel()
          do { try child.value() } catch is CancellationError {}
        }
      }
    }
  }

  @Test func `no memory for a child's stack fails the scope and leaves nothing (rule 6)`() throws {
    let sweep = try sweepStackFailures {
      try withLeakCheck {
        let gate = Channel<Int>(capacity: 3)
        do {
          try withCoroutineScope { scope in
            for number in 0..<3 { scope.launch { try gate.send(number) } }
          }
          try require(gate.count == 3, "\(gate.count) sent")
        } catch CoroutineError.noMemoryForStack {}
      }
    }
    #expect(sweep.places == 3)
  }
}

@Suite(.timeLimit(.minutes(30))) struct TimeoutExplorationTests {
  @Test func `work and its limit at the same time: one wins whole, in all orders (rule 3)`() throws
  {
    var (inTime, late) = (0, 0)
    let exploration = try explore {
      try withLeakCheck {
        let channel = Channel<Int>()
        var kept: [Int] = []
        let sender = launch {
          try Coroutine.sleep(for: .seconds(1))
          try channel.send(7) { kept.append($0) }
        }
        var received: Int?
        do {
          received = try withTimeout(.seconds(1)) { try channel.receive() }
          inTime += 1
        } catch is TimeoutError { late += 1 }
        channel.close()
        do { try sender.value() } catch ChannelError.closed {}
        try require(received == 7 ? kept.isEmpty : kept == [7], "\(received as Any) and \(kept)")
      }
    }
    #expect(exploration.isComplete)
    #expect(inTime + late == exploration.runs)
  }

  @Test func `of nested limits the nearest wins, wherever it stands (rule 8)`() throws {
    for (outer, inner) in [(3, 5), (5, 3)] {
      try explore {
        let (never, start) = (Promise<Void>(), CoroutineClock().now)
        do {
          try withTimeout(.seconds(outer)) {
            do { try withTimeout(.seconds(inner)) { try never.await() } } catch let error
              as TimeoutError
            {
              try require(error.limit == .seconds(min(outer, inner)), "inside: \(error)")
              throw error
            }
          }
        } catch let error as TimeoutError {
          try require(error.limit == .seconds(min(outer, inner)), "outside: \(error)")
        }
        try require(start.duration(to: CoroutineClock().now) == .seconds(3), "another time")
      }
    }
  }

  @Test func `a limit cancels what was launched inside it (rule 8)`() throws {
    try explore {
      try withLeakCheck {
        let never = Channel<Void>()
        var children: [Coroutine] = []
        do {
          try withTimeout(.seconds(1)) {
            children = (0..<2).map { _ in launch { try never.receive() } }
            try never.receive()
          }
        } catch is TimeoutError {}
        for child in children { try child.join() }
        try require(children.allSatisfy(\.isCancelled), "\(children)")
      }
    }
  }

  @Test func `a limit that is late ends nothing early and leaves nothing (rules 3 and 8)`() throws {
    let sweep = try sweepLateTimers(by: .seconds(10)) {
      try withLeakCheck {
        let channel = Channel<Int>()
        let sender = launch {
          try Coroutine.sleep(for: .seconds(2))
          return channel.sendIfReady(1).isSent
        }
        var received: Int?
        do {
          received = try withTimeout(.seconds(1)) { try channel.receive() }
        } catch is TimeoutError {}
        let wasSent = try sender.value()
        try require(wasSent == (received != nil), "sent: \(wasSent), received: \(received as Any)")
      }
    }
    #expect(sweep.places == 2)
  }
}
