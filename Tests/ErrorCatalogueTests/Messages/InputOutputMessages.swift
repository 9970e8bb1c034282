// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An error that needs what a test should not do: using up all descriptors, asking other machines.
private func failure(_ code: Int32, _ operation: String, _ subject: String) -> IOError {
  IOError(code: code, operation: operation, subject: subject)
}

let inputOutputMessages = Chapter(
  title: "Streams, sockets, files",
  messages: [
    .thrown(
      "a file that is not there",
      "No such file or directory",
      at: "opening /nowhere/file",
      do: "(2)"
    ) {
      try runBlocking { _ = try File.open("/nowhere/file") }
    },
    .thrown(
      "a port where nobody listens",
      "Connection refused",
      at: "connecting to 127.0.0.1:",
      do: "start the server"
    ) {
      try runBlocking {
        let listener = try StreamListener(on: .loopback(port: 0))
        listener.close()
        _ = try ByteStream.connect(to: listener.address)
      }
    },
    .thrown(
      "an address that is taken",
      "Address already in use",
      at: "listening on 127.0.0.1:",
      do: "take another port"
    ) {
      try runBlocking {
        let first = try StreamListener(on: .loopback(port: 0))
        defer { first.close() }
        _ = try StreamListener(on: first.address)
      }
    },
    .thrown(
      "an address of another machine",
      "Cannot assign requested address",
      at: "listening on 192.0.2.1:80",
      do: "take `.loopback` or `.any`"
    ) {
      try runBlocking { _ = try StreamListener(on: .ipv4(0xC000_0201, port: 80)) }
    },
    .thrown(
      "a stream that has been closed",
      "Bad file descriptor",
      at: "reading from",
      do: "close it when nobody uses it"
    ) {
      try runBlocking {
        let (stream, _) = try ByteStream.pair()
        stream.close()
        _ = try stream.read()
      }
    },
    .thrown(
      "a stream whose descriptor other code has closed",
      "Bad file descriptor",
      at: "Descriptor 1000 was closed",
      do: "look for one that closes a number twice",
      isApart: true
    ) {
      try runBlocking {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        let stream = try ByteStream(takingOver: fcntl(ends[0], F_DUPFD, 1000))
        close(1000)
        _ = try stream.read()
      }
    },
    .thrown(
      "the wrong end of a pipe",
      "Bad file descriptor",
      at: "reading from",
      do: "open it for what is to be done"
    ) {
      try runBlocking {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        defer { close(ends[0]) }
        _ = try ByteStream(takingOver: ends[1]).read()
      }
    },
    .thrown("a write that nobody reads", "Broken pipe", at: "writing to", do: "connect again") {
      try runBlocking {
        let (stream, other) = try ByteStream.pair()
        other.close()
        try stream.write("hello")
      }
    },
    .thrown(
      "a peer that says nothing",
      "Connection timed out",
      at: "reading from",
      do: "allow more in `idleTimeout`"
    ) {
      try runBlocking {
        let (stream, other) = try ByteStream.pair()
        defer { other.close() }
        stream.idleTimeout = .milliseconds(1)
        _ = try stream.read()
      }
    },
    .thrown(
      "a line longer than its limit",
      "Message too long",
      at: "reading from",
      do: "give a higher one"
    ) {
      try runBlocking {
        let (stream, other) = try ByteStream.pair()
        try other.write("a long line\n")
        _ = try BufferedReader(stream).readLine(limit: 4)
      }
    },
    .thrown(
      "no descriptor left",
      "Too many open files",
      at: "accepting on 127.0.0.1:80",
      do: "raise the limit"
    ) {
      throw failure(EMFILE, "accepting on", "127.0.0.1:80")
    },
    .thrown(
      "a stream that ends early",
      "ended after 2 of 5 bytes",
      at: "the stream",
      do: "`read(upTo:)` takes what there is"
    ) {
      try runBlocking {
        let (stream, other) = try ByteStream.pair()
        try other.write("ab")
        other.close()
        _ = try stream.read(exactly: 5)
      }
    },
    .thrown(
      "a host none of whose addresses answers",
      "Connection refused",
      at: "connecting to shop.test:80",
      do: "Check that a server listens"
    ) {
      let attempts = [SocketAddress.loopback(port: 80), .loopback6(port: 80)].map {
        ConnectionError.Attempt(
          address: $0,
          error: failure(ECONNREFUSED, "connecting to", "\($0)")
        )
      }
      throw ConnectionError(host: "shop.test:80", attempts: attempts)
    },
    .thrown(
      "a host without an address",
      "it has no address",
      at: "connecting to shop.test:80",
      do: "Check what the resolver answers"
    ) {
      throw ConnectionError(host: "shop.test:80", attempts: [])
    },
    .thrown(
      "a name that nobody knows",
      "Name or service not known",
      at: "resolving shop.test",
      do: "Check the name"
    ) {
      throw ResolutionError(host: "shop.test", code: -2, reason: "Name or service not known")
    },
    .stop(
      "a read before the beginning of a file",
      "place and count",
      at: "File.read(at: -1, upTo: 1)",
      do: "must be 0 or more"
    ) {
      try withFile { _ = try $0.read(at: -1, upTo: 1) }
    },
    .stop(
      "a write before the beginning of a file",
      "the place",
      at: "File.write(_:at: -1)",
      do: "must be 0 or more"
    ) {
      try withFile { try $0.write([1], at: -1) }
    },
    .stop(
      "a file cut to fewer than no bytes",
      "the size",
      at: "File.truncate(to: -1)",
      do: "must be 0 or more"
    ) {
      try withFile { try $0.truncate(to: -1) }
    },
    .stop("a read of no bytes", "it must be", at: "ByteStream.read(upTo: 0)", do: "1 or more") {
      try withStream { _ = try $0.read(upTo: 0) }
    },
    .stop(
      "a read into an empty buffer",
      "the buffer is empty",
      at: "ByteStream.read(into:)",
      do: "must have room"
    ) {
      try withStream { _ = try $0.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) }
    },
    .stop(
      "a read of fewer than no bytes",
      "it must be",
      at: "ByteStream.read(exactly: -1)",
      do: "0 or more"
    ) {
      try withStream { _ = try $0.read(exactly: -1) }
    },
    .stop("a reader without room", "of capacity 0", at: "A BufferedReader", do: "must be 1 or more")
    {
      try withStream { _ = BufferedReader($0, capacity: 0) }
    },
    .stop(
      "a line of fewer than no bytes",
      "it must be",
      at: "BufferedReader.readLine(limit: -1)",
      do: "0 or more"
    ) {
      try withStream { _ = try BufferedReader($0).readLine(limit: -1) }
    },
    .stop(
      "a mark of no bytes",
      "the mark is empty",
      at: "BufferedReader.read(until:)",
      do: "must have 1 byte or more"
    ) {
      try withStream { _ = try BufferedReader($0).read(until: []) }
    },
    .stop(
      "a mark within fewer than no bytes",
      "the limit",
      at: "BufferedReader.read(until:limit: -1)",
      do: "must be 0 or more"
    ) {
      try withStream { _ = try BufferedReader($0).read(until: [1], limit: -1) }
    },
    .stop(
      "a buffered read of no bytes",
      "it must be",
      at: "BufferedReader.read(upTo: 0)",
      do: "1 or more"
    ) {
      try withStream { _ = try BufferedReader($0).read(upTo: 0) }
    },
    .stop(
      "a look at fewer than no bytes",
      "read or peek -1 bytes",
      at: "BufferedReader",
      do: "must be 0 or more"
    ) {
      try withStream { _ = try BufferedReader($0).peek(-1) }
    },
    .stop(
      "a datagram of fewer than no bytes",
      "it must be",
      at: "DatagramSocket.receive(upTo: -1)",
      do: "0 or more"
    ) {
      try runBlocking {
        _ = try DatagramSocket(on: .loopback(port: 0)).receive(upTo: -1)
      }
    },
  ]
)

private func withFile(_ body: (File) throws -> Void) throws {
  try runBlocking { try body(File.open("/dev/null")) }
}

private func withStream(_ body: (ByteStream) throws -> Void) throws {
  try runBlocking { try body(ByteStream.pair().0) }
}
