// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct FileHandleTests {
  @Test(arguments: Place.allCases)
  func `reading a pipe parks until there is something`(_ place: Place) throws {
    let log = Log()
    try place.run {
      let pipe = TestPipe()
      let reader = launch {
        log("reads")
        let data = try pipe.fileHandleForReading.co.read(upToCount: 100)
        log("has read \(String(decoding: data ?? Data(), as: UTF8.self))")
        return try pipe.fileHandleForReading.co.read(upToCount: 100)
      }
      try Coroutine.yield()
      log("writes")
      try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
      try pipe.fileHandleForWriting.close()
      #expect(try reader.value() == nil)
    }
    #expect(log.entries == ["reads", "writes", "has read abc"])
  }

  @Test func `a full pipe parks its writer, not the thread`() throws {
    try runBlocking {
      let pipe = TestPipe()
      let sent = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })
      let writer = launch {
        try pipe.fileHandleForWriting.co.write(contentsOf: sent)
        try pipe.fileHandleForWriting.close()
      }
      let received = try pipe.fileHandleForReading.co.readToEnd()
      #expect(received == sent)
      try writer.value()
    }
  }

  @Test func `flags that others share are left alone`() throws {
    try runBlocking {
      let pipe = TestPipe()
      let ends = [pipe.fileHandleForReading, pipe.fileHandleForWriting]
      let before = ends.map { fcntl($0.fileDescriptor, F_GETFL) }
      try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
      _ = try pipe.fileHandleForReading.co.read(upToCount: 3)
      #expect(ends.map { fcntl($0.fileDescriptor, F_GETFL) } == before)
    }
  }

  @Test func `a cancelled read has read nothing (rule 3)`() throws {
    try runBlocking {
      let pipe = TestPipe()
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(10)) {
          _ = try pipe.fileHandleForReading.co.read(upToCount: 100)
        }
      }
      try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
      #expect(try pipe.fileHandleForReading.co.read(upToCount: 2) == Data("ab".utf8))
      #expect(try pipe.fileHandleForReading.co.read(upToCount: 2) == Data("c".utf8))
    }
  }

  @Test func `a handle may be closed after a cancelled wait`() throws {
    try runBlocking {
      for _ in 1...50 {
        let pipe = TestPipe()
        let reader = launch { try pipe.fileHandleForReading.co.read(upToCount: 1) }
        try Coroutine.yield()
        try reader.cancelAndJoin()
        try pipe.fileHandleForReading.close()
        try pipe.fileHandleForWriting.close()
      }
    }
  }

  @Test func `closing after a cancelled wait is seen at the other end`() throws {
    try runBlocking {
      let pipe = TestPipe()
      let reader = launch { try pipe.fileHandleForReading.co.read(upToCount: 1) }
      // Long enough for another thread to have begun to watch the pipe; too short does no harm.
      try Coroutine.sleep(for: .milliseconds(50))
      try reader.cancelAndJoin()
      try pipe.fileHandleForReading.close()
      // That nobody reads any more is told without being asked for.
      var watched = pollfd(fd: pipe.fileHandleForWriting.fileDescriptor, events: 0, revents: 0)
      #expect(poll(&watched, 1, 300_000) == 1)
      #expect(Int32(watched.revents) & Int32(POLLERR) != 0)
    }
  }

  @Test func `writing to a pipe that nobody reads is an error and no signal`() throws {
    try runBlocking {
      let pipe = TestPipe()
      try pipe.fileHandleForReading.close()
      let error = #expect(throws: POSIXError.self) {
        try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
      }
      #expect(error?.code == .EPIPE)
    }
  }

  @Test func `a closed handle is an error`() throws {
    try runBlocking {
      let pipe = TestPipe()
      try pipe.fileHandleForReading.close()
      let error = #expect(throws: POSIXError.self) {
        _ = try pipe.fileHandleForReading.co.read(upToCount: 1)
      }
      #expect(error?.code == .EBADF)
    }
  }

  @Test func `files are read and written from their position on`() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("file")
      try Data("0123456789".utf8).write(to: file)
      try runBlocking {
        let handle = try FileHandle(forUpdating: file)
        #expect(try handle.co.read(upToCount: 4) == Data("0123".utf8))
        #expect(try handle.offset() == 4)
        try handle.co.write(contentsOf: Data("XY".utf8))
        #expect(try handle.co.readToEnd() == Data("6789".utf8))
        #expect(try handle.co.readToEnd() == nil)
        try handle.close()
        #expect(try Data(contentsOf: file) == Data("0123XY6789".utf8))
      }
    }
  }

  @Test(arguments: ["file", "pipe"])
  func `outside a coroutine it blocks the thread`(_ kind: String) async throws {
    let text = try await onPlainThread { () throws -> String in
      try withTemporaryDirectory { directory in
        var handle = TestPipe().fileHandleForReading
        if kind == "file" {
          let file = directory.appendingPathComponent("file")
          try Data("abc".utf8).write(to: file)
          handle = try FileHandle(forReadingFrom: file)
        } else {
          let pipe = TestPipe()
          handle = pipe.fileHandleForReading
          try pipe.fileHandleForWriting.co.write(contentsOf: Data("abc".utf8))
          try pipe.fileHandleForWriting.close()
        }
        return String(decoding: try handle.co.readToEnd() ?? Data(), as: UTF8.self)
      }
    }
    #expect(text == "abc")
  }

  @Test func `lines come when they are asked for`() throws {
    try runBlocking {
      let pipe = TestPipe()
      let lines = pipe.fileHandleForReading.co.lines
      let writer = launch {
        for line in ["one\n", "two\r\nthr", "ee\nrest"] {
          try pipe.fileHandleForWriting.co.write(contentsOf: Data(line.utf8))
          try Coroutine.yield()
        }
        try pipe.fileHandleForWriting.close()
      }
      #expect(Array(lines) == ["one", "two", "three", "rest"])
      #expect(lines.error == nil)
      try writer.value()
    }
  }

  @Test func `lines of a closed handle end with an error`() throws {
    let handle = TestPipe().fileHandleForReading
    try handle.close()
    let lines = handle.co.lines
    #expect(Array(lines).isEmpty)
    #expect(lines.error is POSIXError)
  }

  @Test func `sockets are read and written`() throws {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    let near = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let far = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    let sent = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 3) })
    try runBlocking {
      let writer = launch {
        try near.co.write(contentsOf: sent)
        try near.close()
      }
      #expect(try far.co.readToEnd() == sent)
      try writer.value()
    }
  }

  @Test func `a hundred readers need one thread`() throws {
    try runBlocking {
      let thread = pthread_self()
      let pipes = (0..<100).map { _ in TestPipe() }
      let readers = pipes.map { pipe in
        launch {
          let data = try pipe.fileHandleForReading.co.readToEnd()
          #expect(pthread_equal(pthread_self(), thread) != 0)
          return data
        }
      }
      try Coroutine.yield()
      for (number, pipe) in pipes.enumerated().reversed() {
        try pipe.fileHandleForWriting.co.write(contentsOf: Data("\(number)".utf8))
        try pipe.fileHandleForWriting.close()
      }
      for (number, reader) in readers.enumerated() {
        let data = try reader.value()
        #expect(data == Data("\(number)".utf8))
      }
    }
  }
}
