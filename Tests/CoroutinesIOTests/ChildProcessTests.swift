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

/// Programs that are started, listened to and ended.
@Suite(.timeLimit(.minutes(30))) struct ChildProcessTests {
  // MARK: - Running to the end

  @Test func `output, errors and status are collected`() throws {
    try runBlocking {
      let result = try ChildProcess.run("sh", ["-c", "echo out; echo err >&2; exit 3"])
      #expect(result.exit == .exited(3) && !result.exit.isSuccess)
      #expect(result.text == "out\n")
      #expect(result.errors == Array("err\n".utf8))
      let killed = try ChildProcess.run("sh", ["-c", "kill -9 $$"])
      #expect(killed.exit == .signalled(.kill))
      #expect("\(killed.exit), \(result.exit)" == "ended by SIGKILL, exited with status 3")
    }
  }

  @Test func `megabytes on all three streams do not make it stick`() throws {
    var input = (0..<4999).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    while input.count < 3_000_000 { input += input }
    try runBlocking {
      let result = try ChildProcess.run("sh", ["-c", "tee /dev/stderr"], input: input)
      #expect(result.output == input)
      #expect(result.errors == input)
      #expect(result.exit.isSuccess)
    }
  }

  @Test func `input that is not read is no error, and no input is an end`() throws {
    try runBlocking {
      let unread = try ChildProcess.run("true", input: [UInt8](repeating: 0, count: 1_000_000))
      #expect(unread.exit.isSuccess)
      #expect(try ChildProcess.run("cat").output.isEmpty)
    }
  }

  @Test func `arguments, environment and directory arrive as they are`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let words = ["", "two words", "$HOME", "ü\n"]
        let echoed = try ChildProcess.run("printf", ["%s|"] + words)
        #expect(echoed.text == words.map { $0 + "|" }.joined())
        let result = try ChildProcess.run(
          "/bin/sh",
          ["-c", "echo $ANSWER $HOME; pwd -P"],
          environment: ["ANSWER": "42"],
          directory: directory
        )
        #expect(result.text == "42\n\(directory)\n")
        let inherited = try ChildProcess.run("sh", ["-c", "echo ${PATH:+set}"])
        #expect(inherited.text == "set\n")
      }
    }
  }

  @Test func `a program that cannot be started is an error with its name`() throws {
    try runBlocking {
      let missing = #expect(throws: IOError.self) { _ = try ChildProcess("/nowhere/program") }
      #expect(missing == IOError(code: ENOENT, operation: "starting", subject: "/nowhere/program"))
      let unknown = #expect(throws: IOError.self) { _ = try ChildProcess.run("no-such-program-42") }
      #expect(unknown?.code == ENOENT)
      let noProgram = #expect(throws: IOError.self) { _ = try ChildProcess("/etc/passwd") }
      #expect(noProgram?.code == EACCES)
      let noDirectory = #expect(throws: IOError.self) {
        _ = try ChildProcess("true", directory: "/nowhere")
      }
      #expect(noDirectory?.code == ENOENT)
      let zero = #expect(throws: IOError.self) { _ = try ChildProcess("echo", ["a\0b"]) }
      #expect(zero?.code == EINVAL)
    }
  }

  @Test func `a program that writes too much is ended`() throws {
    try runBlocking {
      let error = #expect(throws: IOError.self) { _ = try ChildProcess.run("yes", limit: 100_000) }
      #expect(error?.code == EMSGSIZE)
    }
  }

  // MARK: - Streams and the end

  @Test func `one talks with a program through its streams`() throws {
    try runBlocking {
      let child = try ChildProcess("cat", input: .pipe, output: .pipe)
      let input = try #require(child.input)
      let reader = BufferedReader(try #require(child.output))
      for number in 0..<50 {
        try input.write("\(number)\n")
        #expect(try reader.readLine() == "\(number)")
      }
      #expect(child.isRunning)
      input.close()
      #expect(try reader.readLine() == nil)
      #expect(try child.exit() == .exited(0))
      #expect(!child.isRunning)
      #expect(try child.exit() == .exited(0))
    }
  }

  @Test func `lines and the end come through channels`() throws {
    try runBlocking {
      let child = try ChildProcess(
        "sh",
        ["-c", "echo one; echo two >&2; echo three; exit 5"],
        output: .pipe,
        errors: .output
      )
      #expect(child.errors == nil)
      let lines = try #require(child.output).lineChannel()
      #expect(Array(lines) == ["one", "two", "three"])
      let exit = try select {
        Receive(from: child.exits) { $0 as ChildExit? }
        After(.seconds(60)) { nil as ChildExit? }
      }
      #expect(exit == .exited(5))
      #expect(throws: ChannelError.self) { _ = try child.exits.receive() }
    }
  }

  @Test
  func `a line that is too long closes the channel of lines, and the error comes to the parent`()
    throws
  {
    var seen: [String] = []
    let error = #expect(throws: IOError.self) {
      try runBlocking {
        let (one, other) = try ByteStream.pair()
        try one.write("ok\n" + String(repeating: "x", count: 20))
        for line in try other.lineChannel(limit: 10) { seen.append(line) }
        withExtendedLifetime(one) {}
      }
    }
    #expect(seen == ["ok"])
    #expect(error?.code == EMSGSIZE)
  }

  @Test func `a signal arrives, and none is sent to a process that has ended`() throws {
    try runBlocking {
      let child = try ChildProcess("sleep", ["60"])
      #expect(try child.signal(.terminate))
      #expect(try child.exit() == .signalled(.terminate))
      #expect(try child.signal(.kill) == false)
    }
  }

  #if os(Linux)
  @Test func `no signal is blocked in a program, whoever blocks them here`() throws {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try runBlocking {
      let text = try ChildProcess.run("cat", ["/proc/self/status"]).text
      let blocked = text.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
      #expect(blocked == "SigBlk:\t0000000000000000")
    }
  }

  @Test
  func `a program has its three streams and nothing of ours, even of others started meanwhile`()
    async
  {
    await #expect(processExitsWith: .success) {
      func run() throws {
        // What this process was given itself, and hands on as it was told to.
        let given = (3..<10_000).filter { number in
          let flags = fcntl(Int32(number), F_GETFD)
          return flags >= 0 && flags & FD_CLOEXEC == 0
        }
        try runBlocking {
          let (one, other) = try ByteStream.pair()
          let listener = try StreamListener(on: .loopback(port: 0))
          let file = try File.open("/dev/null")
          let children = (0..<20).map { _ in
            launch(on: .shared) { try ChildProcess.run("sh", ["-c", "ls -l /proc/self/fd"]).text }
          }
          for child in children {
            let open = openFiles(try child.value()).filter { !given.contains($0.number) }
            let strange = open.filter { file in
              ["socket:", "eventpoll", "pidfd", "eventfd"].contains { file.target.contains($0) }
            }
            // Two pipes, of output and errors; and what `ls` has open itself.
            let pipes = open.filter { $0.target.contains("pipe:") }.map(\.number)
            guard strange.isEmpty, Set(pipes).isSubset(of: [1, 2]) else { fatalError("\(open)") }
          }
          withExtendedLifetime((one, other, listener, file)) {}
        }
      }
      do { try run() } catch { fatalError("\(error)") }
    }
  }

  @Test func `without a descriptor for the process, a thread waits for its end`() async {
    await #expect(processExitsWith: .success) {
      func run() throws {
        try runBlocking {
          // Whatever is opened once is open after this.
          _ = try ChildProcess.run("true")
          let descriptors = TakenDescriptors(left: 0)
          let ending = try ChildProcess("sh", ["-c", "exit 7"], input: .inherited)
          guard try ending.exit() == .exited(7) else { fatalError("another end") }
          let running = try ChildProcess("sleep", ["60"], input: .inherited)
          try running.signal(.kill)
          guard try running.exit() == .signalled(.kill) else { fatalError("another end") }
          do {
            _ = try ChildProcess.run("true")
            fatalError("there were descriptors left")
          } catch let error as IOError where error.code == EMFILE {}
          descriptors.giveBack()
          guard try ChildProcess.run("true").exit.isSuccess else { fatalError("another end") }
        }
      }
      do { try run() } catch { fatalError("\(error)") }
      guard waitpid(-1, nil, WNOHANG) == -1, errno == ECHILD else { fatalError("a child is left") }
    }
  }

  @Test func `no descriptor and no dead process is left, whatever ends the wait`() async {
    await #expect(processExitsWith: .success) {
      requireNoDescriptorsLeft {
        try runBlocking {
          _ = try ChildProcess.run("cat", input: "x".utf8)
          _ = try? ChildProcess.run("/nowhere/program")
          try? withTimeout(.milliseconds(20)) { _ = try ChildProcess.run("sleep", ["60"]) }
          let child = try ChildProcess("sleep", ["60"], input: .pipe, output: .pipe, errors: .pipe)
          let waiting = launch { try child.exit() }
          try Coroutine.yield()
          waiting.cancel()
          try? waiting.join()
          try child.signal(.kill)
          _ = try child.exit()
        }
      }
      // Nobody is left to be collected.
      guard waitpid(-1, nil, WNOHANG) == -1, errno == ECHILD else { fatalError("a child is left") }
    }
  }
  #endif

  // MARK: - Ends of waits

  /// Reads numbers that a shell writes, once it has begun.
  private func numbers(_ child: ChildProcess) throws -> [Int32] {
    let reader = BufferedReader(try #require(child.output))
    let line = try #require(try reader.readLine())
    return line.split(separator: " ").compactMap { Int32($0) }
  }

  /// Waits until processes are gone, or have ended at least.
  private func expectGone(_ numbers: [Int32]) throws {
    for number in numbers {
      while kill(number, 0) == 0 {
        let status = try? File.open("/proc/\(number)/stat").readToEnd()
        guard let text = status.map({ String(decoding: $0, as: UTF8.self) }),
          let end = text.lastIndex(of: ")"), !text[end...].hasPrefix(") Z")
        else { break }
        try Coroutine.sleep(for: .milliseconds(1))
      }
    }
  }

  @Test func `a cancelled or late wait leaves the process running (rules 2, 3 and 8)`() throws {
    try runBlocking {
      let child = try ChildProcess("sleep", ["60"])
      let waiting = launch { try child.exit() }
      while waiting.state != .suspended { try Coroutine.yield() }
      waiting.cancel()
      #expect(throws: CancellationError.self) { _ = try waiting.value() }
      #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(5)) { _ = try child.exit() }
      }
      #expect(child.isRunning)
      try child.signal(.kill)
      #expect(try child.exit() == .signalled(.kill))
    }
  }

  @Test func `supervised, a cancelled wait ends the process and what it has started`() throws {
    try runBlocking {
      // Unless killed, this takes a minute.
      let child = try ChildProcess(
        "sh",
        ["-c", "sleep 60 & echo $$ $!; wait; sleep 60"],
        output: .pipe
      )
      let numbers = try numbers(child)
      #expect(numbers.count == 2 && numbers.first == child.identifier)
      let waiting = launch { try child.supervise() }
      while waiting.state != .suspended { try Coroutine.yield() }
      waiting.cancel()
      #expect(throws: CancellationError.self) { _ = try waiting.value() }
      #expect(!child.isRunning)
      try expectGone(numbers)
    }
  }

  @Test func `cancelling ends what a program has left behind with its output open`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let path = "\(directory)/number"
        let script = "sleep 60 & echo $! > \(path).new; mv \(path).new \(path)"
        let running = launch { try ChildProcess.run("sh", ["-c", script]) }
        while access(path, F_OK) != 0 { try Coroutine.sleep(for: .milliseconds(1)) }
        running.cancel()
        #expect(throws: CancellationError.self) { _ = try running.value() }
        let text = String(decoding: try File.open(path).readToEnd(), as: UTF8.self)
        let number = try #require(Int32(text.dropLast()))
        try expectGone([number])
      }
    }
  }

  @Test func `a program that ignores SIGTERM is killed after the grace`() throws {
    try runBlocking {
      let child = try ChildProcess(
        "sh",
        ["-c", "trap '' TERM; echo $$; sleep 60; :"],
        output: .pipe
      )
      let numbers = try numbers(child)
      let waiting = launch { try child.supervise(grace: .milliseconds(50)) }
      while waiting.state != .suspended { try Coroutine.yield() }
      waiting.cancel()
      #expect(throws: CancellationError.self) { _ = try waiting.value() }
      #expect(try child.exit() == .signalled(.kill))
      try expectGone(numbers)
    }
  }

  @Test func `a deadline ends what runs, and says that it was the deadline (rule 8)`() throws {
    try runBlocking {
      let error = #expect(throws: TimeoutError.self) {
        try withTimeout(.milliseconds(20)) { _ = try ChildProcess.run("sleep", ["60"]) }
      }
      #expect(error?.limit == .milliseconds(20))
    }
  }

  @Test func `cancelled code starts nothing`() throws {
    try withScratchDirectory { directory in
      try runBlocking {
        let late = launch { try ChildProcess.run("touch", ["\(directory)/made"]) }
        late.cancel()
        #expect(throws: CancellationError.self) { _ = try late.value() }
        #expect(names(in: directory).isEmpty)
      }
    }
  }

  @Test func `many at a time all end, each in its own way`() throws {
    try runBlocking {
      let children = (0..<30).map { number in
        launch { try ChildProcess.run("sh", ["-c", "echo \(number); exit \(number)"]) }
      }
      for (number, child) in children.enumerated() {
        let result = try child.value()
        #expect(result.exit == .exited(Int32(number)))
        #expect(result.text == "\(number)\n")
      }
    }
  }
}

/// What `ls -l` says of a process's descriptors.
private func openFiles(_ text: String) -> [(number: Int, target: String)] {
  text.split(separator: "\n").compactMap { line in
    let words = line.split(separator: " ")
    guard let arrow = words.firstIndex(of: "->"), arrow > 0, let number = Int(words[arrow - 1])
    else { return nil }
    return (number, words[(arrow + 1)...].joined(separator: " "))
  }
}
