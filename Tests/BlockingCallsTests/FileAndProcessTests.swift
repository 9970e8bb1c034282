// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CCoroutinesBlockingCalls
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

/// A temporary file with so many bytes, which is removed afterwards.
func withFile(_ count: Int, _ body: (Int32, String) throws -> Void) throws {
  var path = Array("/tmp/blocking-calls-XXXXXX".utf8CString)
  let file = cbl_file(&path, count)
  #expect(file >= 0)
  let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer {
    _ = cbl_close(file)
    unlink(name)
  }
  try body(file, name)
}

extension BlockingCallsTests {
  @Suite struct FileTests {
    @Test func `file reads are offloaded`() throws {
      cbc_set_reads_cached_at_once(0)
      defer { cbc_set_reads_cached_at_once(1) }
      try withFile(10_000) { file, _ in
        BlockingCalls.resetReport()
        try parking { () throws -> Void in
          var bytes = [UInt8](repeating: 0, count: 20_000)
          #expect(cbl_read(file, &bytes, bytes.count) == 10_000)
          #expect(bytes.prefix(10_000).allSatisfy { $0 == UInt8(ascii: "x") })
          #expect(cbl_read(file, &bytes, bytes.count) == 0)
          #expect(cbl_pread(file, &bytes, 100, 9_950) == 50)
        }
        #expect(total("read").offloaded == 2)
        #expect(total("pread").offloaded == 1)
      }
    }

    @Test func `what the system has in memory is read at once`() throws {
      try withFile(10_000) { file, _ in
        BlockingCalls.resetReport()
        try parking { () throws -> Void in
          var bytes = [UInt8](repeating: 0, count: 20_000)
          #expect(cbl_read(file, &bytes, 5000) == 5000)
          #expect(cbl_pread(file, &bytes, 5000, 0) == 5000)
          #expect(cbl_read(file, &bytes, 20_000) == 5000)
          #expect(cbl_read(file, &bytes, 20_000) == 0)
        }
        let (read, pread) = (total("read"), total("pread"))
        // Whether the rest of a file that is shorter than asked for is looked for elsewhere is the file
        // system's business.
        #expect(read.passed + read.offloaded == 3)
        #expect(pread.passed + pread.offloaded == 1)
      }
    }

    @Test func `fsync is offloaded`() throws {
      try withFile(10_000) { file, _ in
        BlockingCalls.resetReport()
        try parking { () throws -> Void in
          #expect(cbl_fsync(file) == 0)
          #expect(cbl_fsync(-1) == -EBADF)
        }
        #expect(total("fsync").offloaded == 2)
      }
    }

    @Test func `cancelled code reads of a file what need not be waited for (rule 2)`() throws {
      try withFile(1000) { file, _ in
        try parking { () throws -> Void in
          let reader = launch { () -> [Int] in
            Coroutine.current?.cancel()
            var bytes = [UInt8](repeating: 0, count: 1000)
            cbc_set_reads_cached_at_once(0)
            let elsewhere = cbl_pread(file, &bytes, 1000, 0)
            cbc_set_reads_cached_at_once(1)
            return [elsewhere, Int(cbl_fsync(file)), cbl_pread(file, &bytes, 1000, 0)]
          }
          let results = try reader.value()
          #expect(results.prefix(2) == [Int(-ECANCELED), Int(-ECANCELED)])
          // Where the file system can tell that the bytes are in memory.
          #expect(results[2] == 1000 || results[2] == Int(-ECANCELED))
        }
      }
    }

    @Test func `flock waits for another process, and others run meanwhile`() throws {
      try withFile(1) { file, path in
        let (tell, until) = (Pair.pipe(), Pair.pipe())
        let process = cbl_fork_locker(path, tell.second, until.first, until.second)
        #expect(process > 0)
        try parking { () throws -> Void in
          #expect(readText(tell.first, 1) == "x")
          let locker = launch { cbl_flock(file) }
          try Coroutine.sleep(for: .milliseconds(2))
          #expect(!locker.isFinished)
          let cancelled = launch { cbl_flock(file) }
          try Coroutine.yield()
          cancelled.cancel()
          #expect(try cancelled.value() == -ECANCELED)
          _ = cbl_close(until.second)
          #expect(try locker.value() == 0)
          #expect(cbl_wait_for(process) == 0)
        }
        tell.close()
        _ = cbl_close(until.first)
      }
    }
  }

  @Suite struct ProcessTests {
    @Test func `waitpid waits for the process, and others run meanwhile`() throws {
      try parking { () throws -> Void in
        let pipes = (0..<3).map { _ in Pair.pipe() }
        let processes = pipes.map { cbl_fork_reader($0.first, $0.second) }
        let waiters = processes.map { process in launch { cbl_wait_for(process) } }
        try Coroutine.yield()
        #expect(waiters.allSatisfy { !$0.isFinished })
        // The last one first.
        for index in (0..<3).reversed() {
          writeText(pipes[index].second, "\u{7}")
          #expect(try waiters[index].value() == 7)
        }
        for pipe in pipes { pipe.close() }
        #expect(cbl_wait_for(processes[0]) == -ECHILD)
      }
    }

    @Test func `in the child of a fork the calls block as ever`() throws {
      try parking { () throws -> Void in
        let pipe = Pair.pipe()
        // It reads before anything is there, and would wait for a loop that it does not have.
        let process = cbl_fork_reader(pipe.first, pipe.second)
        try Coroutine.sleep(for: .milliseconds(2))
        writeText(pipe.second, "\u{5}")
        #expect(cbl_wait_for(process) == 5)
        pipe.close()
      }
    }

    /// In a process of its own: it would take other tests' children, too.
    @Test func `wait takes any child`() async {
      await #expect(processExitsWith: .success) {
        try parking { () throws -> Void in
          let pipe = Pair.pipe()
          let process = cbl_fork_reader(pipe.first, pipe.second)
          let waiter = launch { () -> (Int32, Int32) in
            var status: Int32 = -1
            return (cbl_wait_for_any(&status), status)
          }
          try Coroutine.yield()
          #expect(!waiter.isFinished)
          writeText(pipe.second, "\u{3}")
          let (found, status) = try waiter.value()
          #expect(found == process)
          #expect(status == 3)
          pipe.close()
        }
      }
    }

    @Test func `a cancelled waitpid leaves the process to others (rule 3)`() throws {
      try parking { () throws -> Void in
        let pipe = Pair.pipe()
        let process = cbl_fork_reader(pipe.first, pipe.second)
        let waiter = launch { cbl_wait_for(process) }
        try Coroutine.yield()
        waiter.cancel()
        #expect(try waiter.value() == -ECANCELED)
        writeText(pipe.second, "\u{4}")
        #expect(cbl_wait_for(process) == 4)
        pipe.close()
      }
    }
  }
}
