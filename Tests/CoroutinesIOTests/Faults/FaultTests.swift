// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesIO
import FaultProxy
import Testing

#if os(Linux)
import Glibc

/// Peers that misbehave: each call ends in an error of a type within its time, others go on unharmed, and no
/// descriptor stays open.
///
/// In processes of their own, whose descriptors nobody else changes.
@Suite(.timeLimit(.minutes(30))) struct FaultTests {
  @Test(arguments: [0, 1, 5000])
  func `a reset is an I/O error that says so`(_ count: Int) async {
    await #expect(processExitsWith: .success) { [count] in
      try beside { server in
        try expect(.reset(after: count), server) { client in
          let error = #expect(throws: IOError.self) { try client.ask(for: 10_000) }
          #expect(error?.code == ECONNRESET)
        }
      }
    }
  }

  @Test(arguments: [0, 1, 5000])
  func `a peer that says nothing more is ended by a deadline, and by a limit on silence`(
    _ count: Int
  ) async {
    await #expect(processExitsWith: .success) { [count] in
      try beside { server in
        try expect(.stall(after: count), server) { client in
          #expect(throws: TimeoutError.self) {
            try withTimeout(.milliseconds(50)) { try client.ask(for: 10_000) }
          }
        }
        try expect(.stall(after: count), server) { client in
          client.stream.idleTimeout = .milliseconds(50)
          let error = #expect(throws: IOError.self) { try client.ask(for: 10_000) }
          #expect(error?.code == ETIMEDOUT)
        }
      }
    }
  }

  @Test func `a byte now and then breaks a deadline, though never a limit on silence`() async {
    await #expect(processExitsWith: .success) {
      try beside { server in
        try expect(.trickle(every: .milliseconds(1)), server) { client in
          client.stream.idleTimeout = .seconds(5)
          #expect(throws: TimeoutError.self) {
            try withTimeout(.milliseconds(50)) { try client.ask(for: 10_000) }
          }
        }
      }
    }
  }

  @Test(arguments: [0, 1, 5000])
  func `an early end says how much is missing`(_ count: Int) async {
    await #expect(processExitsWith: .success) { [count] in
      try beside { server in
        try expect(.halfClose(after: count), server) { client in
          #expect(throws: StreamEndedError(expected: 10_000, received: count)) {
            try client.ask(for: 10_000)
          }
        }
      }
    }
  }

  @Test func `garbage is found by who checks it`() async {
    await #expect(processExitsWith: .success) {
      try beside { server in
        try expect(.garbage(after: 5000), server) { client in
          #expect(throws: Client.Garbage(at: 5000)) { try client.ask(for: 10_000) }
        }
      }
    }
  }

  @Test func `a peer that takes nothing is ended by a deadline while one writes`() async {
    await #expect(processExitsWith: .success) {
      try beside { server in
        try expect(.deafness, server) { client in
          #expect(throws: TimeoutError.self) {
            try withTimeout(.milliseconds(50)) {
              while true { try client.stream.write([UInt8](repeating: 0, count: 1 << 20)) }
            }
          }
        }
      }
    }
  }

  @Test func `hundreds of connections, each with another fault, all end as they should`() async {
    await #expect(processExitsWith: .success) {
      try beside { server in
        let faults: [Fault] = [
          .none, .reset(after: 100), .stall(after: 100), .trickle(every: .milliseconds(100)),
          .garbage(after: 100), .halfClose(after: 100), .none,
        ]
        var ends: [String: Int] = [:]
        // The limit must not end those who get all of it.
        let wereInTime = try inTime(within: [.seconds(2), .seconds(20), .seconds(120)]) { limit in
          ends = [:]
          try FaultProxy.with(to: server, fault: { faults[$0 % faults.count] }) { proxy in
            let clients = (0..<350).map { _ in
              launch { () -> String in
                do {
                  let client = Client(stream: try ByteStream.connect(to: proxy.address))
                  defer { client.stream.close() }
                  try withTimeout(limit) { try client.ask(for: 2000) }
                  return "all of it"
                } catch {
                  return "\(type(of: error))"
                }
              }
            }
            for client in clients { ends[try client.value(), default: 0] += 1 }
          }
          return ends == [
            "all of it": 100, "IOError": 50, "TimeoutError": 100, "Garbage": 50,
            "StreamEndedError": 50,
          ]
        }
        #expect(wereInTime, "\(ends)")
      }
    }
  }

  @Test func `without descriptors connecting fails, accepting waits, and both go on afterwards`()
    async
  {
    await #expect(processExitsWith: .success) {
      try beside { server in
        let listener = try StreamListener(on: .loopback(port: 0))
        let accepting = launch {
          var count = 0
          for stream in listener.connections {
            stream.close()
            count += 1
            if count == 2 { break }
          }
          return count
        }
        // Waiting opens what a loop needs for it.
        try ByteStream.connect(to: listener.address).close()
        let client = Client(stream: try ByteStream.connect(to: server))
        let spare = try ByteStream.pipe()
        let descriptors = TakenDescriptors(left: 0)
        let error = #expect(throws: IOError.self) { _ = try ByteStream.connect(to: server) }
        #expect(error?.code == EMFILE)
        let refused = #expect(throws: IOError.self) { _ = try ByteStream.pipe() }
        #expect(refused?.code == EMFILE)
        // What is open goes on.
        try client.ask(for: 100)
        descriptors.giveBack()
        spare.reading.close()
        spare.writing.close()
        client.stream.close()
        try ByteStream.connect(to: listener.address).close()
        #expect(try accepting.value() == 2)
      }
    }
  }
}

