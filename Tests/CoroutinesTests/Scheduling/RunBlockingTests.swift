// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Dispatch
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct RunBlockingTests {
  @Test func `it returns what its body returns`() throws {
    #expect(try runBlocking { 6 * 7 } == 42)
  }

  @Test func `it throws what its body throws`() {
    #expect(throws: Problem(1)) { try runBlocking { throw Problem(1) } }
  }

  @Test func `it runs everything on the calling thread`() throws {
    let thread = pthread_self()
    let strays = Counter()
    try runBlocking {
      for _ in 0..<20 {
        launch {
          for _ in 0..<5 {
            if pthread_equal(thread, pthread_self()) == 0 { strays.add() }
            try Coroutine.sleep(for: .microseconds(100))
          }
        }
      }
    }
    #expect(strays.value == 0)
  }

  @Test func `it waits for everything launched on its loop`() throws {
    let ended = Counter()
    try runBlocking {
      launch {
        try Coroutine.sleep(for: .milliseconds(2))
        launch {
          try Coroutine.yield()
          ended.add()
        }
        ended.add()
      }
      return
    }
    #expect(ended.value == 2)
  }

  @Test func `everything that was made ready has run when it returns (rule 5)`() throws {
    let log = Log()
    try runBlocking {
      let gates = (0..<3).map { _ in Gate() }
      for index in 0..<3 {
        launch {
          try gates[index].wait()
          log("\(index)")
          if index < 2 { gates[index + 1].open() }
        }
      }
      try Coroutine.yield()
      gates[0].open()
    }
    #expect(log.entries == ["0", "1", "2"])
  }

  @Test func `a body that throws cancels what it launched`() throws {
    let log = Log()
    #expect(throws: Problem(1)) {
      try runBlocking {
        launch {
          defer { log("child unwinds") }
          try waitForEver()
        }
        launch(on: SerialScheduler()) { try Coroutine.sleep(for: .seconds(100)) }
        try Coroutine.yield()
        throw Problem(1)
      }
    }
    #expect(log.entries == ["child unwinds"])
  }

  @Test func `in a coroutine it runs its body there`() throws {
    try runBlocking {
      let outer = Coroutine.current
      let log = Log()
      launch { log("other") }
      let isSame = try runBlocking {
        try Coroutine.yield()
        log("inner")
        return Coroutine.current === outer
      }
      #expect(isSame)
      #expect(log.entries == ["other", "inner"])
    }
  }

  @Test func `loops of several threads do not disturb one another`() throws {
    let sums = try runBlocking {
      let schedulers = (0..<4).map { _ in DispatchQueue(label: "thread") }
      let workers = schedulers.map { queue in
        launch(on: queue) {
          // A thread that belongs to no scheduler runs a loop of its own.
          onPlainThread {
            (try? runBlocking {
              let parts = (1...100).map { number in
                launch {
                  try Coroutine.yield()
                  return number
                }
              }
              return try parts.map { try $0.value() }.reduce(0, +)
            }) ?? 0
          }
        }
      }
      return try workers.map { try $0.value() }
    }
    #expect(sums == [5050, 5050, 5050, 5050])
  }

  @Test func `in a block of a queue it serves coroutines of its own`() throws {
    let queue = DispatchQueue(label: "test")
    let log = Log()
    try queue.sync {
      try runBlocking {
        launch { log("loop") }
        try Coroutine.yield()
      }
      log("block goes on")
    }
    #expect(log.entries == ["loop", "block goes on"])
  }

  @Test func `in a block of a queue it can wait for other queues`() throws {
    let queue = DispatchQueue(label: "test")
    let value = try queue.sync {
      try runBlocking { try launch(on: DispatchQueue(label: "other")) { 5 }.value() }
    }
    #expect(value == 5)
  }

  @Test func `thousands of loops, one after another, leave nothing behind`() throws {
    var sum = 0
    for index in 0..<3_000 { sum += try runBlocking { try launch { index }.value() } }
    #expect(sum == 3_000 * 2_999 / 2)
  }

  @Test func `a loop that waits for a thread sleeps until it is woken`() throws {
    for _ in 0..<200 {
      let gate = Gate()
      try runBlocking {
        startThread { gate.open() }
        try gate.wait()
      }
    }
  }

  @Test func `a busy loop still looks at its timers`() throws {
    let rounds = try runBlocking {
      var isOver = false
      launch {
        try Coroutine.sleep(for: .milliseconds(1))
        isOver = true
      }
      var rounds = 0
      while !isOver {
        rounds += 1
        try Coroutine.yield()
      }
      return rounds
    }
    #expect(rounds > 1)
  }

  @Test func `a busy loop still looks at its inbox`() throws {
    let opened = Counter()
    try runBlocking {
      let gate = Gate()
      launch {
        try gate.wait()
        opened.add()
      }
      startThread { gate.open() }
      // Two that hand over to each other directly.
      for _ in 0..<2 {
        launch { while opened.value == 0 { try Coroutine.yield() } }
      }
    }
    #expect(opened.value == 1)
  }
}
