// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesIO
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// UDP, and datagrams of Unix-domain sockets.
@Suite(.timeLimit(.minutes(30))) struct DatagramSocketTests {
  enum Carrier: CaseIterable {
    case udp, udp6, unix

    /// An address that is free; unix: a path in a directory that the test removes.
    func address(in directory: String, _ name: String) -> SocketAddress {
      switch self {
      case .udp: .loopback(port: 0)
      case .udp6: .loopback6(port: 0)
      case .unix: .unix(path: "\(directory)/\(name)")
      }
    }
  }

  @Test(arguments: Carrier.allCases)
  func `datagrams arrive whole, with their sender`(_ carrier: Carrier) throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let one = try DatagramSocket(on: carrier.address(in: directory, "one"))
        let other = try DatagramSocket(on: carrier.address(in: directory, "other"))
        for length in [0, 1, 100, 8000] {
          let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: length), count: length)
          try one.send(bytes, to: other.address)
          #expect(try other.receive() == Datagram(bytes: bytes, sender: one.address))
        }
        try other.send("answer".utf8, to: one.address)
        #expect(try one.receive().bytes == Array("answer".utf8))
      }
    }
  }

  @Test(arguments: Carrier.allCases)
  func `what does not fit is cut, and said to be`(_ carrier: Carrier) throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let one = try DatagramSocket(on: carrier.address(in: directory, "one"))
        try one.send("12345".utf8, to: one.address)
        try one.send("12345".utf8, to: one.address)
        let cut = try one.receive(upTo: 4)
        #expect(cut.bytes == Array("1234".utf8) && cut.isCut)
        let whole = try one.receive(upTo: 5)
        #expect(whole.bytes == Array("12345".utf8) && !whole.isCut)
      }
    }
  }

  @Test(arguments: Carrier.allCases)
  func `connected, it sends to one and receives from one`(_ carrier: Carrier) throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let one = try DatagramSocket(on: carrier.address(in: directory, "one"))
        let other = try DatagramSocket(on: carrier.address(in: directory, "other"))
        let without = #expect(throws: IOError.self) { try one.send("x".utf8) }
        #expect([EDESTADDRREQ, ENOTCONN].contains(without?.code))
        try one.connect(to: other.address)
        try one.send("hello".utf8)
        #expect(try other.receive().sender == one.address)
      }
    }
  }

  @Test func `a Unix-domain socket without a path sends, and has no address`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let receiver = try DatagramSocket(on: .unix(path: "\(directory)/r"))
        let sender = try DatagramSocket(on: .unix(path: ""))
        try sender.send("x".utf8, to: receiver.address)
        #expect(try receiver.receive() == Datagram(bytes: Array("x".utf8), sender: nil))
      }
    }
  }

  @Test func `an address is had by one socket, unless all share it`() throws {
    let one = try DatagramSocket(on: .loopback(port: 0))
    let error = #expect(throws: IOError.self) { _ = try DatagramSocket(on: one.address) }
    #expect(error?.code == EADDRINUSE)
    let shared = try DatagramSocket(on: .loopback(port: 0), reusesPort: true)
    let also = try DatagramSocket(on: shared.address, reusesPort: true)
    #expect(also.address == shared.address)
  }

  @Test func `what is too long is refused, and a broadcast must be allowed`() throws {
    try runBlocking {
      let one = try DatagramSocket(on: .loopback(port: 0))
      let long = #expect(throws: IOError.self) {
        try one.send([UInt8](repeating: 0, count: 70_000), to: one.address)
      }
      #expect(long?.code == EMSGSIZE)
      // The loopback's own broadcast address: it does not leave the machine.
      let broadcast = SocketAddress.ipv4(0x7fff_ffff, port: one.address.port ?? 0)
      let forbidden = #expect(throws: IOError.self) { try one.send("x".utf8, to: broadcast) }
      #expect(forbidden?.code == EACCES)
      let allowed = try DatagramSocket(on: .loopback(port: 0), allowsBroadcast: true)
      try allowed.send("x".utf8, to: broadcast)
    }
  }

  @Test func `an error of the other end comes to who is connected`() throws {
    try runBlocking {
      let gone = try DatagramSocket(on: .loopback(port: 0))
      let one = try DatagramSocket(on: .loopback(port: 0))
      try one.connect(to: gone.address)
      gone.close()
      try one.send("x".utf8)
      let error = #expect(throws: IOError.self) { _ = try one.receive() }
      #expect(error?.code == ECONNREFUSED)
    }
  }

  @Test func `who sends more than a receiver takes waits until there is room`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let receiver = try DatagramSocket(on: .unix(path: "\(directory)/r"))
        for isConnected in [true, false] {
          let sender = try DatagramSocket(on: .unix(path: ""))
          if isConnected { try sender.connect(to: receiver.address) }
          let sending = launch {
            for number in 0..<1000 {
              let text = "\(number)".utf8
              try isConnected ? sender.send(text) : sender.send(text, to: receiver.address)
            }
          }
          while sending.state != .suspended { try Coroutine.yield() }
          for number in 0..<1000 {
            #expect(try receiver.receive().bytes == Array("\(number)".utf8))
          }
          try sending.value()
        }
      }
    }
  }

  // MARK: - Ends of waits

  @Test func `cancelling ends a receive and loses nothing (rules 2 and 3)`() throws {
    try runBlocking {
      let one = try DatagramSocket(on: .loopback(port: 0))
      let waiting = launch { try one.receive() }
      while waiting.state != .suspended { try Coroutine.yield() }
      waiting.cancel()
      #expect(throws: CancellationError.self) { _ = try waiting.value() }
      try one.send("kept".utf8, to: one.address)
      #expect(try one.receive().bytes == Array("kept".utf8))
    }
  }

  @Test func `deadlines and idle limits end a receive (rule 8)`() throws {
    try runBlocking {
      let one = try DatagramSocket(on: .loopback(port: 0))
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(5)) { _ = try one.receive() }
      }
      one.idleTimeout = .milliseconds(5)
      let error = #expect(throws: IOError.self) { _ = try one.receive() }
      #expect(error?.code == ETIMEDOUT)
    }
  }

  @Test(arguments: [true, false])
  func `a send that waits is ended by all that ends waits (rules 2, 5, 8)`(
    _ isConnected: Bool
  ) throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let receiver = try DatagramSocket(on: .unix(path: "\(directory)/r"))
        let sender = try DatagramSocket(on: .unix(path: ""))
        if isConnected { try sender.connect(to: receiver.address) }
        func fill() throws {
          while true { try sender.send("x".utf8, to: isConnected ? nil : receiver.address) }
        }
        #expect(throws: TimeoutError.self) { try withTimeout(.milliseconds(5)) { try fill() } }
        sender.idleTimeout = .milliseconds(5)
        let late = #expect(throws: IOError.self) { try fill() }
        #expect(late?.code == ETIMEDOUT)
        sender.idleTimeout = nil
        let cancelled = launch { try fill() }
        while cancelled.state != .suspended { try Coroutine.yield() }
        cancelled.cancel()
        #expect(throws: CancellationError.self) { try cancelled.value() }
        let closed = launch { try fill() }
        while closed.state != .suspended { try Coroutine.yield() }
        sender.close()
        let error = #expect(throws: IOError.self) { try closed.value() }
        #expect(error?.code == EBADF)
      }
    }
  }

  @Test func `closing ends all receives (rule 5)`() throws {
    try runBlocking {
      let one = try DatagramSocket(on: .loopback(port: 0))
      let waiting = (0..<3).map { _ in launch { try one.receive() } }
      while !waiting.allSatisfy({ $0.state == .suspended }) { try Coroutine.yield() }
      one.close()
      #expect(one.isClosed)
      for waiter in waiting {
        let error = #expect(throws: IOError.self) { _ = try waiter.value() }
        #expect(error?.code == EBADF)
      }
      let error = #expect(throws: IOError.self) { try one.send("x".utf8, to: one.address) }
      #expect(error?.code == EBADF)
    }
  }

  @Test func `no descriptor is left open, whatever ends the wait`() async {
    await #expect(processExitsWith: .success) {
      requireNoDescriptorsLeft {
        try runBlocking {
          let one = try DatagramSocket(on: .loopback(port: 0))
          _ = try? DatagramSocket(on: one.address)
          let cancelled = launch { try one.receive() }
          try Coroutine.yield()
          try? cancelled.cancelAndJoin()
          try? withTimeout(.milliseconds(1)) { _ = try one.receive() }
          let closed = launch { try one.receive() }
          try Coroutine.yield()
          one.close()
          try? closed.join()
        }
      }
    }
  }
}