/// Asks a server for bytes whose values are known.
private struct Client {
  struct Garbage: Error, Equatable { let at: Int }

  let stream: ByteStream

  func ask(for count: Int) throws {
    try stream.write("\(count)\n")
    let bytes = try stream.read(exactly: count)
    if let wrong = bytes.indices.first(where: { bytes[$0] != UInt8(truncatingIfNeeded: $0) }) {
      throw Garbage(at: wrong)
    }
  }
}

/// Runs `body` against a proxy with one fault.
private func expect(
  _ fault: Fault,
  _ server: SocketAddress,
  _ body: (Client) throws -> Void
) throws {
  try FaultProxy.with(to: server, fault: { _ in fault }) { proxy in
    let client = Client(stream: try ByteStream.connect(to: proxy.address))
    defer { client.stream.close() }
    try body(client)
  }
}

/// Runs `body` with a server, while another of its connections is in use all the time; all of it with a limit.
///
/// Fails if the other connection is harmed, or if a descriptor is open afterwards that was not before.
private func beside(_ body: (SocketAddress) throws -> Void) throws {
  try runBlocking {
    // The loop's own are open after its first wait; Dispatch's, which it opens late on a busy machine, after its
    // first timer.
    try waitForNothing()
    startDispatch()
    let before = OpenDescriptors.now
    try withTimeout(.seconds(600)) { try besideHealthyOne(body) }
    let left = before.staysOpen()
    #expect(left.isEmpty, "left open: \(left)")
  }
}

private func waitForNothing() throws {
  let (one, other) = try ByteStream.pair()
  defer { one.close() }
  one.idleTimeout = .milliseconds(1)
  #expect(throws: IOError.self) { _ = try one.read() }
  other.close()
}

private func besideHealthyOne(_ body: (SocketAddress) throws -> Void) throws {
  let listener = try StreamListener(on: .loopback(port: 0))
  let serving = launch { try serveAll(listener) }
  let healthy = Client(stream: try ByteStream.connect(to: listener.address))
  let rounds = Counter()
  let isOver = Cell(false)
  let ticker = launch {
    while isOver.value == false {
      try healthy.ask(for: 10)
      rounds.add()
      try Coroutine.sleep(for: .milliseconds(1))
    }
  }
  while rounds.value == 0 { try Coroutine.sleep(for: .milliseconds(1)) }
  try body(listener.address)
  let reached = rounds.value
  while rounds.value < reached + 3 { try Coroutine.sleep(for: .milliseconds(1)) }
  isOver.value = true
  try ticker.value()
  healthy.stream.close()
  listener.close()
  try serving.value()
}

private func serveAll(_ listener: StreamListener) throws {
  try withCoroutineScope { scope in
    for stream in listener.connections {
      scope.launch {
        defer { stream.close() }
        try? serve(stream)
      }
    }
  }
}

/// Answers each line, a number, with so many bytes.
private func serve(_ stream: ByteStream) throws {
  var line: [UInt8] = []
  while case let bytes = try stream.read(), !bytes.isEmpty {
    for byte in bytes {
      if byte != UInt8(ascii: "\n") {
        line.append(byte)
        if line.count > 10 { return }
        continue
      }
      guard let count = Int(String(decoding: line, as: UTF8.self)) else { return }
      line = []
      try stream.write((0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }
  }
}
#endif
