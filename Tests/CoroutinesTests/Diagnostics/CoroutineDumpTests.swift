// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Coroutines
import Foundation
import Testing

/// What a dump tells.
@Suite(.timeLimit(.minutes(30))) struct CoroutineDumpTests {
  @Test func `it tells of each what it waits for, where it was launched, and by whom`() throws {
    try runBlocking {
      let jobs = Channel<Int>(capacity: 2, name: "jobs")
      let waiting = launch(name: "worker") { try jobs.receive() }
      let line = UInt(#line - 1)
      let parent = try #require(Coroutine.current?.id)
      try Coroutine.yield()
      let entry = try #require(CoroutineDump.take().entries.first { $0.id == waiting.id })
      #expect(entry.name == "worker")
      #expect(entry.state == .suspended)
      #expect(entry.creationSite.line == line)
      #expect(entry.parent == parent)
      #expect(entry.wait?.operation == "Channel.receive()")
      let subject = try #require(entry.wait?.subjects.first)
      #expect(subject.description == "channel \"jobs\" made at \(jobs.creationSite)")
      #expect(
        subject.details == "0 of 2 kept; nobody waits to send, #\(waiting.id) waits to receive"
      )
      #expect(try #require(entry.stackUsed) > 500)
      #expect(try #require(entry.stackUsed) < entry.stackSize)
      let text = "\(entry)"
      #expect(text.hasPrefix("coroutine #\(waiting.id) \"worker\" waits in Channel.receive() for "))
      #expect(text.contains("\n  on \(subject.description): 0 of 2 kept; "))
      #expect(text.contains("\n  launched at \(entry.creationSite) by #\(parent)\n"))
      waiting.cancel()
    }
  }

  /// Who keeps an end that is not needed any more keeps the other side waiting: the count tells that somebody does.
  @Test func `of counted ends it tells how many references hold them`() throws {
    try runBlocking {
      let (sender, receiver) = Channel<Int>.makeEnds(capacity: 3)
      let waiting = launch { _ = try? receiver.receive() }
      try Coroutine.yield()
      func held() throws -> (send: Int, receive: Int) {
        let entry = try #require(CoroutineDump.take().entries.first { $0.id == waiting.id })
        let details = try #require(entry.wait?.subjects.first?.details)
        let parts = try #require(
          details.wholeMatch(
            of:
              /0 of 3 kept; .*; its send end is held by (\d+) references?, its receive end by (\d+)/
          )
        )
        return try (#require(Int(parts.1)), #require(Int(parts.2)))
      }
      let before = try held()
      #expect(before.send >= 1 && before.receive >= 1)
      let copies = [sender, sender, sender]
      #expect(try held() == (before.send + 3, before.receive))
      withExtendedLifetime((copies, sender)) {}
      waiting.cancel()
    }
  }

  @Test func `those that have not begun are in it, and those that have ended are not`() throws {
    try runBlocking {
      let ended = launch {}
      try ended.join()
      let unstarted = launch(stackSize: .kibibytes(64)) {}
      let entries = CoroutineDump.take().entries
      #expect(!entries.contains { $0.id == ended.id })
      let entry = try #require(entries.first { $0.id == unstarted.id })
      #expect(entry.state == .ready)
      #expect(entry.stack.isEmpty)
      #expect(entry.stackUsed == nil)
      #expect(entry.stackSize == 64 << 10)
    }
  }

  /// A coroutine may begin on the stack of one that has just ended, without a switch.
  @Test func `those that begin where another has just ended are in it`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      var waiting: [Coroutine] = []
      for _ in 0..<3 {
        launch {}
        waiting.append(launch { _ = try? channel.receive() })
      }
      while waiting.contains(where: { $0.state != .suspended }) { try Coroutine.yield() }
      let found = Set(CoroutineDump.take().entries.map(\.id))
      #expect(waiting.allSatisfy { found.contains($0.id) })
      for one in waiting { one.cancel() }
    }
  }

  @Test func `it says how long, until when, and who could end the wait`() throws {
    try runBlocking {
      let mutex = CoroutineMutex()
      let holder = launch { try mutex.withLock { try Coroutine.sleep(for: .seconds(100)) } }
      let locker = launch { try mutex.withLock {} }
      let promise = Promise<Int>()
      let limited = launch { try withTimeout(.seconds(50)) { try promise.await() } }
      try Coroutine.sleep(for: .milliseconds(20))
      let entries = CoroutineDump.take().entries
      let sleep = try #require(entries.first { $0.id == holder.id }?.wait)
      #expect(sleep.duration >= .milliseconds(15))
      #expect(sleep.duration < .seconds(60))
      let left = try #require(sleep.timeLeft)
      #expect(left > .seconds(40) && left < .seconds(100))
      let lock = try #require(entries.first { $0.id == locker.id }?.wait)
      #expect(lock.holder == holder.id)
      #expect(lock.timeLeft == nil)
      let limit = try #require(entries.first { $0.id == limited.id }?.wait?.timeLeft)
      #expect(limit > .seconds(10) && limit < .seconds(50))
      for coroutine in [holder, locker] { coroutine.cancel() }
      limited.cancel()
    }
  }

  @Test func `of a select it tells all channels`() throws {
    try runBlocking {
      let jobs = Channel<Int>(capacity: 2, name: "jobs")
      let results = Channel<String>(name: "results")
      let chooser = launch {
        try select {
          Receive(from: jobs) { _ in }
          Send("done", to: results) {}
          After(.seconds(50)) {}
        }
      }
      try Coroutine.yield()
      let wait = try #require(CoroutineDump.take().entries.first { $0.id == chooser.id }?.wait)
      #expect(wait.operation == "select")
      #expect(
        wait.subjects.map(\.description) == [
          "channel \"jobs\" made at \(jobs.creationSite), to receive",
          "channel \"results\" made at \(results.creationSite), to send",
        ]
      )
      #expect(
        wait.subjects.last?.details
          == "a rendezvous; #\(chooser.id) waits to send, nobody waits to receive"
      )
      #expect(try #require(wait.timeLeft) > .seconds(10))
      chooser.cancel()
    }
  }

  @Test func `of a descriptor it tells the number, what that is, and what for`() throws {
    let pipe = Pipe()
    let number = pipe.fileHandleForReading.fileDescriptor
    try runBlocking {
      let reader = launch { try DescriptorWait.wait(number, for: .reading, "reads") }
      try Coroutine.yield()
      let wait = try #require(CoroutineDump.take().entries.first { $0.id == reader.id }?.wait)
      #expect(wait.subjects.map(\.description) == ["descriptor \(number) (pipe), to read"])
      #expect(
        wait.subjects.first?.details == "#\(reader.id) waits to read, nobody waits to write"
      )
      reader.cancel()
    }
  }

  @Test func `every scheduler tells of its own`() throws {
    let queue = DispatchQueue(label: "tests.dump")
    let pool = PoolScheduler(threads: 2)
    let serial = SerialScheduler()
    let gate = Promise<Int>()
    let here = [
      launch(on: queue) { try gate.await() }, launch(on: pool) { try gate.await() },
      launch(on: serial) { try gate.await() },
    ]
    try withExtendedLifetime((pool, serial)) {
      // Whether they have begun is not known otherwise.
      while here.contains(where: { $0.state != .suspended }) { usleep(1000) }
      let dump = CoroutineDump.take(within: .seconds(100))
      let found = here.compactMap { one in dump.entries.first { $0.id == one.id } }
      #expect(found.count == 3)
      #expect(Set(found.map(\.scheduler)).count == 3)
      #expect(found.allSatisfy { $0.wait?.operation == "Promise.await()" })
      gate.fulfill(1)
      try runBlocking { for one in here { try one.join() } }
    }
  }

  @Test(.disabled(if: cck_is_instrumented() != 0, "ThreadSanitizer keeps signals back"))
  func `a scheduler that a coroutine holds up is told of from outside`() throws {
    let serial = SerialScheduler(name: "held up")
    let isOver = DispatchSemaphore(value: 0)
    let hog = launch(on: serial) { isOver.wait() }
    while hog.state != .running { usleep(1000) }
    // Its thread has to answer a signal, which it may be too slow for.
    let end = ContinuousClock.now + .seconds(60)
    var dump = CoroutineDump.take(within: .milliseconds(20))
    while dump.schedulers.first(where: { $0.label == "held up" })?.running == nil,
      ContinuousClock.now < end
    {
      dump = CoroutineDump.take(within: .milliseconds(20))
    }
    isOver.signal()
    #expect(!dump.entries.contains { $0.id == hog.id })
    let entry = try #require(dump.schedulers.first { $0.label == "held up" })
    #expect(entry.liveCount == 1)
    #expect(try #require(entry.silence).contains("#\(hog.id)"))
    #expect(entry.running == hog.id)
    #expect(!entry.stack.isEmpty)
  }

  #if os(Linux)
  // In a process of their own: a dump tells of all coroutines of the process, and there are other tests' here, and
  // much debug information.

  @Test(.disabled(if: cck_is_instrumented() != 0, "names would be looked up for too long"))
  func `stacks have names and lines, and those at one place are one paragraph`() throws {
    let probe = try Probe.run("dump")
    #expect(probe.status == 0)
    let text = probe.output
    #expect(text.contains("101 have not ended."))
    #expect(text.contains("100 coroutines #2 \"näme\", #3 \"näme\", "))
    #expect(text.contains("and 92 more wait in Channel.receive()"))
    #expect(text.components(separatedBy: "on channel \"crowded").count == 2)
    #expect(text.components(separatedBy: "receivesFromIt(_:) at ").count == 2)
    #expect(text.contains("DiagnosticsProbe/main.swift:"))
    #expect(!text.contains("switchOut"), "the library's own frames are left out")
  }

  /// The compiler puts code of the library's into such a loop.
  @Test(.disabled(if: cck_is_instrumented() != 0, "names would be looked up for too long"))
  func `who waits in a loop over a channel is shown there`() throws {
    let probe = try Probe.run("dump-loop")
    #expect(probe.output.contains("    receivesInLoop(_:)"))
    #expect(!probe.output.contains("cck_context_switch"))
    // In a build without optimisation the loop's code has no line of its own.
    let lines = probe.output.split(separator: "\n")
    let own = lines.filter { $0.contains("    closure #") && $0.contains("main.swift:") }
    #expect(own.count >= 3, "the closure, the actor, and the body that dumps")
    #expect(probe.output.contains("channel \"mailbox of at rest\" made at diagnostics_probe/main"))
  }

  @Test(.disabled(if: cck_is_instrumented() != 0, "names would be looked up for too long"))
  func `its JSON has all of them, with names and places`() throws {
    let probe = try Probe.run("dump-json")
    let line = try #require(probe.output.split(separator: "\n").first { $0.hasPrefix("{") })
    let object = try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    )
    let all = try #require(object["coroutines"] as? [[String: Any]])
    #expect(all.count == 101)
    let one = try #require(all.first { $0["id"] as? UInt64 == 2 })
    #expect(one["name"] as? String == "näme")
    #expect(one["parent"] as? UInt64 == 1)
    let wait = try #require(one["wait"] as? [String: Any])
    let subject = try #require((wait["subjects"] as? [[String: Any]])?.first)
    let name = "crowded \"quoted\", \\ and\nlines <b>"
    #expect((subject["description"] as? String)?.contains(name) == true)
    let stack = try #require(one["stack"] as? [[String: Any]])
    #expect(stack.contains { ($0["function"] as? String)?.contains("receivesFromIt") == true })
  }
  #endif

  /// Such as the main queue of a program whose main thread is busy.
  @Test func `of a queue that is not served it tells that something was launched there`() throws {
    let queue = DispatchQueue(label: "tests.not served")
    queue.suspend()
    let waiting = launch(on: queue) {}
    let dump = CoroutineDump.take(within: .milliseconds(20))
    queue.resume()
    let entry = try #require(dump.schedulers.first { $0.label == "tests.not served" })
    #expect(entry.liveCount == 1)
    #expect(
      entry.silence
        == "nobody runs it now: its thread, or its queue, is not served, or is busy with something else; what has been launched on it has not begun"
    )
    try runBlocking { try waiting.join() }
    // The queue lets go of it after that.
    queue.sync {}
    let later = CoroutineDump.take()
    #expect(!later.schedulers.contains { $0.label == "tests.not served" })
  }

  @Test func `a queue that is gone is asked nothing, whoever holds its scheduler (Q1)`() throws {
    var core: DispatchCore?
    do {
      let queue = DispatchQueue(label: "tests.gone")
      core = DispatchCore.of(queue)
      try runBlocking { try launch(on: queue) {}.join() }
    }
    // It goes when Dispatch has done with the last block.
    while !isKnownUniquelyReferenced(&core) { Thread.sleep(forTimeInterval: 0.001) }
    let orphan = try #require(core)
    // As if something were on its way.
    _ = orphan.home.post {}
    #expect(!orphan.postFromOutside {})
    #expect(!CoroutineDump.take().schedulers.contains { $0.label == "tests.gone" })
    // It is still on its way, and nobody else will have it.
    #expect(orphan.home.takePosts())
  }

  @Test func `dumps may be taken while queues come and go (Q1)`() throws {
    let isOver = Cell(false)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while isOver.value == false { _ = CoroutineDump.take(within: .milliseconds(1)) }
      done.signal()
    }
    var sum = 0
    try runBlocking {
      for number in 1...300 {
        let queue = DispatchQueue(label: "tests.passing")
        sum += try launch(on: queue) {
          try Coroutine.yield()
          return number
        }.value()
      }
    }
    isOver.value = true
    done.wait()
    #expect(sum == 45_150)
  }

  /// In a process of its own, where other tests' dumps do not have to tell of the crowd as well.
  @Test func `a crowd is dumped while others come and go elsewhere`() async {
    await #expect(processExitsWith: .success) {
      let pool = PoolScheduler(threads: 2)
      let isOver = Cell(false)
      try blocking {
        let churn = launch(on: pool) {
          while isOver.value == false {
            try withCoroutineScope { scope in
              for _ in 0..<50 { scope.launch { try Coroutine.yield() } }
            }
          }
        }
        let channel = Channel<Int>()
        let crowd = (0..<(cck_is_instrumented() != 0 ? 1000 : 100_000)).map { _ in
          launch(stackSize: .kibibytes(64)) { try? channel.receive() }
        }
        try Coroutine.yield()
        for _ in 0..<3 {
          let dump = CoroutineDump.take(within: .seconds(100))
          let ids = Set(dump.entries.map(\.id))
          #expect(crowd.allSatisfy { ids.contains($0.id) })
          #expect(ids.count == dump.entries.count)
        }
        isOver.value = true
        channel.close()
        try churn.value()
      }
      withExtendedLifetime(pool) {}
    }
  }

  /// Each holds its scheduler's turn until the other has answered, which therefore has to work without the turn.
  ///
  /// In a process of its own, where no crowd of another test's is in each of the dumps.
  @Test func `two that take dumps at a time do not wait for each other`() async {
    await #expect(processExitsWith: .success) {
      try blocking {
        let takers = (0..<2).map { _ in
          launch(on: SerialScheduler(name: "taker")) {
            (0..<200)
              .allSatisfy { _ in
                let dump = CoroutineDump.take(within: .seconds(200))
                return dump.schedulers.allSatisfy { $0.silence == nil }
              }
          }
        }
        for taker in takers {
          let isAnswered = try taker.value()
          #expect(isAnswered)
        }
      }
    }
  }
}
