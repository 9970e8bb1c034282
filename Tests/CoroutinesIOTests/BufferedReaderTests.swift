// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Lines and messages out of a stream.
@Suite(.timeLimit(.minutes(30))) struct BufferedReaderTests {
  /// A reader, and what writes to it.
  private func make(capacity: Int = 1 << 14) throws -> (BufferedReader, ByteStream) {
    let (one, other) = try ByteStream.pair()
    return (BufferedReader(other, capacity: capacity), one)
  }

  @Test(arguments: [1, 2, 3, 7, 16384])
  func `lines come without their ends, however the bytes come`(_ capacity: Int) throws {
    try runBlocking {
      let (reader, writer) = try make(capacity: capacity)
      try writer.write("one\ntwo\r\n\n\r\nfünf\rsechs\nno end")
      writer.close()
      var lines: [String] = []
      while let line = try reader.readLine() { lines.append(line) }
      #expect(lines == ["one", "two", "", "", "fünf\rsechs", "no end"])
      #expect(try reader.readLine() == nil)
    }
  }

  @Test func `lines are a sequence, too, whose error says why it ended`() throws {
    try runBlocking {
      let (reader, writer) = try make()
      try writer.write("a\nb\nlonger")
      writer.close()
      let lines = reader.lines(limit: 3)
      #expect(Array(lines) == ["a", "b"])
      #expect((lines.error as? IOError)?.code == EMSGSIZE)
    }
  }

  @Test(arguments: [1, 3, 16384])
  func `a limit is a limit, with or without a carriage return`(_ capacity: Int) throws {
    try runBlocking {
      let (reader, writer) = try make(capacity: capacity)
      try writer.write("12345\n12345\r\n123456\n")
      #expect(try reader.readLine(limit: 5) == "12345")
      #expect(try reader.readLine(limit: 5) == "12345")
      let error = #expect(throws: IOError.self) { _ = try reader.readLine(limit: 5) }
      #expect(error?.code == EMSGSIZE)
      // It is all there still.
      #expect(try reader.readLine(limit: 6) == "123456")
    }
  }

  @Test func `who sends no end of a line cannot fill the memory`() throws {
    try runBlocking {
      let (reader, writer) = try make(capacity: 1000)
      let flood = launch { while true { try writer.write(String(repeating: "x", count: 5000)) } }
      let error = #expect(throws: IOError.self) { _ = try reader.readLine(limit: 10_000) }
      #expect(error?.code == EMSGSIZE)
      #expect(reader.bufferedCount <= 11_001)
      flood.cancel()
    }
  }

  @Test(arguments: [1, 2, 5, 16384])
  func `a mark of several bytes is found wherever it is cut`(_ capacity: Int) throws {
    try runBlocking {
      let (reader, writer) = try make(capacity: capacity)
      try writer.write("head\r\n\r\nab--aab--a--b\r\n")
      #expect(try reader.read(until: "\r\n\r\n".utf8) == Array("head".utf8))
      #expect(try reader.read(until: "aab".utf8) == Array("ab--".utf8))
      #expect(try reader.read(until: "--b".utf8, limit: 3) == Array("--a".utf8))
      #expect(try reader.read(exactly: 2) == Array("\r\n".utf8))
      try writer.write("rest")
      writer.close()
      let error = #expect(throws: StreamEndedError.self) {
        _ = try reader.read(until: "!".utf8)
      }
      #expect(error?.received == 4)
      #expect(try reader.read(upTo: 100) == Array("rest".utf8))
      #expect(try reader.read(until: "!".utf8) == nil)
    }
  }

  @Test func `a mark beyond the limit is an error, and at the limit is none`() throws {
    try runBlocking {
      let (reader, writer) = try make()
      try writer.write("abcd;")
      let error = #expect(throws: IOError.self) { _ = try reader.read(until: ";".utf8, limit: 3) }
      #expect(error?.code == EMSGSIZE)
      #expect(try reader.read(until: ";".utf8, limit: 4) == Array("abcd".utf8))
    }
  }

  @Test func `looking leaves the bytes, reading takes them`() throws {
    try runBlocking {
      let (reader, writer) = try make(capacity: 2)
      try writer.write("abcdef")
      #expect(try reader.peek(3) == Array("abc".utf8))
      #expect(try reader.peek(0).isEmpty)
      #expect(try reader.read(exactly: 4) == Array("abcd".utf8))
      writer.close()
      #expect(try reader.peek(9) == Array("ef".utf8))
      let error = #expect(throws: StreamEndedError.self) { _ = try reader.read(exactly: 3) }
      #expect(error == StreamEndedError(expected: 3, received: 2))
      #expect(try reader.read() == Array("ef".utf8))
      #expect(try reader.read().isEmpty)
    }
  }

  @Test func `a false length takes no memory before the bytes have come`() throws {
    try runBlocking {
      let (reader, writer) = try make()
      try writer.write("few")
      writer.close()
      let error = #expect(throws: StreamEndedError.self) { _ = try reader.read(exactly: .max) }
      #expect(error?.received == 3)
    }
  }

  @Test func `a cancelled or late read loses nothing (rules 3 and 8)`() throws {
    try runBlocking {
      let (reader, writer) = try make()
      try writer.write("half a ")
      let cancelled = launch { try reader.readLine() }
      while cancelled.state != .suspended { try Coroutine.yield() }
      cancelled.cancel()
      #expect(throws: CancellationError.self) { _ = try cancelled.value() }
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(5)) { _ = try reader.read(exactly: 12) }
      }
      #expect(reader.bufferedCount == 7)
      try writer.write("line\n")
      #expect(try reader.readLine() == "half a line")
    }
  }

  @Test func `closing the stream ends a read (rule 5)`() throws {
    try runBlocking {
      let (reader, writer) = try make()
      let waiting = launch { try reader.readLine() }
      while waiting.state != .suspended { try Coroutine.yield() }
      reader.stream.close()
      let error = #expect(throws: IOError.self) { _ = try waiting.value() }
      #expect(error?.code == EBADF)
      writer.close()
    }
  }
}
