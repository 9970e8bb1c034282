// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
import Foundation
import Testing

#if os(Linux)
/// SIGQUIT.
@Suite(
  .timeLimit(.minutes(10)),
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
      let said = read(errors, until: "main.swift")
      #expect(said.contains("Coroutines of process \(process.processIdentifier): 1 has not ended."))
      if program == "sleeps" { #expect(said.contains("waits in Coroutine.sleep(for:)")) }
      if program != "sleeps" { #expect(said.contains("gives no answer: coroutine #1")) }
      #expect(process.isRunning)
      kill(process.processIdentifier, SIGQUIT)
    }
    #expect(probe.isKilled)
    #expect(probe.status == SIGQUIT)
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
