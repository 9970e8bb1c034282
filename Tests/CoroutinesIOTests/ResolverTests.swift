// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesIO
import CoroutinesTesting
import Dispatch
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Names, and connections to hosts with several addresses.
@Suite(.timeLimit(.minutes(30))) struct ResolverTests {
  // MARK: - Names

  @Test func `the system knows this machine, and digits are nobody's name`() throws {
    try runBlocking {
      let found = try Resolver.system.addresses(of: "localhost", port: 7)
      #expect(found.contains(.loopback(port: 7)) || found.contains(.loopback6(port: 7)))
      let nobody = Resolver { _, _ in throw CancellationError() }
      #expect(try nobody.addresses(of: "10.1.2.3", port: 8) == [.ipv4(0x0a01_0203, port: 8)])
      #expect(try nobody.addresses(of: "::1", port: 8) == [.loopback6(port: 8)])
    }
  }

  @Test func `a name that nobody can have is an error with the name`() throws {
    try runBlocking {
      for name in ["not a name", "", "zero\0byte", String(repeating: "x", count: 5000)] {
        let error = #expect(throws: ResolutionError.self) {
          _ = try Resolver.system.addresses(of: name, port: 1)
        }
        #expect(error?.host == name)
      }
    }
  }

  @Test func `a slow resolver delays nobody else, and a cancelled wait for it ends (rule 2)`()
    throws
  {
    let answer = DispatchSemaphore(value: 0)
    let slow = Resolver { _, port in
      try offload {
        answer.wait()
        return [.loopback(port: port)]
      }
    }
    try runBlocking {
      let waiting = launch { try slow.addresses(of: "slow", port: 1) }
      let cancelled = launch { try slow.addresses(of: "slow", port: 2) }
      let late = launch {
        try withTimeout(.milliseconds(5)) { _ = try slow.addresses(of: "slow", port: 3) }
      }
      // Others come and go meanwhile.
      for _ in 0..<100 { try launch { try Coroutine.yield() }.join() }
      cancelled.cancel()
      #expect(throws: CancellationError.self) { _ = try cancelled.value() }
      #expect(throws: TimeoutError.self) { try late.value() }
      #expect(!waiting.isFinished)
      for _ in 0..<3 { answer.signal() }
      #expect(try waiting.value() == [.loopback(port: 1)])
    }
  }

  // MARK: - The race, in virtual time

  @Test func `families take turns, IPv6 first, each in the resolver's order`() {
    let (a, b, c) = (
      SocketAddress.any(port: 1), SocketAddress.any(port: 2), SocketAddress.any(port: 3)
    )
    let (x, y) = (SocketAddress.loopback6(port: 1), SocketAddress.loopback6(port: 2))
    #expect(HappyEyeballs.interleave([a, b, c, x, y]) == [x, a, y, b, c])
    #expect(HappyEyeballs.interleave([a, x]) == [x, a])
    #expect(HappyEyeballs.interleave([b, a]) == [b, a])
    #expect(HappyEyeballs.interleave([]) == [])
  }

  /// How an attempt of a played race goes; by its port.
  struct Play {
    /// Milliseconds; nil for "never".
    var answers: Int?
    var fails = false
  }

  /// Plays a race in virtual time; ports count the addresses.
  private func race(_ plays: [Play]) throws -> (result: Result<UInt16, any Error>, log: [String]) {
    let log = Log()
    let scheduler = TestScheduler()
    let addresses = (1...plays.count).map { SocketAddress.loopback(port: UInt16($0)) }
    let result = Cell<Result<UInt16, any Error>>()
    try scheduler.run {
      func now() -> Int { Int(scheduler.elapsed / .milliseconds(1)) }
      result.value = Result {
        try HappyEyeballs.connect("host", addresses, attemptDelay: .milliseconds(250)) { address in
          let port = try #require(address.port)
          log("\(now()): try \(port)")
          let play = plays[Int(port) - 1]
          do {
            try Coroutine.sleep(for: play.answers.map { .milliseconds($0) } ?? .seconds(9999))
          } catch {
            log("\(now()): give up \(port)")
            throw error
          }
          if play.fails { throw IOError(code: ECONNREFUSED, operation: "\(port)") }
          return port
        } disposal: {
          log("\(now()): dispose \($0)")
        }
      }
      log("\(now()): end")
    }
    return (try #require(result.value), log.entries)
  }

  @Test func `an attempt that answers at once is the only one`() throws {
    let (result, log) = try race([Play(answers: 249), Play(answers: 1)])
    #expect(try result.get() == 1)
    #expect(log == ["0: try 1", "249: end"])
  }

  @Test func `each attempt is alone for a while, and the first answer wins`() throws {
    let (result, log) = try race([Play(), Play(), Play(answers: 100), Play(answers: 1)])
    #expect(try result.get() == 3)
    #expect(
      log == [
        "0: try 1", "250: try 2", "500: try 3", "600: give up 1", "600: give up 2", "600: end",
      ]
    )
  }

  @Test func `an early attempt may win late`() throws {
    let (result, log) = try race([Play(answers: 300), Play()])
    #expect(try result.get() == 1)
    #expect(log == ["0: try 1", "250: try 2", "300: give up 2", "300: end"])
  }

  @Test func `a failure begins the next attempt at once, which is alone for the whole delay`()
    throws
  {
    let (result, log) = try race([
      Play(answers: 100, fails: true), Play(), Play(answers: 10, fails: true), Play(answers: 5),
    ])
    #expect(try result.get() == 4)
    #expect(
      log == ["0: try 1", "100: try 2", "350: try 3", "360: try 4", "365: give up 2", "365: end"]
    )
  }

  @Test func `when all fail the error names each attempt, in the order of failing`() throws {
    let (result, _) = try race([
      Play(answers: 600, fails: true), Play(answers: 10, fails: true),
      Play(answers: 100, fails: true),
    ])
    let error = #expect(throws: ConnectionError.self) { _ = try result.get() }
    #expect(error?.attempts.map(\.address.port) == [2, 3, 1])
    #expect(error?.attempts.map(\.error.code) == [ECONNREFUSED, ECONNREFUSED, ECONNREFUSED])
    #expect("\(try #require(error))".hasPrefix("connecting to host: 2: Connection refused"))
  }

  @Test func `two that answer at the same time: one is taken, the other disposed of`() throws {
    let (result, log) = try race([Play(answers: 300), Play(answers: 50)])
    let winner = try result.get()
    #expect(
      log.contains("300: dispose \(3 - winner)") || log.contains("300: give up \(3 - winner)")
    )
  }

  @Test func `a cancelled race gives all attempts up (rules 2 and 8)`() throws {
    let scheduler = TestScheduler()
    let log = Log()
    try scheduler.run {
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(300)) {
          try HappyEyeballs.connect(
            "host",
            [.loopback(port: 1), .loopback(port: 2)],
            attemptDelay: .milliseconds(250),
            by: { address in
              defer { log("\(address.port ?? 0)") }
              try Coroutine.sleep(for: .seconds(99))
            },
            disposal: { _ in log("disposed") }
          )
        }
      }
    }
    #expect(log.entries.sorted() == ["1", "2"])
    #expect(scheduler.elapsed == .milliseconds(300))
  }

  // MARK: - Real connections

  /// A listener that takes no more connections, as a host that does not answer.
  final class BlackHole {
    let listener: StreamListener
    /// What fills its backlog.
    private var held: [ByteStream] = []

    init() throws {
      listener = try StreamListener(on: .loopback(port: 0), backlog: 0)
      while held.count < 16 {
        do {
          let address = listener.address
          held.append(try withTimeout(.milliseconds(100)) { try ByteStream.connect(to: address) })
        } catch is TimeoutError { return }
      }
      throw IOError(code: 0, operation: "a backlog that never fills")
    }
  }

  #if os(Linux)
  @Test func `a host that does not answer is passed over, and cancelled attempts end`() throws {
    try runBlocking {
      let hole = try BlackHole()
      let good = try StreamListener(on: .loopback(port: 0))
      let resolver = Resolver { [hole = hole.listener.address, good = good.address] _, _ in
        [hole, hole, good]
      }
      let stream = try ByteStream.connect(
        host: "name",
        port: 1,
        resolver: resolver,
        attemptDelay: .milliseconds(10)
      )
      #expect(stream.peer == good.address)
      let accepted = try good.accept()
      try accepted.write("hello")
      #expect(try stream.read() == Array("hello".utf8))
      // Nobody answers.
      let address = hole.listener.address
      let nobody = Resolver { _, _ in [address, address] }
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(50)) {
          _ = try ByteStream.connect(
            host: "name",
            port: 1,
            resolver: nobody,
            attemptDelay: .milliseconds(10)
          )
        }
      }
      let cancelled = launch { try ByteStream.connect(host: "name", port: 1, resolver: nobody) }
      while cancelled.state != .suspended { try Coroutine.yield() }
      cancelled.cancel()
      #expect(throws: CancellationError.self) { _ = try cancelled.value() }
    }
  }

  @Test func `no attempt leaves a descriptor open`() async {
    await #expect(processExitsWith: .success) {
      requireNoDescriptorsLeft {
        try runBlocking {
          let hole = try BlackHole()
          let good = try StreamListener(on: .loopback(port: 0))
          let gone = try StreamListener(on: .loopback(port: 0))
          gone.close()
          let addresses = [hole.listener.address, gone.address, good.address]
          let found = Resolver { _, _ in addresses }
          let delay = Duration.milliseconds(1)
          let stream = try ByteStream.connect(
            host: "name",
            port: 1,
            resolver: found,
            attemptDelay: delay
          )
          stream.close()
          let holes = Resolver { _, _ in [addresses[0], addresses[0]] }
          try? withTimeout(.milliseconds(5)) {
            _ = try ByteStream.connect(host: "name", port: 1, resolver: holes, attemptDelay: delay)
          }
          let none = Resolver { _, _ in [addresses[1], addresses[1]] }
          _ = try? ByteStream.connect(host: "name", port: 1, resolver: none)
        }
      }
    }
  }
  #endif

  @Test func `the error of real attempts has their addresses and reasons`() throws {
    try runBlocking {
      let gone = try StreamListener(on: .loopback(port: 0))
      gone.close()
      let address = gone.address
      let resolver = Resolver { _, _ in [address, address] }
      let error = #expect(throws: ConnectionError.self) {
        _ = try ByteStream.connect(host: "name", port: 80, resolver: resolver)
      }
      #expect(error?.host == "name:80")
      #expect(error?.attempts.map(\.address) == [address, address])
      #expect(error?.attempts.map(\.error.code) == [ECONNREFUSED, ECONNREFUSED])
      let empty = #expect(throws: ConnectionError.self) {
        _ = try ByteStream.connect(host: "name", port: 80, resolver: Resolver { _, _ in [] })
      }
      #expect(empty?.description.hasPrefix("connecting to name:80: it has no address.") == true)
    }
  }

  @Test func `a name leads to whoever listens`() throws {
    try runBlocking {
      let listener = try StreamListener(on: .loopback(port: 0))
      let port = try #require(listener.address.port)
      let stream = try ByteStream.connect(host: "localhost", port: port)
      #expect(stream.peer == listener.address)
      #expect(try listener.accept().peer?.port != nil)
    }
  }
}
