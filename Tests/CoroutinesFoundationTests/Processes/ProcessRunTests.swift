// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

/// A process that runs a script of the shell.
func shell(_ script: String) -> Process {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/sh")
  process.arguments = ["-c", script]
  return process
}

/// Keeps a shell busy, which looks at its signals now and then; half a minute at most, if a test leaves it behind.
let ticking = "for i in $(seq 3000); do sleep 0.01; done"

@Suite(.timeLimit(.minutes(30))) struct ProcessRunTests {
  @Test(arguments: Place.allCases)
  func `output, errors and status are collected anywhere`(_ place: Place) throws {
    let output = try place.run { () throws -> ProcessOutput in
      try shell("echo out; echo err >&2; exit 3").co.run()
    }
    #expect(output.termination == .exited(3))
    #expect(output.text == "out\n")
    #expect(output.standardError == Data("err\n".utf8))
    #expect(!output.termination.isSuccess)
  }

  @Test func `outside a coroutine it blocks the thread`() async throws {
    let output = try await onPlainThread { () throws -> ProcessOutput in
      try shell("echo out").co.run()
    }
    #expect(output.termination.isSuccess)
    #expect(output.text == "out\n")
  }

  @Test func `megabytes on all three streams do not make it stick`() throws {
    let input = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try runBlocking {
      let output = try shell("tee /dev/stderr").co.run(input: input)
      #expect(output.standardOutput == input)
      #expect(output.standardError == input)
      #expect(output.termination.isSuccess)
    }
  }

  @Test func `errors first and output afterwards do not make it stick`() throws {
    try runBlocking {
      let output = try shell("seq 1 200000 >&2; seq 1 200000").co.run()
      #expect(output.standardError == output.standardOutput)
      #expect(output.text.hasSuffix("\n200000\n"))
    }
  }

  @Test func `input that is not read is no error`() throws {
    try runBlocking {
      let output = try shell("exit 0").co.run(input: Data(count: 1_000_000))
      #expect(output.termination.isSuccess)
    }
  }

  @Test func `an empty input ends at once`() throws {
    try runBlocking {
      let output = try shell("cat; echo end").co.run(input: Data())
      #expect(output.text == "end\n")
    }
  }

  @Test func `a signal is told apart from a status`() throws {
    try runBlocking {
      let killed = try shell("kill -9 $$").co.run()
      #expect(killed.termination == .signalled(9))
      let exited = try shell("exit 9").co.run()
      #expect(exited.termination == .exited(9))
      #expect(
        "\(killed.termination), \(exited.termination)" == "ended by signal 9, exited with status 9"
      )
    }
  }

  @Test func `a program that is not there throws what Foundation reports`() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/nowhere/program")
    try runBlocking {
      let error = #expect(throws: CocoaError.self) { _ = try process.co.run() }
      #expect(error?.code == .fileReadNoSuchFile || error?.code == .fileNoSuchFile)
    }
  }

  @Test func `what the process says about environment and directory holds`() throws {
    try withTemporaryDirectory { directory in
      let process = shell("echo $ANSWER; pwd -P")
      process.environment = ["ANSWER": "42"]
      process.currentDirectoryURL = directory
      let output = try runBlocking { try process.co.run() }
      let path = directory.resolvingSymlinksInPath().path
      #expect(output.text == "42\n\(path)\n")
    }
  }

  @Test func `cancelling ends the process and what it has started (rule 2, 3.5-c9)`() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("pids")
      // Unless killed, this takes a minute.
      let process = shell("sleep 60 & echo $$ $! > '\(file.path)'; wait; sleep 60")
      try runBlocking {
        let running = launch { try process.co.run() }
        let numbers = try processNumbers(in: file, count: 2)
        running.cancel()
        #expect(throws: CancellationError.self) { try running.value() }
        try expectGone(numbers)
      }
    }
  }

  @Test func `a process that ignores SIGTERM is killed after the grace`() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("pids")
      let process = shell("trap '' TERM; echo $$ > '\(file.path)'; sleep 60; :")
      try runBlocking {
        let running = launch { try process.co.run(grace: .milliseconds(50)) }
        let numbers = try processNumbers(in: file, count: 1)
        running.cancel()
        #expect(throws: CancellationError.self) { try running.value() }
        try expectGone(numbers)
      }
    }
  }

  #if os(Linux)
  @Test(arguments: Place.allCases)
  func `a process gets its signals wherever it is started`(_ place: Place) throws {
    let output = try place.run { () throws -> ProcessOutput in
      try shell("exec grep SigBlk /proc/self/status").co.run()
    }
    let field = try #require(output.text.split(whereSeparator: \.isWhitespace).last)
    let blocked = try #require(UInt64(field, radix: 16))
    // What libdispatch blocks on its threads.
    for number in [SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGCHLD] {
      #expect(blocked >> UInt64(number - 1) & 1 == 0, "signal \(number) is blocked")
    }
  }
  #endif

  @Test func `a process that handles SIGTERM has its say`() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appendingPathComponent("pids")
      let end = directory.appendingPathComponent("end")
      let process = shell(
        "trap 'echo bye > \"\(end.path)\"; exit 0' TERM; echo $$ > '\(file.path)'; "
          + ticking
      )
      try runBlocking {
        let running = launch { try process.co.run(grace: .seconds(30)) }
        _ = try processNumbers(in: file, count: 1)
        running.cancel()
        #expect(throws: CancellationError.self) { try running.value() }
        #expect(try String(contentsOf: end, encoding: .utf8) == "bye\n")
      }
    }
  }

  @Test func `cancelled code starts nothing (rule 2)`() throws {
    let process = shell("echo out")
    try runBlocking {
      let running = launch {
        Coroutine.current?.cancel()
        return try process.co.run()
      }
      #expect(throws: CancellationError.self) { try running.value() }
      #expect(!process.isRunning && process.processIdentifier == 0)
    }
  }

  @Test func `fifty processes at once need one thread`() throws {
    try runBlocking {
      let thread = pthread_self()
      let runs = (1...50).map { number in
        launch {
          let output = try shell("cat; echo \(number)").co.run(input: Data("in ".utf8))
          #expect(pthread_equal(pthread_self(), thread) != 0)
          return output.text
        }
      }
      for (index, run) in runs.enumerated() {
        let text = try run.value()
        #expect(text == "in \(index + 1)\n")
      }
    }
  }

  @Test func `a handler of the process is still called`() throws {
    let process = shell("exit 5")
    let status = Promise<Int32>()
    process.terminationHandler = { status.fulfill($0.terminationStatus) }
    try runBlocking {
      _ = try process.co.run()
      #expect(try status.await() == 5)
    }
  }
}

/// The numbers that a script writes into a file once it runs.
func processNumbers(in file: URL, count: Int) throws -> [Int32] {
  while true {
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    if text.hasSuffix("\n") {
      let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
      #expect(numbers.count == count)
      return numbers
    }
    try Coroutine.sleep(for: .milliseconds(2))
  }
}

/// Waits until no process with these numbers runs.
///
/// One that has ended and that nobody has collected yet counts as gone.
func expectGone(_ numbers: [Int32]) throws {
  for number in numbers {
    while kill(number, 0) == 0 {
      let status = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ") Z"
      if status.contains(") Z") { break }
      try Coroutine.sleep(for: .milliseconds(2))
    }
  }
}
