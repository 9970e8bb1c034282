// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Coroutines that lie in a pool and have not started: taken by one loop, and by one only.
@Suite(.timeLimit(.minutes(30))) struct PoolHandOverRaceTests {
  @Test(arguments: [2, 3])
  func `what one loop launches runs once, wherever it is taken`(_ loops: Int) throws {
    try Race(loops: loops) { crew in
      crew.ran.append(0)
      for number in 1...3 { crew.start { $0.ran.append(number) } }
    }
    .exploreBroadly { try $0.settle([0, 1, 2, 3]) }
  }

  @Test func `many that are taken at once run once each`() throws {
    try Race(loops: 2) { crew in
      for number in 1...8 { crew.start { $0.ran.append(number) } }
    }
    .exploreBroadly { try $0.settle(Set(1...8)) }
  }

  @Test func `a join and a thief want the same coroutine (rule 6)`() throws {
    try Race(loops: 2) { crew in
      let children = (1...2).map { number in crew.start { $0.ran.append(number) } }
      for child in children { try child.value() }
      crew.ran.append(0)
    }
    .exploreBroadly {
      try $0.settle([0, 1, 2])
      try #require($0.ran.last == 0)
    }
  }

  @Test func `two loops join the same coroutine, which a third may take (rule 6)`() throws {
    try Race(loops: 3) { crew in
      let wanted = crew.start { $0.ran.append(1) }
      for number in 2...3 {
        crew.start {
          try wanted.join()
          $0.ran.append(number)
        }
      }
    }
    .exploreBroadly {
      try $0.settle([1, 2, 3])
      try #require($0.ran.first == 1)
    }
  }

  @Test func `a join wants one that has just come from outside (rule 6)`() throws {
    try Race(loops: 2) { crew in
      crew.spin { crew.handles.count == 2 }
      try crew.handles[1].join()
      crew.ran.append(0)
    }
    .thread { crew in crew.start { $0.ran.append(1) } }
    .exploreBroadly {
      try $0.settle([0, 1])
      try #require($0.ran.last == 0)
    }
  }

  @Test func `a cancellation reaches one that is being taken, or it never runs (rule 2)`() throws {
    try Race(loops: 2) { crew in
      let child = crew.start {
        $0.ran.append(1)
        _ = try $0.channel.receive()
      }
      child.cancel()
      try child.join()
      try #require(child.error is CancellationError)
    }
    .exploreBroadly {
      try $0.settle()
      try #require($0.ran == [] || $0.ran == [1])
    }
  }

  @Test func `a cancellation from outside the pool reaches one that is being taken (rule 2)`()
    throws
  {
    try Race(loops: 2) { crew in
      for number in 1...2 {
        crew.start {
          $0.ran.append(number)
          _ = try $0.channel.receive()
        }
      }
    }
    .thread { crew in
      crew.spin { crew.handles.count == 3 }
      for handle in crew.handles { handle.cancel() }
    }
    .exploreBroadly { try $0.settle() }
  }

  @Test func `a parent is cancelled while its children are being taken (rule 8)`() throws {
    try Race(loops: 2) { crew in
      for _ in 1...2 { crew.start { _ = try $0.channel.receive() } }
      _ = try crew.channel.receive()
    }
    .thread { crew in crew.handles[0].cancel() }
    .exploreBroadly { crew in
      try crew.settle()
      let areCancelled = crew.handles.allSatisfy { $0.error is CancellationError }
      try #require(areCancelled)
    }
  }

  @Test func `a parent ends, cancelled, while its children are being taken (rule 8)`() throws {
    try Race(loops: 2) { crew in
      crew.start { _ = try $0.channel.receive() }
      try Coroutine.yield()
    }
    .thread { crew in
      crew.handles[0].cancel()
      crew.channel.close()
    }
    .exploreBroadly { try $0.settle() }
  }

  @Test func `a child's child is reached, too (rule 8)`() throws {
    try Race(loops: 2) { crew in
      crew.start { crew in
        crew.start { _ = try $0.channel.receive() }
        _ = try crew.channel.receive()
      }
      _ = try crew.channel.receive()
    }
    .thread { crew in crew.handles[0].cancel() }
    .exploreBroadly { crew in try crew.settle() }
  }

  @Test func `children end on other loops while their scope waits for them (rule 6)`() throws {
    try Race(loops: 2) { crew in
      try withCoroutineScope { scope in
        for number in 1...2 { crew.start(in: scope) { $0.ran.append(number) } }
      }
      crew.ran.append(3)
    }
    .exploreBroadly {
      try $0.settle([1, 2, 3])
      try #require($0.ran.last == 3)
    }
  }

  @Test func `a failing child ends its siblings, wherever they are (rule 6)`() throws {
    struct Failure: Error {}
    try Race(loops: 2) { crew in
      do {
        try withCoroutineScope { scope in
          crew.start(in: scope) { _ = try $0.channel.receive() }
          crew.start(in: scope) { _ in throw Failure() }
          _ = try crew.channel.receive()
        }
      } catch is Failure {
        crew.ran.append(1)
      }
    }
    .exploreBroadly { try $0.settle([1]) }
  }

  @Test func `a scope is left while children of its code run on (rule 8)`() throws {
    try Race(loops: 2) { crew in
      try? withTimeout(.seconds(1)) {
        crew.start { _ = try $0.channel.receive() }
        try Coroutine.yield()
      }
      crew.ran.append(1)
      // The child's, now that the scope is gone.
      crew.handles[0].cancel()
    }
    .exploreBroadly { try $0.settle([1]) }
  }

  @Test func `values pass between coroutines of a pool, wherever they run (rule 4)`() throws {
    try Race(loops: 2) { crew in
      crew.start { try $0.channel.send(1) }
      crew.start { try $0.channel.send(2) }
      for _ in 1...2 { crew.ran.append(try crew.channel.receive()) }
    }
    .exploreBroadly { try $0.settle([1, 2]) }
  }

  @Test func `a thread outside wakes a coroutine of a pool (rule 4)`() throws {
    try Race(loops: 2) { crew in
      crew.start { $0.ran.append(try $0.channel.receive()) }
      crew.start { $0.ran.append(try $0.channel.receive()) }
    }
    .thread { crew in
      try runBlocking { for value in 1...2 { try crew.channel.send(value) } }
    }
    .exploreBroadly { try $0.settle([1, 2]) }
  }
}

