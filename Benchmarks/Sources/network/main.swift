// SPDX-License-Identifier: Apache-2.0

// The servers of `compare-network`, with a coroutine for each connection, on one thread.
// network echo | http

import Coroutines
import CoroutinesIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Where all connections read to: what has been read is used before anybody else gets to run.
nonisolated(unsafe) let input = UnsafeMutableRawBufferPointer.allocate(
  byteCount: 4096,
  alignment: 16
)

/// Writes bytes that lie in `input`; copies those for which it has to wait.
func put(_ bytes: UnsafeRawBufferPointer, to stream: ByteStream) throws {
  let written = try stream.writeIfReady(bytes)
  if written < bytes.count { try stream.write(Array(bytes[written...])) }
}

func echo(_ stream: ByteStream) throws {
  while case let count = try stream.read(into: input), count > 0 {
    try put(UnsafeRawBufferPointer(rebasing: input[..<count]), to: stream)
  }
}

let response = Array(
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nhello, world\n".utf8
)
let responsesAtOnce = 64
let responses = (0..<responsesAtOnce).flatMap { _ in response }

/// How many requests end in these bytes: with an empty line, of whose four bytes `matched` were the last ones of
/// what came before.
func requestsEnded(_ bytes: UnsafeRawBufferPointer, _ matched: inout Int) -> Int {
  let emptyLine: [UInt8] = [13, 10, 13, 10]
  var ended = 0
  var rest = bytes[...]
  while !rest.isEmpty {
    if matched == 0 {
      // Most of a request is passed over at the speed of memchr.
      let start = UnsafeRawBufferPointer(rebasing: rest)
      guard let base = start.baseAddress, let found = memchr(base, 13, start.count) else { break }
      rest = rest.dropFirst(UnsafeRawPointer(found) - base)
    }
    let byte = rest.removeFirst()
    matched = byte == emptyLine[matched] ? matched + 1 : byte == 13 ? 1 : 0
    if matched == 4 {
      ended += 1
      matched = 0
    }
  }
  return ended
}

func http(_ stream: ByteStream) throws {
  var matched = 0
  while case let count = try stream.read(into: input), count > 0 {
    var owed = requestsEnded(UnsafeRawBufferPointer(rebasing: input[..<count]), &matched)
    while owed > 0 {
      let now = min(owed, responsesAtOnce)
      try responses.withUnsafeBytes {
        try stream.write(UnsafeRawBufferPointer(rebasing: $0[..<(now * response.count)]))
      }
      owed -= now
    }
  }
}

func serve(_ answer: @escaping (ByteStream) throws -> Void) throws {
  var files = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
  files.rlim_cur = files.rlim_max
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
  try runBlocking {
    let listener = try StreamListener(on: .loopback(port: 0), backlog: 4096)
    print("port \(listener.address.port ?? 0)")
    fflush(nil)
    let standardInput = try ByteStream(takingOver: STDIN_FILENO)
    launch {
      while !(try standardInput.read(upTo: 64)).isEmpty {}
      exit(0)
    }
    for stream in listener.connections {
      launch(stackSize: .small) {
        // A connection that breaks is the client's business.
        try? answer(stream)
        stream.close()
      }
    }
  }
}

switch CommandLine.arguments.dropFirst() {
case ["echo"]: try serve(echo)
case ["http"]: try serve(http)
default:
  let usage = "usage: network echo | http\n"
  write(STDERR_FILENO, usage, usage.utf8.count)
  exit(64)
}
