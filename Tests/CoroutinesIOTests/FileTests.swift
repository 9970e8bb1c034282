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

/// Files, and the process's standard streams.
@Suite(.timeLimit(.minutes(30))) struct FileTests {
  @Test func `what is written at a place is read there`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let file = try File.open("\(directory)/f", .updating)
        try file.write("hello world".utf8, at: 0)
        try file.write("W".utf8, at: 6)
        #expect(try file.read(at: 6) == Array("World".utf8))
        #expect(try file.read(at: 6, upTo: 2) == Array("Wo".utf8))
        #expect(try file.read(at: 100).isEmpty)
        #expect(try file.size() == 11)
        try file.write("!".utf8, at: 13)
        #expect(try file.readToEnd() == Array("hello World\0\0!".utf8))
        try file.truncate(to: 5)
        try file.sync()
        try file.sync(dataOnly: true)
        #expect(try file.readToEnd() == Array("hello".utf8))
        let error = #expect(throws: IOError.self) { _ = try file.readToEnd(limit: 4) }
        #expect(error?.code == EMSGSIZE)
      }
    }
  }

  @Test func `a long file is the same when read as when written`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        var bytes = (0..<4999).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        while bytes.count < 5_000_000 { bytes += bytes }
        let file = try File.open("\(directory)/f", .updating)
        try file.write(bytes, at: 0)
        #expect(try file.readToEnd() == bytes)
        #expect(try file.read(at: 1_234_567, upTo: 100_000)[...] == bytes[1_234_567..<1_334_567])
      }
    }
  }

  @Test func `several append, and no bytes get between those of one call`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let path = "\(directory)/f"
        let writers = try (0..<4).map { writer in
          let file = try File.open(path, .appending)
          return launch {
            for _ in 0..<25 { try file.append(String(repeating: "\(writer)", count: 1000).utf8) }
          }
        }
        for writer in writers { try writer.value() }
        let all = try File.open(path).readToEnd()
        #expect(all.count == 100_000)
        for start in stride(from: 0, to: all.count, by: 1000) {
          #expect(all[start..<start + 1000].allSatisfy { $0 == all[start] })
        }
      }
    }
  }

  @Test func `errors have the path and the reason`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let missing = #expect(throws: IOError.self) { _ = try File.open("\(directory)/none") }
        #expect(
          missing == IOError(code: ENOENT, operation: "opening", subject: "\(directory)/none")
        )
        let file = try File.open("\(directory)/f", .writing)
        let exists = #expect(throws: IOError.self) {
          _ = try File.open("\(directory)/f", [.write, .exclusive])
        }
        #expect(exists?.code == EEXIST)
        let unreadable = #expect(throws: IOError.self) { _ = try file.read(at: 0) }
        #expect(unreadable?.code == EBADF)
        let noAppend = #expect(throws: IOError.self) { try file.append("x".utf8) }
        #expect(noAppend?.code == EINVAL)
        let appending = try File.open("\(directory)/f", .appending)
        let noPlace = #expect(throws: IOError.self) { try appending.write("x".utf8, at: 0) }
        #expect(noPlace?.code == EINVAL)
        let isDirectory = #expect(throws: IOError.self) { _ = try File.open(directory, .writing) }
        #expect(isDirectory?.code == EISDIR)
      }
    }
  }

  #if os(Linux)
  @Test func `a device that is full says so`() throws {
    try runBlocking {
      let file = try File.open("/dev/full", .write)
      let error = #expect(throws: IOError.self) { try file.write("x".utf8, at: 0) }
      #expect(error == IOError(code: ENOSPC, operation: "writing", subject: "/dev/full"))
    }
  }

  @Test func `a disk that is full says so, and keeps what fitted`() throws {
    try withScratchDirectory { directory in
      // Only who may mount has such a disk; the device above is for the others.
      guard mount("tmpfs", directory, "tmpfs", 0, "size=256k") == 0 else {
        #expect(errno == EPERM || errno == EACCES)
        return
      }
      defer { umount2(directory, Int32(MNT_DETACH)) }
      try runBlocking {
        let file = try File.open("\(directory)/f", .updating)
        let error = #expect(throws: IOError.self) {
          try file.write([UInt8](repeating: 7, count: 1 << 20), at: 0)
        }
        #expect(error?.code == ENOSPC && error?.subject == "\(directory)/f")
        #expect(try file.size() == 256 << 10)
        try file.truncate(to: 0)
        try file.write("room again".utf8, at: 0)
        #expect(try file.readToEnd() == Array("room again".utf8))
        file.close()
      }
    }
  }
  #endif

  // MARK: - Ends of waits

  @Test func `cancelled and late code does not use a file, and loses no position (rules 2 and 8)`()
    throws
  {
    try withScratchDirectory { directory in
      try runBlocking {
        let file = try File.open("\(directory)/f", .updating)
        try file.write("abc".utf8, at: 0)
        let cancelled = launch { try file.write("XYZ".utf8, at: 0) }
        cancelled.cancel()
        #expect(throws: CancellationError.self) { try cancelled.value() }
        #expect(throws: TimeoutError.self) {
          try withTimeout(.zero) { _ = try file.read(at: 0) }
        }
        #expect(try file.read(at: 0) == Array("abc".utf8))
      }
    }
  }

  @Test func `others run while the disk is asked`() throws {
    try runBlocking {
      var turns = 0
      // A device that is read without an end. On a busy machine a call may be over before its coroutine has parked
      // for it, so one call says nothing; but a thousand in a row that nobody has run beside do.
      let reading = launch {
        let file = try File.open("/dev/zero")
        for calls in 1...1000 where turns < 3 {
          #expect(try file.read(at: 0, upTo: 1 << 18).count == 1 << 18, "call \(calls)")
        }
      }
      while turns < 3, !reading.isFinished {
        turns += 1
        try Coroutine.yield()
      }
      try reading.value()
      #expect(turns == 3)
    }
  }

  @Test func `a closed file says so (rule 5)`() throws {
    try runBlocking {
      let file = try File.open("/dev/null")
      file.close()
      file.close()
      #expect(file.isClosed)
      let error = #expect(throws: IOError.self) { _ = try file.size() }
      #expect(error?.code == EBADF)
    }
  }

  @Test func `closing amid calls lets none hit another file`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        for round in 0..<50 {
          let file = try File.open("\(directory)/a", .writing)
          let writer = launch {
            for _ in 0..<10 { try file.write([UInt8](repeating: 1, count: 10_000), at: 0) }
          }
          if round % 2 == 0 { try Coroutine.yield() }
          file.close()
          let other = try File.open("\(directory)/b", .writing)
          _ = try? writer.value()
          #expect(try other.size() == 0)
        }
      }
    }
  }

  @Test func `outside a coroutine it is refused (rule 12)`() {
    #expect(throws: CoroutineError.self) { _ = try File.open("/dev/null") }
  }

  @Test func `no descriptor is left open, whatever ends the wait, and none is handed on`() async {
    await #expect(processExitsWith: .success) {
      let inherited = OpenDescriptors.now.numbers(on: "/dev/null")
      requireNoDescriptorsLeft {
        try runBlocking {
          let file = try File.open("/dev/null")
          _ = try? File.open("/nowhere")
          let cancelled = launch { try File.open("/dev/null") }
          try Coroutine.yield()
          cancelled.cancel()
          try? cancelled.join()
          _ = try? withTimeout(.zero) { try File.open("/dev/null") }
          for number in OpenDescriptors.now.numbers(on: "/dev/null").subtracting(inherited)
          where fcntl(number, F_GETFD) & FD_CLOEXEC == 0 {
            fatalError("\(number) is handed on")
          }
          file.close()
        }
      }
    }
  }

  // MARK: - Standard streams

  @Test func `a terminal is used without changing it for those who share it`() throws {
    var (outer, inner): (Int32, Int32) = (-1, -1)
    try #require(openpty(&outer, &inner, nil, nil, nil) == 0)
    let keyboard = try ByteStream(takingOver: outer)
    defer { close(inner) }
    try runBlocking {
      let input = try ByteStream.standard(inner, isForWriting: false, "input")
      let output = try ByteStream.standard(inner, isForWriting: true, "output")
      #if os(Linux)
      #expect(fcntl(inner, F_GETFL) & O_NONBLOCK == 0)
      #endif
      let line = launch { try input.read() }
      while line.state != .suspended { try Coroutine.yield() }
      try keyboard.write("typed\n")
      #expect(try line.value() == Array("typed\n".utf8))
      #expect(try keyboard.read(exactly: 7) == Array("typed\r\n".utf8))
      try output.write("shown\n")
      #expect(try keyboard.read(exactly: 7) == Array("shown\r\n".utf8))
    }
  }

  @Test func `pipes, sockets and files stand in for terminals`() throws {
    try withScratchDirectory { directory in
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      let reader = try ByteStream.standard(ends[0], isForWriting: false, "input")
      let writer = try ByteStream.standard(ends[1], isForWriting: true, "output")
      close(ends[0])
      close(ends[1])
      var pair: [Int32] = [-1, -1]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
      let (one, other) = (
        try ByteStream.standard(pair[0], isForWriting: true, "output"),
        try ByteStream.standard(pair[1], isForWriting: false, "input")
      )
      close(pair[0])
      close(pair[1])
      let number = open("\(directory)/f", O_RDWR | O_CREAT, 0o600)
      try #require(number >= 0)
      let toFile = try ByteStream.standard(number, isForWriting: true, "output")
      try runBlocking {
        for (from, to) in [(writer, reader), (one, other)] {
          let read = launch { try to.readToEnd() }
          while read.state != .suspended { try Coroutine.yield() }
          try from.write("through")
          from.close()
          #expect(try read.value() == Array("through".utf8))
        }
        try toFile.write("into a file")
        lseek(number, 5, SEEK_SET)
        let fromFile = try ByteStream.standard(number, isForWriting: false, "input")
        #expect(try fromFile.readToEnd() == Array("a file".utf8))
        let error = #expect(throws: IOError.self) {
          _ = try ByteStream.standard(-1, isForWriting: false, "input")
        }
        #expect(error?.code == EBADF)
      }
      close(number)
    }
  }
}