/// Loops of a pool that sleep: woken when there is something for them, and when all is over.
@Suite(.timeLimit(.minutes(30))) struct PoolIdleRaceTests {
  @Test func `a launch from outside is not slept through`() throws {
    try Race(loops: 2)
      .thread { crew in
        crew.start { $0.ran.append(1) }
        crew.start { $0.ran.append(2) }
        crew.pool.stopWhenEmpty()
      }
      .exploreBroadly { try $0.settle([1, 2]) }
  }

  @Test func `two threads launch from outside`() throws {
    let race = Race(loops: 2)
      .thread { crew in
        crew.start { $0.ran.append(1) }
        crew.spin { crew.ran.count == 2 }
        crew.pool.stopWhenEmpty()
      }
      .thread { crew in crew.start { $0.ran.append(2) } }
    try race.exploreBroadly { try $0.settle([1, 2]) }
  }

  @Test func `who is woken for a launch and has something else to do sends another (P1, P4)`()
    throws
  {
    try Race(loops: 2) { crew in
      _ = try crew.channel.receive()
      // Its own loop gets to nothing else before.
      crew.spin { crew.ran == [1] }
      crew.ran.append(2)
    }
    .thread { crew in
      crew.start { $0.ran.append(1) }
      try runBlocking { try crew.channel.send(0) }
    }
    .exploreBroadly { try $0.settle([1, 2]) }
  }

  @Test func `a busy loop's launch is not slept through by the other`() throws {
    try Race(loops: 2) { crew in
      crew.start { $0.ran.append(1) }
      crew.start { $0.ran.append(2) }
      // Its own loop gets to nothing before the other has run both.
      crew.spin { crew.ran.count == 2 }
    }
    .exploreBroadly { try $0.settle([1, 2]) }
  }

  @Test func `launches of a busy loop wake one sleeper after the other`() throws {
    try Race(loops: 3) { crew in
      for number in 1...2 {
        crew.start { crew in
          crew.ran.append(number)
          // Needs both of the others to be awake.
          crew.spin { crew.ran.count == 2 }
        }
      }
      crew.spin { crew.ran.count == 2 }
    }
    .exploreBroadly { try $0.settle([1, 2]) }
  }

  @Test func `a sleeper is woken for what comes while it has a timer`() throws {
    try Race(loops: 2) { crew in
      crew.start {
        try Coroutine.sleep(for: .seconds(1))
        $0.ran.append(1)
      }
      crew.start { $0.ran.append(2) }
      try Coroutine.sleep(for: .seconds(2))
      crew.ran.append(3)
    }
    .exploreBroadly { try $0.settle([1, 2, 3]) }
  }
}

/// The end of a pool: when nobody is left to use it and no coroutine lives, and not before.
@Suite(.timeLimit(.minutes(30))) struct PoolEndRaceTests {
  @Test(arguments: [2, 3])
  func `an unused pool's loops all end`(_ loops: Int) throws {
    try Race(loops: loops)
      .thread { $0.pool.stopWhenEmpty() }
      .exploreBroadly { _ in }
  }

  @Test func `a pool does not end before the last coroutine, which launches another`() throws {
    try Race(loops: 2) { crew in
      crew.start { crew in
        crew.ran.append(1)
        crew.start { $0.ran.append(2) }
      }
      try Coroutine.yield()
      crew.start { $0.ran.append(3) }
    }
    .exploreBroadly { try $0.settle([1, 2, 3]) }
  }

  @Test func `a launch while the pool ends runs, with all that it launches, or is refused`() throws
  {
    try Race(loops: 2) { crew in crew.ran.append(0) }
      .thread { crew in
        crew.start { crew in
          crew.ran.append(1)
          crew.start { $0.ran.append(2) }
        }
      }
      .exploreBroadly { crew in
        if case CoroutineError.schedulerShutDown? = crew.handles[1].error {
          try crew.settle([0])
        } else {
          try crew.settle([0, 1, 2])
        }
      }
  }

  @Test func `a launch while a pool of one loop ends runs, or is refused`() throws {
    try Race(loops: 1) { crew in crew.ran.append(0) }
      .thread { crew in crew.start { $0.ran.append(1) } }
      .exploreBroadly { crew in
        if case CoroutineError.schedulerShutDown? = crew.handles[1].error {
          try crew.settle([0])
        } else {
          try crew.settle([0, 1])
        }
      }
  }

  @Test func `once a launch has been refused all are`() throws {
    try Race(loops: 2) { crew in crew.ran.append(0) }
      .thread { crew in for number in 1...2 { crew.start { $0.ran.append(number) } } }
      .thread { crew in crew.start { $0.ran.append(3) } }
      .exploreBroadly { crew in
        try crew.settle()
        let (first, second) = (crew.ran.contains(1), crew.ran.contains(2))
        try #require(first || !second)
        let refused = crew.handles.count { $0.error != nil }
        try #require(crew.ran.count + refused == 4)
      }
  }
}

#endif
