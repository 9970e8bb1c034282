// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesIO
import Dispatch
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Streams of bytes: sockets of both kinds, and pipes.
@Suite(.timeLimit(.minutes(30))) struct ByteStreamTests {
  /// What carries bytes both ways.
  enum Carrier: CaseIterable {
    case tcp, tcp6, unix, pair

    func connect() throws -> (ByteStream, ByteStream) {
      let address: SocketAddress
      switch self {
      case .pair: return try ByteStream.pair()
      case .tcp: address = .loopback(port: 0)
      case .tcp6: address = .loopback6(port: 0)
      case .unix:
        address = .unix(path: "/tmp/swift-coroutines-\(getpid())-\(UInt64.random(in: 0 ... .max))")
      }
      let listener = try StreamListener(on: address)
      defer {
        if case .unix(let path) = address { unlink(path) }
      }
      let accepted = launch { try listener.accept() }
      let connected = try ByteStream.connect(to: listener.address)
      return (connected, try accepted.value())
    }
  }

  @Test(arguments: Carrier.allCases)
  func `what one writes the other reads, both ways`(_ carrier: Carrier) throws {
    try runBlocking {
      let (one, other) = try carrier.connect()
      let echo = launch {
        while case let bytes = try other.read(), !bytes.isEmpty { try other.write(bytes) }
        other.close()
      }
      for number in 0..<100 {
        let text = String(repeating: "\(number) ", count: number + 1)
        try one.write(text)
        #expect(try String(decoding: one.read(exactly: text.utf8.count), as: UTF8.self) == text)
      }
      try one.finishWriting()
      #expect(try one.read().isEmpty)
      try echo.value()
    }
  }

  @Test(arguments: Carrier.allCases)
  func `half-closed, one goes on to read what the other goes on to write`(_ carrier: Carrier) throws
  {
    try runBlocking {
      let (one, other) = try carrier.connect()
      try one.write("question")
      try one.finishWriting()
      #expect(try String(decoding: other.readToEnd(), as: UTF8.self) == "question")
      try other.write("answer")
      other.close()
      #expect(try String(decoding: one.readToEnd(), as: UTF8.self) == "answer")
      // At the end, again and again.
      #expect(try one.read().isEmpty)
      #expect(try one.read().isEmpty)
      #expect(throws: IOError.self) { try one.write("more") }
    }
  }

  @Test(arguments: Carrier.allCases)
  func `who writes more than the other reads waits, and all arrives in order`(
    _ carrier: Carrier
  ) throws {
    try runBlocking {
      let (one, other) = try carrier.connect()
      // More than the system keeps for any of them.
      var sent = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
      for _ in 0..<5 { sent += sent }
      let writer = launch { [sent] in
        try one.write(sent)
        one.close()
      }
      try Coroutine.yield()
      #expect(!writer.isFinished)
      #expect(try other.readToEnd() == sent)
      try writer.value()
    }
  }

  @Test(arguments: Carrier.allCases)
  func `a byte at a time arrives, whatever the size of the reads`(_ carrier: Carrier) throws {
    try runBlocking {
      let (one, other) = try carrier.connect()
      let writer = launch {
        for byte in UInt8(0)..<200 {
          try one.write([byte])
          if byte % 7 == 0 { try Coroutine.yield() }
        }
        one.close()
      }
      var received: [UInt8] = []
      var size = 0
      while true {
        size = size % 5 + 1
        let bytes = try other.read(upTo: size)
        if bytes.isEmpty { break }
        received += bytes
      }
      #expect(received == Array(0..<200))
      try writer.value()
    }
  }

  @Test(arguments: Carrier.allCases)
  func `the end that comes with the last bytes is seen`(_ carrier: Carrier) throws {
    try runBlocking {
      for _ in 0..<50 {
        let (one, other) = try carrier.connect()
        // Both are there before the first look.
        try one.write("last words")
        one.close()
        #expect(try other.read().count == 10)
        #expect(try other.read().isEmpty)
      }
    }
  }

  @Test
  func `a pipe carries bytes one way, and writing where nobody reads is an error and no signal`()
    throws
  {
    try runBlocking {
      let (reading, writing) = try ByteStream.pipe()
      let sent = [UInt8](repeating: 7, count: 1_000_000)
      let writer = launch {
        try writing.write(sent)
        writing.close()
      }
      #expect(try reading.readToEnd() == sent)
      try writer.value()
      let (nobody, broken) = try ByteStream.pipe()
      nobody.close()
      let error = #expect(throws: IOError.self) { try broken.write("x") }
      #expect(error?.code == EPIPE)
    }
  }

  // MARK: - Ends of waits

  @Test func `cancelling ends a read and loses nothing (rules 2 and 3)`() throws {
    try runBlocking {
      let (one, other) = try ByteStream.pair()
      let reader = launch { try other.read() }
      try Coroutine.yield()
      reader.cancel()
      #expect(throws: CancellationError.self) { try reader.value() }
      try one.write("kept")
      #expect(try String(decoding: other.read(), as: UTF8.self) == "kept")
    }
  }

  @Test func `a deadline ends a read and a write, and the stream goes on (rule 8)`() throws {
    try runBlocking {
      let (one, other) = try ByteStream.pair()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(10)) { _ = try other.read() }
      }
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(10)) { while true { try one.write("fill") } }
      }
      other.idleTimeout = .milliseconds(10)
      while !(try other.read()).isEmpty, one.isClosed == false {
        if (try? other.read(upTo: 1 << 20)) == nil { break }
      }
      let error = #expect(throws: IOError.self) { _ = try other.read() }
      #expect(error?.code == ETIMEDOUT)
      other.idleTimeout = nil
      try one.write("again")
      #expect(try String(decoding: other.read(), as: UTF8.self) == "again")
    }
  }

  @Test func `closing wakes who reads and who writes, with an error that says so (rule 5)`() throws
  {
    try runBlocking {
      let (one, other) = try ByteStream.pair()
      let reader = launch { try one.read() }
      let writer = launch { while true { try one.write("fill the other end's room") } }
      while writer.state != .suspended || reader.state != .suspended { try Coroutine.yield() }
      one.close()
      one.close()
      for error in [
        #expect(throws: IOError.self) { _ = try reader.value() },
        #expect(throws: IOError.self) { try writer.value() },
        #expect(throws: IOError.self) { _ = try one.read() },
      ] { #expect(error?.code == EBADF) }
      #expect(other.isClosed == false && one.isClosed)
    }
  }

  @Test func `a stream that nobody has is closed`() throws {
    try runBlocking {
      func oneOfTwo() throws -> ByteStream { try ByteStream.pair().0 }
      let one = try oneOfTwo()
      #expect(try one.read().isEmpty)
    }
  }

  @Test func `a reset is an error at the other end, which names it`() throws {
    try runBlocking {
      let (one, other) = try Carrier.tcp.connect()
      one.reset()
      let error = #expect(throws: IOError.self) { _ = try other.read() }
      #expect(error?.code == ECONNRESET)
      let text = "\(try #require(error))"
      #expect(
        text.hasPrefix("reading from 127.0.0.1:") && text.contains("Connection reset by peer")
      )
    }
  }

  @Test func `closing on another thread never lets a number be used for something else`() throws {
    let scheduler = SerialScheduler(name: "closer")
    try runBlocking {
      for _ in 0..<300 {
        let (one, other) = try ByteStream.pair()
        try one.write("x")
        let closer = launch(on: scheduler) { other.close() }
        // Sockets that take over the numbers, if they can: bytes of theirs must not show up.
        let reader = launch { () -> Int in
          var count = 0
          while let bytes = try? other.read(), !bytes.isEmpty { count += bytes.count }
          return count
        }
        let (strange, stranger) = try ByteStream.pair()
        try strange.write("strange")
        #expect(try reader.value() <= 1)
        #expect(try stranger.read().count == 7)
        try closer.value()
      }
    }
  }

  // MARK: - Connecting and accepting

  @Test func `connecting where nobody listens says so`() throws {
    try runBlocking {
      let listener = try StreamListener(on: .loopback(port: 0))
      listener.close()
      let error = #expect(throws: IOError.self) { _ = try ByteStream.connect(to: listener.address) }
      #expect(error?.code == ECONNREFUSED)
      #expect("\(try #require(error))".hasPrefix("connecting to 127.0.0.1:"))
      let missing = #expect(throws: IOError.self) {
        _ = try ByteStream.connect(to: .unix(path: "/tmp/swift-coroutines-nobody"))
      }
      #expect(missing?.code == ENOENT)
      let long = #expect(throws: IOError.self) {
        _ = try ByteStream.connect(to: .unix(path: String(repeating: "x", count: 300)))
      }
      #expect(long?.code == ENAMETOOLONG)
    }
  }

  @Test func `an address that is taken is refused`() throws {
    let listener = try StreamListener(on: .loopback(port: 0))
    let error = #expect(throws: IOError.self) { _ = try StreamListener(on: listener.address) }
    #expect(error?.code == EADDRINUSE)
  }

  @Test func `several who accept get all connections, each one`() throws {
    try runBlocking {
      let listener = try StreamListener(on: .loopback(port: 0))
      let served = Counter()
      let servers = (0..<4).map { _ in
        launch {
          for stream in listener.connections {
            try stream.write([UInt8(served.add())])
            stream.close()
          }
        }
      }
      let clients = (0..<100).map { _ in
        launch { try ByteStream.connect(to: listener.address).readToEnd() }
      }
      let numbers = try clients.map { try #require(try $0.value().first) }
      #expect(numbers.sorted() == Array(1...100))
      listener.close()
      for server in servers { try server.value() }
    }
  }

  @Test(arguments: ["loop", "pool", "queue"])
  func `a thousand connections at once, on every scheduler`(_ kind: String) throws {
    let scheduler: Scheduler =
      switch kind {
      case "pool": PoolScheduler(threads: 2)
      case "queue": .queue(DispatchQueue(label: "io"))
      default: SerialScheduler(name: "loop")
      }
    let listener = try StreamListener(on: .loopback(port: 0))
    let address = listener.address
    let server = launch(on: scheduler) {
      try withCoroutineScope { scope in
        for stream in listener.connections {
          scope.launch {
            while case let bytes = try stream.read(), !bytes.isEmpty { try stream.write(bytes) }
            stream.close()
          }
        }
      }
    }
    try runBlocking {
      let clients = (0..<200).map { number in
        launch {
          let stream = try ByteStream.connect(to: address)
          for round in 0..<5 {
            try stream.write("\(number) \(round);")
            let count = "\(number) \(round);".utf8.count
            #expect(
              try String(decoding: stream.read(exactly: count), as: UTF8.self)
                == "\(number) \(round);"
            )
          }
          stream.close()
        }
      }
      for client in clients { try client.value() }
      listener.close()
      try server.value()
    }
  }

  @Test func `a stream may be read here and there by turns`() throws {
    let (one, other) = try ByteStream.pair()
    let schedulers = [SerialScheduler(name: "a"), SerialScheduler(name: "b")]
    try runBlocking {
      for round in 0..<100 {
        let reader = launch(on: schedulers[round % 2]) { try other.read() }
        if round % 3 == 0 { try Coroutine.yield() }
        try one.write("\(round)")
        #expect(try String(decoding: reader.value(), as: UTF8.self) == "\(round)")
      }
    }
  }

  @Test func `an open descriptor can be taken over`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let reading = try ByteStream(takingOver: ends[0])
    let writing = try ByteStream(takingOver: ends[1])
    try runBlocking {
      let reader = launch { try reading.read() }
      try Coroutine.yield()
      try writing.write("x")
      #expect(try reader.value() == Array("x".utf8))
    }
    let error = #expect(throws: IOError.self) { _ = try ByteStream(takingOver: -1) }
    #expect(error?.code == EBADF)
  }

  @Test func `a terminal gives a line at a time, and the next one without another event`() throws {
    var (outer, inner): (Int32, Int32) = (-1, -1)
    try #require(openpty(&outer, &inner, nil, nil, nil) == 0)
    let keyboard = try ByteStream(takingOver: outer)
    let program = try ByteStream(takingOver: inner)
    try runBlocking {
      try keyboard.write("one\ntwo\nthree\n")
      for line in ["one\n", "two\n", "three\n"] {
        #expect(try withTimeout(.seconds(60)) { try program.read() } == Array(line.utf8))
      }
      keyboard.close()
    }
  }

  @Test func `outside a coroutine a call that must wait is refused (rule 12)`() throws {
    let (one, other) = try ByteStream.pair()
    #expect(throws: CoroutineError.self) { _ = try one.read() }
    withExtendedLifetime(other) {}
  }
}
