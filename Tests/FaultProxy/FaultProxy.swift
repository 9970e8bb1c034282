// SPDX-License-Identifier: Apache-2.0

import Coroutines
package import CoroutinesIO

/// What goes wrong on the way from a server to its client.
package enum Fault: Hashable, Sendable, CustomStringConvertible {
  /// Nothing.
  case none
  /// The connection ends with an error after so many bytes.
  case reset(after: Int)
  /// Nothing more comes after so many bytes, and nothing ends.
  case stall(after: Int)
  /// A byte now and then.
  case trickle(every: Duration)
  /// Bytes that the server has never sent come instead of those after so many.
  case garbage(after: Int)
  /// The server's side ends after so many bytes, as if that were all.
  case halfClose(after: Int)
  /// Nothing is taken from the client.
  case deafness

  package var description: String {
    switch self {
    case .none: "none"
    case .reset(let count): "reset after \(count)"
    case .stall(let count): "stall after \(count)"
    case .trickle(let pause): "a byte every \(pause)"
    case .garbage(let count): "garbage after \(count)"
    case .halfClose(let count): "half-closed after \(count)"
    case .deafness: "deafness"
    }
  }
}

/// Passes connections on to a server, with faults.
package struct FaultProxy {
  private let listener: StreamListener
  private let server: SocketAddress
  private let fault: @Sendable (Int) -> Fault

  /// Where clients connect to.
  package var address: SocketAddress { listener.address }

  /// Runs `body` with a proxy, whose connections end with it.
  ///
  /// - Parameters:
  ///   - server: Where connections are passed on to.
  ///   - fault: What goes wrong with the first connection, the second, and so on.
  ///   - body: What to do with the proxy's address.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `IOError`.
  package static func with<Result>(
    to server: SocketAddress,
    fault: @escaping @Sendable (Int) -> Fault,
    _ body: (FaultProxy) throws -> Result
  ) throws -> Result {
    let proxy = FaultProxy(
      listener: try StreamListener(on: .loopback(port: 0)),
      server: server,
      fault: fault
    )
    return try withCoroutineScope { scope in
      let serving = scope.launch { try proxy.serve() }
      defer {
        proxy.listener.close()
        serving.cancel()
      }
      return try body(proxy)
    }
  }

  private func serve() throws {
    try withCoroutineScope { scope in
      var number = 0
      while true {
        let client: ByteStream
        do { client = try listener.accept() } catch is IOError { return }
        let fault = fault(number)
        number += 1
        scope.launch {
          defer { client.close() }
          // That a connection breaks is what it is for.
          try? pass(client, fault)
        }
      }
    }
  }

  private func pass(_ client: ByteStream, _ fault: Fault) throws {
    let upstream = try ByteStream.connect(to: server)
    defer { upstream.close() }
    try withCoroutineScope { scope in
      if fault != .deafness {
        scope.launch {
          try? copy(from: client, to: upstream)
          try? upstream.finishWriting()
        }
      }
      try answer(from: upstream, to: client, fault)
      scope.cancel()
    }
  }

  private func copy(from source: ByteStream, to target: ByteStream) throws {
    while case let bytes = try source.read(), !bytes.isEmpty { try target.write(bytes) }
  }

  private func copy(_ count: Int, from source: ByteStream, to target: ByteStream) throws {
    var left = count
    while left > 0, case let bytes = try source.read(upTo: left), !bytes.isEmpty {
      try target.write(bytes)
      left -= bytes.count
    }
  }

  private func answer(from upstream: ByteStream, to client: ByteStream, _ fault: Fault) throws {
    switch fault {
    case .none:
      try copy(from: upstream, to: client)
      try client.finishWriting()
    case .reset(let count):
      try copy(count, from: upstream, to: client)
      client.reset()
    case .stall(let count):
      try copy(count, from: upstream, to: client)
      try sleepForEver()
    case .trickle(let pause):
      while case let byte = try upstream.read(upTo: 1), !byte.isEmpty {
        try client.write(byte)
        try Coroutine.sleep(for: pause)
      }
    case .garbage(let count):
      try copy(count, from: upstream, to: client)
      while case let bytes = try upstream.read(), !bytes.isEmpty {
        try client.write(bytes.map { ~$0 })
      }
      try client.finishWriting()
    case .halfClose(let count):
      try copy(count, from: upstream, to: client)
      try client.finishWriting()
      // The client finds the end; nobody but it ends the rest.
      try sleepForEver()
    case .deafness:
      try sleepForEver()
    }
  }

  private func sleepForEver() throws { while true { try Coroutine.sleep(for: .seconds(3600)) } }
}
