// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import CoroutineTestSupport
import Dispatch
import Testing

@testable import Coroutines

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Waiting for descriptors, on every kind of scheduler.
@Suite(.timeLimit(.minutes(30))) struct DescriptorWaitTests {
  @Test func `one that waits to read goes on when there is something`() throws {
    let pipe = try TestPipe()
    try runBlocking {
      let log = Log()
      let reader = launch {
        log("waits")
        try expectReady(pipe)
        log(pipe.read())
      }
      launch { log("other") }
      try Coroutine.yield()
      try Coroutine.yield()
      log("writes")
      pipe.write("hello")
      try reader.join()
      #expect(log.entries == ["waits", "other", "writes", "hello"])
    }
  }

  @Test func `one that waits to write goes on when there is room`() throws {
    let pipe = try TestPipe()
    pipe.fill()
    try runBlocking {
      let writer = launch { try DescriptorWait.wait(pipe.writing, for: .writing, "test") }
      try Coroutine.yield()
      #expect(!writer.isFinished)
      while !pipe.read().isEmpty {}
      #expect(try writer.value() == .ready)
    }
  }

  @Test func `what is ready before does not wait, and one may wait again and again`() throws {
    let pipe = try TestPipe()
    try runBlocking {
      for number in 0..<100 {
        pipe.write("\(number)")
        try expectReady(pipe)
        #expect(pipe.read() == "\(number)")
      }
    }
  }

  @Test func `after the deadline the wait ends, and the descriptor can be waited for again`() throws
  {
    let pipe = try TestPipe()
    try runBlocking {
      let start = clockNow()
      let outcome = try DescriptorWait.wait(
        pipe.reading,
        for: .reading,
        deadline: start + 20_000_000,
        "test"
      )
      #expect(outcome == .timedOut)
      #expect(clockNow() - start >= 20_000_000)
      pipe.write("x")
      try expectReady(pipe)
    }
  }

  @Test func `cancelling ends the wait (rule 2) and leaves nothing behind (rule 3)`() throws {
    let pipe = try TestPipe()
    try runBlocking {
      for _ in 0..<10 {
        let reader = launch { try DescriptorWait.wait(pipe.reading, for: .reading, "test") }
        try Coroutine.yield()
        reader.cancel()
        #expect(throws: CancellationError.self) { try reader.value() }
      }
      pipe.write("x")
      try expectReady(pipe)
    }
    let entry = try #require(DescriptorTable.entry(pipe.reading))
    #expect(entry.pointee.readers.isEmpty)
  }

  @Test func `closing wakes all who wait, once (rule 5)`() throws {
    let pipe = try TestPipe()
    try runBlocking {
      let readers = (0..<3).map { _ in
        launch { try DescriptorWait.wait(pipe.reading, for: .reading, "test") }
      }
      try Coroutine.yield()
      DescriptorWait.close(pipe.reading)
      for reader in readers { #expect(try reader.value() == .closed) }
    }
  }

  @Test func `a number that stands for another descriptor now hears nothing of the old one`() throws
  {
    let (old, new) = (try TestPipe(), try TestPipe())
    let number = old.reading
    try runBlocking {
      DescriptorWait.adopt(number)
      let entry = try #require(DescriptorTable.entry(number))
      let first = entry.pointee.generation
      let seen = entry.edges(.reading)
      let stale = launch {
        try DescriptorWait.wait(
          entry,
          number,
          generation: first,
          for: .reading,
          since: seen,
          deadline: nil,
          "test"
        )
      }
      try Coroutine.yield()
      // The old file stays open under another number, and goes on to have events.
      let kept = dup(number)
      defer { close(kept) }
      DescriptorWait.close(number)
      #expect(dup2(new.reading, number) == number)
      #expect(try stale.value() == .closed)
      DescriptorWait.adopt(number)
      let now = entry.edges(.reading)
      let second = entry.pointee.generation
      #expect(second != first)
      let fresh = launch {
        try DescriptorWait.wait(
          entry,
          number,
          generation: second,
          for: .reading,
          since: now,
          deadline: nil,
          "test"
        )
      }
      try Coroutine.yield()
      old.write("for nobody")
      for _ in 0..<100 { try Coroutine.sleep(for: .microseconds(10)) }
      #expect(!fresh.isFinished)
      new.write("new")
      #expect(try fresh.value() == .ready)
      // Late-comers with the old generation are told.
      let late = try DescriptorWait.wait(
        entry,
        number,
        generation: first,
        for: .reading,
        since: now,
        deadline: nil,
        "test"
      )
      #expect(late == .closed)
      DescriptorWait.close(number)
    }
  }

  @Test func `a wait after an edge that was not looked at does not sleep (D4)`() throws {
    let pipe = try TestPipe()
    try runBlocking {
      DescriptorWait.adopt(pipe.reading)
      defer { DescriptorWait.close(pipe.reading) }
      let entry = try #require(DescriptorTable.entry(pipe.reading))
      func wait(
        since seen: UInt32,
        atMost limit: Duration = .seconds(60)
      ) throws -> DescriptorWait.Outcome {
        try DescriptorWait.wait(
          entry,
          pipe.reading,
          generation: entry.pointee.generation,
          for: .reading,
          since: seen,
          deadline: clockNow() + limit.saturatedNanoseconds,
          "test"
        )
      }
      let before = entry.edges(.reading)
      pipe.write("x")
      #expect(try wait(since: before) == .ready)
      // Nothing was read, so there is no other edge, but who has not seen this one must look.
      #expect(try wait(since: before) == .ready)
      let after = entry.edges(.reading)
      #expect(try wait(since: after, atMost: .milliseconds(10)) == .timedOut)
    }
  }

  @Test func `a file is always ready, and a bad number is refused`() throws {
    let file = open("/dev/zero", O_RDONLY)
    let directory = open("/", O_RDONLY)
    defer {
      close(file)
      close(directory)
    }
    try runBlocking {
      try Coroutine.yield()
      #expect(try DescriptorWait.wait(directory, for: .reading, "test") == .ready)
      #expect(try DescriptorWait.wait(-1, for: .reading, "test") == .failed(EBADF))
      #expect(try DescriptorWait.wait(.max, for: .reading, "test") == .failed(EBADF))
      // Far up, where nobody else gets the number meanwhile.
      let closed = fcntl(file, F_DUPFD_CLOEXEC, 900)
      #expect(closed >= 900)
      close(closed)
      #expect(try DescriptorWait.wait(closed, for: .reading, "test") == .failed(EBADF))
    }
  }

  @Test func `outside a coroutine it is refused (rule 12)`() {
    #expect(throws: CoroutineError.self) { try DescriptorWait.wait(0, for: .reading, "test") }
  }

  @Test func `a loop that has always something to do still hears of descriptors`() throws {
    let pipe = try TestPipe()
    try runBlocking {
      let busy = launch { while true { try Coroutine.yield() } }
      let reader = launch { try DescriptorWait.wait(pipe.reading, for: .reading, "test") }
      try Coroutine.yield()
      pipe.write("x")
      #expect(try reader.value() == .ready)
      try busy.cancelAndJoin()
    }
  }

  @Test(arguments: [1, 2])
  func `a pool in which launches never end still hears of descriptors`(threads: Int) throws {
    let pipe = try TestPipe()
    let pool = PoolScheduler(threads: threads)
    try runBlocking {
      let isOver = Counter()
      // Each launches the next, for as long as it takes.
      @Sendable func flood() {
        if isOver.value == 0 { launch(on: pool) { flood() } }
      }
      let isWaiting = Promise<Void>()
      let reader = launch(on: pool) {
        isWaiting.fulfill(())
        return try DescriptorWait.wait(pipe.reading, for: .reading, "test")
      }
      try isWaiting.await()
      for _ in 0..<threads { launch(on: pool) { flood() } }
      pipe.write("x")
      #expect(try reader.value() == .ready)
      isOver.add()
    }
  }

  @Test func `another thread's launch wakes a loop that sleeps for descriptors`() throws {
    let pipe = try TestPipe()
    let scheduler = SerialScheduler(name: "reads")
    let reader = launch(on: scheduler) {
      try DescriptorWait.wait(pipe.reading, for: .reading, "test")
    }
    for number in 0..<200 {
      let other = launch(on: scheduler) { number }
      let value = try runBlocking { try other.value() }
      #expect(value == number)
    }
    pipe.write("x")
    let outcome = try runBlocking { try reader.value() }
    #expect(outcome == .ready)
  }

  @Test(arguments: ["loop", "pool", "queue"])
  func `on every scheduler, many at once`(_ kind: String) throws {
    let scheduler: Scheduler =
      switch kind {
      case "pool": PoolScheduler(threads: 2)
      case "queue": .queue(DispatchQueue(label: "descriptors"))
      default: SerialScheduler(name: "loop")
      }
    let pipes = try (0..<50).map { _ in try TestPipe() }
    let readers = pipes.enumerated().map { index, pipe in
      launch(on: scheduler) {
        for round in 0..<20 {
          var text = pipe.read()
          while text.isEmpty {
            try expectReady(pipe)
            text = pipe.read()
          }
          #expect(text == "\(index) \(round)")
          pipe.answer()
        }
        return true
      }
    }
    try runBlocking {
      for round in 0..<20 {
        for (index, pipe) in pipes.enumerated() { pipe.write("\(index) \(round)") }
        for pipe in pipes { try pipe.awaitAnswer() }
      }
      for reader in readers { #expect(try reader.value()) }
    }
  }

  @Test func `two loops that wait for one descriptor both look`() throws {
    let pipe = try TestPipe()
    let outcomes = (0..<2).map { number in
      launch(on: SerialScheduler(name: "\(number)")) {
        try DescriptorWait.wait(pipe.reading, for: .reading, "test")
      }
    }
    let entry = try #require(DescriptorTable.entry(pipe.reading))
    while entry.lock.withLock({ entry.pointee.readers.first?.pointee.next == nil }) {
      sched_yield()
    }
    pipe.write("x")
    let results = try runBlocking { try outcomes.map { try $0.value() } }
    #expect(results == [.ready, .ready])
  }
}

/// Waits until there is something to read.
private func expectReady(_ pipe: TestPipe) throws {
  let outcome = try DescriptorWait.wait(pipe.reading, for: .reading, "test")
  #expect(outcome == .ready)
}

/// A pipe whose ends do not block, and a semaphore to answer with.
private final class TestPipe: @unchecked Sendable {
  // SAFETY: constants.
  let reading: Int32
  let writing: Int32
  private let answers = Channel<Void>(capacity: .unbounded)

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// What there is; empty if there is nothing.
  func read() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    #if canImport(Darwin)
    let count = Darwin.read(reading, &bytes, bytes.count)
    #else
    let count = Glibc.read(reading, &bytes, bytes.count)
    #endif
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  func write(_ text: String) {
    #if canImport(Darwin)
    let count = Darwin.write(writing, text, text.utf8.count)
    #else
    let count = Glibc.write(writing, text, text.utf8.count)
    #endif
    #expect(count == text.utf8.count)
  }

  func fill() {
    let bytes = [UInt8](repeating: 65, count: 4096)
    #if canImport(Darwin)
    while Darwin.write(writing, bytes, bytes.count) > 0 {}
    #else
    while Glibc.write(writing, bytes, bytes.count) > 0 {}
    #endif
  }

  func answer() { _ = answers.sendIfReady(()) }

  func awaitAnswer() throws { _ = try answers.receive() }
}
