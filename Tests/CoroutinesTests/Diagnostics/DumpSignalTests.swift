// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
import Foundation
import Testing

#if os(Linux)
/// SIGQUIT.
@Suite(
  .timeLimit(.minutes(30)),
  .disabled(if: cck_is_instrumented() != 0, "ThreadSanitizer keeps signals back")
)
struct DumpSignalTests {
  /// Reads until a text has come.
  private func read(_ handle: FileHandle, until text: String) -> String {
    var said = ""
    while !said.contains(text) {
      let more = handle.availableData
      if more.isEmpty { break }
      said += String(decoding: more, as: UTF8.self)
    }
    return said
  }

  /// The program's first thread is in a system call.
  private func isAsleep(_ process: Process) -> Bool {
    let path = "/proc/\(process.processIdentifier)/stat"
    guard let line = try? String(contentsOfFile: path, encoding: .utf8) else { return true }
    return line.split(separator: ")").last?.hasPrefix(" S") == true
  }

  /// Sends the signal once the program has come to its loop.
  private func quit(_ process: Process, _ errors: FileHandle) {
    #expect(read(errors, until: "ready").contains("ready"))
    kill(process.processIdentifier, SIGQUIT)
  }

  /// The thread that dumps is started by the signal, wherever that finds the program.
  @Test(arguments: ["sleeps", "computes", "allocates", "blocks", "reads", "locked"])
  func `the first has a dump printed, the second ends the program`(_ program: String) throws {
    let probe = try Probe.run(program) { process, errors in
      quit(process, errors)
      let answer =
        program == "sleeps" ? "waits in Coroutine.sleep(for:)" : "gives no answer: coroutine #1"
      let said = read(errors, until: answer)
      #expect(said.contains("Coroutines of process \(process.processIdentifier): 1 has not ended."))
      #expect(said.contains(answer))
      #expect(process.isRunning)
      kill(process.processIdentifier, SIGQUIT)
    }
    #expect(probe.isKilled)
    #expect(probe.status == SIGQUIT)
  }

  /// The signal ends the call, so that nothing of it is seen later.
  @Test func `who blocked the thread when the signal came is told, with the place`() throws {
    let probe = try Probe.run("blocks-once") { process, errors in
      #expect(read(errors, until: "ready").contains("ready"))
      while !isAsleep(process) { usleep(1000) }
      kill(process.processIdentifier, SIGQUIT)
      let said = read(errors, until: "waits in Coroutine.sleep(for:)")
      #expect(said.contains("coroutine #2 \"blocker\" blocked its thread in a call of the sys"))
      #expect(said.contains("\n    block(for:) at "))
      #expect(said.contains("waits in Coroutine.sleep(for:)"))
      kill(process.processIdentifier, SIGQUIT)
    }
    #expect(probe.isKilled)
  }

  /// A second thread makes each allocation dearer.
  @Test func `no thread is there before the signal, but where there are others`() throws {
    let probe = try Probe.run("threads")
    #expect(probe.output.contains("alone: 1\n"))
    // The loop, the one that the call went to, and the one that dumps.
    #expect(probe.output.contains("with others: 3\n"))
  }

  @Test func `what the C library calls back gets a message, and a second signal ends it`() throws {
    let probe = try Probe.run("sorts") { process, errors in
      quit(process, errors)
      #expect(read(errors, until: "is elsewhere").contains("no dump yet"))
      #expect(process.isRunning)
      kill(process.processIdentifier, SIGQUIT)
    }
    #expect(probe.status == SIGQUIT)
    #expect(!probe.errors.contains("Coroutines of process"))
  }

  @Test func `the dump goes to a file if the environment names one`() throws {
    let path = "/tmp/coroutines-dump-\(getpid())-\(UInt32.random(in: 0 ... .max)).json"
    defer { unlink(path) }
    let probe = try Probe.run("sleeps", environment: ["COROUTINES_DUMP_FILE": path]) {
      process,
      errors in
      quit(process, errors)
      let said = read(errors, until: "written to")
      #expect(said.contains(path))
      kill(process.processIdentifier, SIGQUIT)
    }
    #expect(probe.status == SIGQUIT)
    let data = try Data(contentsOf: URL(filePath: path))
    let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect((object["coroutines"] as? [Any])?.count == 1)
  }

  @Test(arguments: [true, false])
  func `a program can do without it`(_ byEnvironment: Bool) throws {
    let environment = byEnvironment ? ["COROUTINES_DUMP_SIGNAL": "off"] : [:]
    let program = byEnvironment ? "sleeps" : "signal-disabled"
    let probe = try Probe.run(program, environment: environment) { process, errors in
      quit(process, errors)
    }
    #expect(probe.isKilled)
    #expect(probe.status == SIGQUIT)
    #expect(!probe.errors.contains("Coroutines of process"))
  }
}
#endif
