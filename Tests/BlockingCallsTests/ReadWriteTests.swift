// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

extension BlockingCallsTests {
  @Suite struct ReadWriteTests {
    @Test(arguments: Place.allCases)
    func `synchronous code talks to itself over sockets on one thread`(_ place: Place) throws {
      try place.run { () throws -> Void in
        try BlockingCalls.withParking { () throws -> Void in
          let pairs = (0..<20).map { _ in Pair.sockets() }
          let echoes = pairs.map { pair in launch { cbl_echo(pair.second) } }
          let talks: [@Sendable (Int32, Int32) -> Int32] = [
            cbl_talk, cbl_talk_vectored, cbl_talk_messages,
          ]
          let talkers = pairs.enumerated().map { index, pair in
            launch {
              let result = talks[index % 3](pair.first, 50)
              _ = cbl_close(pair.first)
              return result
            }
          }
          for talker in talkers { #expect(try talker.value() == 50) }
          for echo in echoes { #expect(try echo.value() > 0) }
          for pair in pairs { _ = cbl_close(pair.second) }
        }
      }
    }

    @Test func `a reader that finds nothing lets others run, be it a pipe or a socket`() throws {
      for pair in [Pair.pipe(), Pair.sockets()] {
        let log = Log()
        try parking { () throws -> Void in
          let reader = launch { () -> String? in
            log("reads")
            let text = readText(pair.first)
            log("has read")
            return text
          }
          try Coroutine.yield()
          log("writes")
          #expect(writeText(pair.second, "hello") == 5)
          #expect(try reader.value() == "hello")
        }
        #expect(log.entries == ["reads", "writes", "has read"])
        pair.close()
      }
    }

    @Test func `a write larger than the room goes in steps, and all of it arrives`() throws {
      let size = 600_000
      for pair in [Pair.pipe(), Pair.sockets()] {
        try parking { () throws -> Void in
          let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
          let writer = launch { () -> Int in
            let result = cbl_write(pair.second, bytes, size)
            _ = cbl_close(pair.second)
            return result
          }
          var read = [CChar](repeating: 0, count: size)
          #expect(cbl_read_all(pair.first, &read, size) == size)
          #expect(try writer.value() == size)
          #expect(read.map { UInt8(bitPattern: $0) } == bytes)
        }
        _ = cbl_close(pair.first)
      }
    }

    @Test func `MSG_WAITALL waits for all of it`() throws {
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        let reader = launch { () -> (Int, [UInt8]) in
          var bytes = [UInt8](repeating: 0, count: 6)
          let count = cbl_recv_all(pair.first, &bytes, 6)
          return (count, bytes)
        }
        for part in ["ab", "cd", "ef"] {
          try Coroutine.yield()
          writeText(pair.second, part)
        }
        let (count, bytes) = try reader.value()
        #expect(count == 6)
        #expect(bytes == Array("abcdef".utf8))
      }
      pair.close()
    }

    @Test func `the checking variant of a call parks as well`() throws {
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        let reader = launch { () -> Int in
          var bytes = [UInt8](repeating: 0, count: 8)
          return cbl_recv_checked(pair.first, &bytes, 8)
        }
        try Coroutine.yield()
        #expect(!reader.isFinished)
        writeText(pair.second, "x")
        #expect(try reader.value() == 1)
      }
      pair.close()
    }

    @Test func `the end is read once the writer has closed`() throws {
      for pair in [Pair.pipe(), Pair.sockets()] {
        try parking { () throws -> Void in
          let reader = launch { readText(pair.first) }
          try Coroutine.yield()
          #expect(!reader.isFinished)
          _ = cbl_close(pair.second)
          #expect(try reader.value() == "")
        }
        _ = cbl_close(pair.first)
      }
    }

    @Test func `a read of what another coroutine closes fails with EBADF`() throws {
      for pair in [Pair.pipe(), Pair.sockets()] {
        try parking { () throws -> Void in
          let reader = launch { () -> Int in
            var byte: UInt8 = 0
            return cbl_read(pair.first, &byte, 1)
          }
          try Coroutine.yield()
          #expect(!reader.isFinished)
          #expect(cbl_close(pair.first) == 0)
          #expect(try reader.value() == Int(-EBADF))
        }
        _ = cbl_close(pair.second)
      }
    }

