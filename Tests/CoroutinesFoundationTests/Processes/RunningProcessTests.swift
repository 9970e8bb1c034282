// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct RunningProcessTests {
  @Test(arguments: Place.allCases)
  func `output comes as lines, errors apart`(_ place: Place) throws {
    let (lines, errors, end) = try place.run {
      () throws -> ([String], [String], ProcessTermination) in
      let running = try shell("echo a; echo x >&2; echo b; printf c").co.start()
      return (Array(running.outputLines), Array(running.errorLines), try running.termination())
    }
    #expect(lines == ["a", "b", "c"])
    #expect(errors == ["x"])
    #expect(end == .exited(0))
  }

  @Test func `a line comes while the process goes on`() throws {
    try runBlocking {
      let running = try shell("echo ready; read answer; echo \"got $answer\"").co
        .start(streams: [.input, .output])
      #expect(try running.outputLines.receive() == "ready")
      #expect(running.isRunning)
      try running.write(Data("yes\n".utf8))
      #expect(try running.outputLines.receive() == "got yes")
      #expect(try running.termination() == .exited(0))
      #expect(!running.isRunning)
    }
  }

  @Test func `closing the input ends a filter`() throws {
    try runBlocking {
      let running = try shell("cat").co.start(streams: [.input, .output])
      try running.write(Data("one\ntwo\n".utf8))
      running.closeInput()
      running.closeInput()
      #expect(Array(running.outputLines) == ["one", "two"])
      #expect(try running.termination() == .exited(0))
      let error = #expect(throws: POSIXError.self) { try running.write(Data("x".utf8)) }
      #expect(error?.code == .EBADF)
    }
  }

  @Test func `writing to a process that has gone is an error and no signal`() throws {
    try runBlocking {
      let running = try shell("exec 0<&-; echo closed; sleep 60").co
        .start(streams: [.input, .output])
      #expect(try running.outputLines.receive() == "closed")
      let error = #expect(throws: POSIXError.self) { try running.write(Data(count: 1_000_000)) }
      #expect(error?.code == .EPIPE)
      running.cancel()
      #expect(try running.termination() == .signalled(SIGTERM))
    }
  }

  @Test func `what a process starts while it is being ended is ended too`() throws {
    try runBlocking {
      // A slow shell is killed before it exits; a new child of it may hold SIGTERM to be its parent's, and needs the grace.
      let isAsExpected = try inTime(within: [.seconds(1), .seconds(10), .seconds(60)]) { grace in
        let running = try shell("trap 'sleep 600 & exit 5' TERM; echo ready; \(ticking)").co
          .start(streams: [.output], grace: grace)
        #expect(try running.outputLines.receive() == "ready")
        running.cancel()
        let termination = try running.termination()
        try expectEnd(of: running.outputLines)
        return termination == .exited(5)
      }
      #expect(isAsExpected)
    }
  }

  @Test func `what ignores SIGTERM is killed after the grace though the process has ended`() throws
  {
    try runBlocking {
      let running = try shell("(trap '' TERM; echo ready; exec sleep 600) & wait").co
        .start(streams: [.output], grace: .milliseconds(50))
      #expect(try running.outputLines.receive() == "ready")
      running.cancel()
      #expect(try running.termination() == .signalled(SIGTERM))
      try expectEnd(of: running.outputLines)
    }
  }

  /// Nobody holds the output open, though the script would have held it for ten minutes.
  private func expectEnd(of lines: ReceiveEnd<String>) throws {
    let error = #expect(throws: ChannelError.self) {
      _ = try withTimeout(.seconds(300)) { try lines.receive() }
    }
    #expect(error == .closed)
  }

  @Test func `megabytes that nobody reads do not make it stick`() throws {
    try runBlocking {
      // Where SIGPIPE is ignored, `yes` complains of its pipe.
      let running = try shell("yes $(seq 1 40) 2>&- | head -n 20000 | tee /dev/stderr").co.start()
      #expect(try running.termination() == .exited(0))
      #expect(running.outputLines.reduce(0) { count, _ in count + 1 } == 20_000)
      #expect(running.errorLines.reduce(0) { count, _ in count + 1 } == 20_000)
    }
  }

  @Test func `a bounded channel makes the process wait for its reader`() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("done")
      try runBlocking {
        let running = try shell("seq 1 50000; echo done > '\(file.path)'").co
          .start(streams: [.output], capacity: 4)
        #expect(try running.outputLines.receive() == "1")
        // It writes a quarter of a megabyte, and a pipe takes 64 KiB.
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(running.isRunning)
        #expect(running.outputLines.reduce(0) { count, _ in count + 1 } == 49_999)
        #expect(try running.termination() == .exited(0))
        #expect(FileManager.default.fileExists(atPath: file.path))
      }
    }
  }

  @Test func `the end is noticed though a child holds on`() throws {
    try runBlocking {
      // The child keeps what Foundation watches, but not the output.
      let running = try shell("sleep 60 >/dev/null 2>&1 & echo $!; exit 4").co.start()
      let number = try #require(Int32(try running.outputLines.receive()))
      #expect(try running.termination() == .exited(4))
      #expect(kill(number, SIGKILL) == 0)
    }
  }

  @Test func `a process is cancelled with the coroutine that started it (rule 8)`() throws {
    try runBlocking {
      let processes = Channel<RunningProcess>(capacity: 1)
      let starter = launch {
        let running = try shell("sleep 60").co.start()
        try processes.send(running)
        _ = try running.termination()
      }
      let running = try processes.receive()
      starter.cancel()
      #expect(throws: CancellationError.self) { try starter.value() }
      #expect(try running.termination() == .signalled(SIGTERM))
    }
  }

  @Test func `a process outlives a coroutine that just ends`() throws {
    try runBlocking {
      let starter = launch { try shell("read line; exit 6").co.start(streams: .input) }
      let running = try starter.value()
      #expect(running.isRunning)
      try running.write(Data("\n".utf8))
      #expect(try running.termination() == .exited(6))
    }
  }

  @Test func `cancelling a wait leaves the process alone (rule 3)`() throws {
    try runBlocking {
      let running = try shell("read line; exit 6").co.start(streams: .input)
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(10)) { _ = try running.termination() }
      }
      #expect(running.isRunning)
      running.closeInput()
      #expect(try running.termination() == .exited(6))
    }
  }

  @Test func `signals reach it`() throws {
    try runBlocking {
      let running = try shell("trap 'exit 7' USR1; echo ready; \(ticking)").co
        .start()
      #expect(try running.outputLines.receive() == "ready")
      running.signal(SIGUSR1)
      #expect(try running.termination() == .exited(7))
      running.signal(SIGUSR1)
    }
  }

  @Test func `streams that were not asked for are closed channels`() throws {
    try runBlocking {
      let running = try shell("true").co.start(streams: [])
      #expect(running.outputLines.isClosed && running.errorLines.isClosed)
      #expect(try running.termination() == .exited(0))
    }
  }

  @Test func `outside a coroutine it can be started and awaited`() async throws {
    let end = try await onPlainThread { () throws -> ProcessTermination in
      let running = try shell("read line; exit 8").co.start(streams: .input)
      try running.write(Data("\n".utf8))
      return try running.termination()
    }
    #expect(end == .exited(8))
  }

  @Test func `lines are split wherever the pieces end`() throws {
    try runBlocking {
      let running = try shell(
        "printf 'a\\r'; printf '\\nb\\n\\n'; printf '\\303'; printf '\\244\\n'"
      )
      .co.start(streams: [.output])
      #expect(Array(running.outputLines) == ["a", "b", "", "ä"])
    }
  }

  @Test func `a process started by code that is cancelled at once is ended`() throws {
    try runBlocking {
      let started = Cell<RunningProcess>()
      let starter = launch {
        started.value = try shell("sleep 60").co.start()
        // Before any of the coroutines that serve the process had a turn.
        Coroutine.current?.cancel()
      }
      try starter.join()
      let running = try #require(started.value)
      #expect(try running.termination() == .signalled(SIGTERM))
      #expect(Array(running.outputLines).isEmpty)
    }
  }

  @Test func `a run that is cancelled before its first wait is ended`() throws {
    try runBlocking {
      let process = shell("sleep 60")
      let runner = launch(start: .immediately) { try process.co.run() }
      try runner.cancelAndJoin()
      #expect(runner.error is CancellationError)
      try expectGone([process.processIdentifier])
    }
  }
}
