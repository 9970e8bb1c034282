// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Says so on standard error, and ends the process in the way that the tests look for.
private let exitFromHandler: @convention(c) (Int32) -> Void = { _ in
  _ = write(STDERR_FILENO, "own handler\n", 12)
  _exit(7)
}

/// Says so on standard error, and lets the program go on.
private let goOnFromHandler: @convention(c) (Int32) -> Void = { _ in
  _ = write(STDERR_FILENO, "own handler\n", 12)
}

/// What is said of a crash inside a coroutine.
///
/// The lines of launches are given, since those of an exit test's body depend on the macro.
@Suite(.timeLimit(.minutes(30))) struct CrashReportTests {
  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  private func expectReport(_ result: ExitTest.Result?, _ signal: String) {
    let text = text(result)
    #expect(text.contains("swift-coroutines: \(signal) in coroutine #"))
    #expect(
      text.contains(" \"faulty\", launched at CoroutinesTests/CrashReportTests.swift:42\n")
    )
    #expect(!text.contains("stack overflow"))
  }

  @Test func `fatalError in a coroutine says in which, and where that was launched`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking { try launch(name: "faulty", line: 42) { fatalError("on purpose") }.join() }
    }
    #if arch(x86_64)
    expectReport(result, "SIGILL")
    #else
    expectReport(result, "SIGTRAP")
    #endif
    #expect(text(result).contains("Fatal error: on purpose"))
  }

  @Test func `an error that runBlocking throws and nobody catches says whose it was`() async {
    struct Boom: Error {}
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try! blocking { _ = launch(name: "lost", line: 42) { throw Boom() } }
    }
    let text = text(result)
    #expect(text.contains("swift-coroutines: The error that runBlocking threw last was"))
    #expect(
      text.contains(
        " \"lost\" (finished), launched at CoroutinesTests/CrashReportTests.swift:42, threw an error"
      )
    )
    #expect(text.contains(": Boom(). Call `join()`"))
  }

  @Test func `a crash for another reason does not tell of an error that was caught`() async {
    struct Boom: Error {}
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = try? blocking { _ = launch { throw Boom() } }
      try blocking {}
      fatalError("on purpose")
    }
    #expect(!text(result).contains("Boom"))
    #expect(text(result).contains("Fatal error: on purpose"))
  }

  @Test func `a bad pointer in a coroutine of a pool says in which`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      let pool = PoolScheduler(threads: 2)
      let faulty = launch(on: pool, name: "faulty", line: 42) {
        UnsafeMutableRawPointer(bitPattern: 0x10)?.storeBytes(of: 1, as: UInt8.self)
      }
      try blocking { try faulty.join() }
    }
    expectReport(result, "SIGSEGV")
  }

  @Test func `abort in a coroutine says in which, and ends the process as ever`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT),
      observing: [\.standardErrorContent]
    ) {
      try blocking { try launch(name: "faulty", line: 42) { abort() }.join() }
    }
    expectReport(result, "SIGABRT")
  }

  @Test func `a signal that somebody sends is not lost`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        try launch(name: "faulty", line: 42) {
          raise(SIGFPE)
          print("lost")
          _exit(0)
        }.join()
      }
    }
    expectReport(result, "SIGFPE")
  }

  @Test func `a nameless coroutine is told by its number`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT),
      observing: [\.standardErrorContent]
    ) {
      try blocking { try launch(line: 42) { abort() }.join() }
    }
    let report = "SIGABRT in coroutine #"
    #expect(text(result).contains(report))
    let rest = text(result).split(separator: report).last ?? ""
    let number = rest.prefix { $0.isNumber }
    #expect(!number.isEmpty)
    #expect(
      rest.dropFirst(number.count)
        .hasPrefix(", launched at CoroutinesTests/CrashReportTests.swift:42\n")
    )
  }

  @Test func `a crash in a generator's body says so, and which coroutine ran it`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT),
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        try launch(name: "faulty", line: 42) {
          let generator = Generator<Int> { _ in abort() }
          for _ in generator {}
        }.join()
      }
    }
    #expect(text(result).contains("SIGABRT in a generator that is run by coroutine #"))
    #expect(text(result).contains("\"faulty\""))
  }

  @Test func `a crash outside coroutines is not said to be in one`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT),
      observing: [\.standardErrorContent]
    ) {
      try blocking { try launch(name: "innocent") {}.join() }
      abort()
    }
    #expect(!text(result).contains("swift-coroutines"))
    #expect(!text(result).contains("innocent"))
  }

  @Test func `a handler that was there before has the signal after the report`() async {
    let result = await #expect(
      processExitsWith: .exitCode(7),
      observing: [\.standardErrorContent]
    ) {
      signal(SIGABRT, exitFromHandler)
      try blocking { try launch(name: "faulty", line: 42) { abort() }.join() }
    }
    expectReport(result, "SIGABRT")
    #expect(text(result).hasSuffix("own handler\n"))
  }

  @Test func `a program that goes on after a signal goes on as it would without us`() async {
    let result = await #expect(
      processExitsWith: .exitCode(8),
      observing: [\.standardErrorContent]
    ) {
      signal(SIGTRAP, goOnFromHandler)
      try blocking {
        try launch(name: "faulty", line: 42) {
          raise(SIGTRAP)
          raise(SIGTRAP)
          _exit(8)
        }.join()
      }
    }
    expectReport(result, "SIGTRAP")
    #expect(text(result).hasSuffix("own handler\nown handler\n"))
  }

  @Test func `an ignored signal stays ignored`() async {
    await #expect(processExitsWith: .exitCode(9)) {
      signal(SIGTRAP, SIG_IGN)
      try blocking {
        try launch {
          raise(SIGTRAP)
          _exit(9)
        }.join()
      }
    }
  }

  @Test func `a handler that is installed later replaces ours`() async {
    let result = await #expect(
      processExitsWith: .exitCode(7),
      observing: [\.standardErrorContent]
    ) {
      try blocking {
        signal(SIGABRT, exitFromHandler)
        try launch(name: "faulty", line: 42) { abort() }.join()
      }
    }
    #expect(text(result) == "own handler\n")
  }
}
