// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

/// Rule 8 for bare launches: whoever is launched in a coroutine is cancelled with it.
@Suite struct ChildCancellationTests {
  enum Where: CaseIterable, Sendable {
    case sameScheduler, serialScheduler, queue, globalQueue

    func launch(_ body: @escaping @Sendable () throws -> Void) -> Coroutine {
      switch self {
      case .sameScheduler: Coroutines.launch(body)
      case .serialScheduler: Coroutines.launch(on: SerialScheduler(), body)
      case .queue: Coroutines.launch(on: DispatchQueue(label: "child"), body)
      case .globalQueue: Coroutines.launch(on: .global(), body)
      }
    }
  }

  @Test(arguments: Place.allCases, Where.allCases)
  func `a parked child is cancelled with its parent (rule 8)`(
    _ place: Place,
    _ child: Where
  ) throws {
    let log = Log()
    try place.run {
      let started = Gate()
      let childCoroutine = Cell<Coroutine>()
      let parent = launch {
        childCoroutine.value = child.launch {
          defer { log("child unwinds") }
          started.open()
          try waitForEver()
        }
        try waitForEver()
      }
      try started.wait()
      try parent.cancelAndJoin()
      try childCoroutine.value?.join()
    }
    #expect(log.entries == ["child unwinds"])
  }

  @Test(arguments: Place.allCases, Where.allCases)
  func `grandchildren are cancelled as well (rule 8)`(_ place: Place, _ child: Where) throws {
    let unwound = Counter()
    try place.run {
      let started = Gate()
      let line = Bag<Coroutine>()
      let parent = launch {
        line.add(
          child.launch {
            defer { unwound.add() }
            let grandchild = Gate()
            line.add(
              child.launch {
                defer { unwound.add() }
                grandchild.open()
                try waitForEver()
              }
            )
            try grandchild.wait()
            started.open()
            try waitForEver()
          }
        )
        try waitForEver()
      }
      try started.wait()
      try parent.cancelAndJoin()
      for coroutine in line.contents { try coroutine.join() }
    }
    #expect(unwound.value == 2)
  }

  @Test(arguments: Place.allCases, Where.allCases)
  func `a child of a cancelled parent is born cancelled (rule 8)`(
    _ place: Place,
    _ child: Where
  ) throws {
    let runs = Counter()
    try place.run {
      let parent = launch {
        Coroutine.current?.cancel()
        let born = child.launch { runs.add() }
        try withCancellationShield { try born.join() }
        #expect(born.error is CancellationError)
      }
      try parent.join()
      #expect(parent.error == nil)
    }
    #expect(runs.value == 0)
  }

  @Test func `a child that starts at once in a cancelled parent is born cancelled (rule 8)`() throws
  {
    let runs = Counter()
    try runBlocking {
      let parent = launch {
        Coroutine.current?.cancel()
        launch(start: .immediately) { runs.add() }
      }
      try parent.join()
    }
    #expect(runs.value == 0)
  }

  @Test func `a child that has not started when its parent is cancelled never runs`() throws {
    let runs = Counter()
    try runBlocking {
      let parent = launch {
        launch { runs.add() }
        Coroutine.current?.cancel()
      }
      try parent.join()
    }
    #expect(runs.value == 0)
  }

  @Test(arguments: Where.allCases)
  func `a child that outlives its parent runs on`(_ child: Where) throws {
    try runBlocking {
      let gate = Gate()
      let ended = Counter()
      let childCoroutine = Cell<Coroutine>()
      let parent = launch {
        childCoroutine.value = child.launch {
          try gate.wait()
          ended.add()
        }
      }
      try parent.join()
      parent.cancel()
      gate.open()
      try childCoroutine.value?.join()
      #expect(ended.value == 1)
    }
  }

  @Test func `cancelling a child leaves parent and siblings alone`() throws {
    try runBlocking {
      let gate = Gate()
      let first = launch { try gate.wait() }
      let second = launch { try gate.wait() }
      try Coroutine.yield()
      try first.cancelAndJoin()
      #expect(!second.isCancelled)
      #expect(!Coroutine.isCancelled)
      gate.open()
      try second.value()
    }
  }

  @Test(arguments: Place.allCases)
  func `a long line of descendants is cancelled to its end (rule 8)`(_ place: Place) throws {
    let unwound = Counter()
    let depth = 3_000
    try place.run {
      let reached = Gate()
      let root = launch(stackSize: .small) { try descend(depth, reached, unwound) }
      try reached.wait()
      try root.cancelAndJoin()
      while unwound.value < depth { try Coroutine.sleep(for: .microseconds(100)) }
    }
    #expect(unwound.value == depth)
  }

  @Test(arguments: [false, true])
  func `a cancellation that its coroutine overtakes reaches the children (rule 8)`(
    _ inScope: Bool
  ) throws {
    let unwound = Counter()
    try runBlocking {
      let scope = Cell<CoroutineScope>()
      let launched = Gate()
      let isCancelled = DispatchSemaphore(value: 0)
      let work: @Sendable () throws -> Void = {
        // Bare children: nobody waits for them.
        let runs = Gate()
        launch {
          defer { unwound.add() }
          runs.open()
          try waitForEver()
        }
        try runs.wait()
        let started = Gate()
        launch(on: DispatchQueue(label: "child")) {
          defer { unwound.add() }
          started.open()
          try waitForEver()
        }
        try started.wait()
        launched.open()
        // Holds its scheduler's turn until cancellation has been asked for, and so the message waits.
        isCancelled.wait()
        try Coroutine.yield()
      }
      let parent = launch(on: SerialScheduler()) {
        guard inScope else { return try work() }
        try? withCoroutineScope {
          scope.value = $0
          try work()
        }
        try Coroutine.yield()
      }
      try launched.wait()
      if inScope { scope.value?.cancel() } else { parent.cancel() }
      isCancelled.signal()
      try parent.join()
      let limit = ContinuousClock.now.advanced(by: .seconds(300))
      while unwound.value < 2, ContinuousClock.now < limit {
        try Coroutine.sleep(for: .microseconds(100))
      }
    }
    #expect(unwound.value == 2)
  }

  @Test func `many children on other schedulers end with their parent (rule 8)`() throws {
    let unwound = Counter()
    let started = Counter()
    try runBlocking {
      let schedulers: [Scheduler] = [
        SerialScheduler(), SerialScheduler(), .queue(DispatchQueue(label: "test")),
      ]
      let children = Cell<[Coroutine]>([])
      let parent = launch {
        children.value = (0..<300).map { index in
          launch(on: schedulers[index % 3]) {
            started.add()
            defer { unwound.add() }
            try waitForEver()
          }
        }
        try waitForEver()
      }
      while started.value < 300 { try Coroutine.sleep(for: .microseconds(100)) }
      try parent.cancelAndJoin()
      for child in children.value ?? [] { try child.join() }
    }
    #expect(unwound.value == 300)
  }
}

private func descend(_ depth: Int, _ reached: Gate, _ unwound: Counter) throws {
  defer { unwound.add() }
  if depth > 1 {
    launch(stackSize: .small) { try descend(depth - 1, reached, unwound) }
  } else {
    reached.open()
  }
  try waitForEver()
}