    @Test func `a cancelled read fails with ECANCELED and has read nothing (rule 3)`() throws {
      for pair in [Pair.pipe(), Pair.sockets()] {
        try parking { () throws -> Void in
          let reader = launch { () -> (Int, Int, String?) in
            var byte: UInt8 = 0
            let cut = cbl_read(pair.first, &byte, 1)
            let refused = cbl_read(pair.first, &byte, 1)
            // What need not wait can be done even in cancelled code.
            writeText(pair.second, "x")
            return (cut, refused, readText(pair.first))
          }
          try Coroutine.yield()
          reader.cancel()
          let (cut, refused, text) = try reader.value()
          #expect(cut == Int(-ECANCELED))
          #expect(refused == Int(-ECANCELED))
          #expect(text == "x")
        }
        pair.close()
      }
    }

    @Test func `SO_RCVTIMEO and SO_SNDTIMEO end the wait with EAGAIN`() throws {
      let pair = Pair.sockets()
      #expect(cbl_set_timeouts(pair.first, 5) == 0)
      try parking { () throws -> Void in
        let log = Log()
        let other = launch { log("other") }
        var bytes = [UInt8](repeating: 0, count: 1_000_000)
        let elapsed = ContinuousClock().measure {
          #expect(cbl_recv(pair.first, &bytes, 1, 0) == Int(-EAGAIN))
        }
        #expect(elapsed >= .milliseconds(5))
        #expect(log.entries == ["other"])
        let sent = cbl_send(pair.first, bytes, bytes.count)
        #expect(sent > 0 && sent < bytes.count)
        #expect(cbl_send(pair.first, bytes, bytes.count) == Int(-EAGAIN))
        try other.join()
      }
      pair.close()
    }

    @Test func `a descriptor that the user made non-blocking stays so`() throws {
      for pair in [Pair.pipe(), Pair.sockets()] {
        #expect(cbl_set_nonblocking(pair.first, 1) >= 0)
        #expect(cbl_set_nonblocking(pair.second, 1) >= 0)
        try parking { () throws -> Void in
          let other = launch {}
          var bytes = [UInt8](repeating: 0, count: 100_000)
          #expect(cbl_read(pair.first, &bytes, 1) == Int(-EAGAIN))
          var written = 0
          while cbl_write(pair.second, bytes, bytes.count) > 0 { written += 1 }
          #expect(cbl_write(pair.second, bytes, bytes.count) == Int(-EAGAIN))
          #expect(written > 0)
          // Nothing has parked: nobody else has run.
          #expect(other.state == .ready)
          try other.join()
        }
        pair.close()
      }
    }

    @Test func `a duplicate is waited for like its original, and outlives it`() throws {
      let pair = Pair.sockets()
      let duplicate = cbl_dup(pair.first)
      try parking { () throws -> Void in
        let reader = launch { readText(duplicate) }
        try Coroutine.yield()
        _ = cbl_close(pair.first)
        try Coroutine.yield()
        #expect(!reader.isFinished)
        writeText(pair.second, "hello")
        #expect(try reader.value() == "hello")
      }
      _ = cbl_close(duplicate)
      _ = cbl_close(pair.second)
    }

    @Test func `a signal does not end a parked read`() throws {
      cbl_count_signals()
      let before = cbl_signals()
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        let reader = launch { readText(pair.first) }
        try Coroutine.yield()
        cbl_raise()
        try Coroutine.sleep(for: .milliseconds(2))
        #expect(!reader.isFinished)
        writeText(pair.second, "x")
        #expect(try reader.value() == "x")
      }
      #expect(cbl_signals() == before + 1)
      pair.close()
    }

    @Test func `two that always find something to read take turns`() throws {
      let pairs = [Pair.sockets(), Pair.sockets()]
      try parking { () throws -> Void in
        // Neither ever has to wait: each writes to itself.
        var turns = [0, 0]
        let coroutines = pairs.enumerated().map { index, pair in
          launch {
            for _ in 0..<1000 {
              writeText(pair.second, "x")
              _ = readText(pair.first)
              turns[index] += 1
              #expect(abs(turns[0] - turns[1]) < 200)
            }
          }
        }
        for coroutine in coroutines { try coroutine.join() }
      }
      for pair in pairs { pair.close() }
    }

    @Test func `a generator's body may park in C, and parks its coroutine`() throws {
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        let lines = Generator<String> { yield in
          for _ in 0..<3 { try yield(readText(pair.first, 1) ?? "error") }
        }
        let writer = launch {
          for line in ["a", "b", "c"] {
            writeText(pair.second, line)
            try Coroutine.yield()
          }
        }
        #expect(Array(lines) == ["a", "b", "c"])
        try writer.join()
      }
      pair.close()
    }
  }
}
