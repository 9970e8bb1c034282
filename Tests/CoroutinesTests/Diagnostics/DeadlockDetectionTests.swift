// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
import Foundation
import Testing

#if os(Linux)
/// What is certain is reported, and nothing else.
@Suite(.timeLimit(.minutes(30))) struct DeadlockDetectionTests {
  @Test(
    .disabled(if: cck_is_instrumented() != 0, "sanitizers have threads of their own"),
    arguments: ["channel", "ring", "promise", "pool", "after-offload"]
  )
  func `when nobody is left who could wake a coroutine, the program ends and says why`(
    _ program: String
  ) throws {
    let probe = try Probe.run(program)
    #expect(!probe.isKilled)
    #expect(probe.status == 2, "\(probe.errors)")
    #expect(probe.errors.contains("Fatal error: deadlock."))
    #expect(probe.errors.contains("DiagnosticsProbe") || probe.errors.contains("diagnostics_probe"))
    // What was printed before is not lost.
    #expect(probe.output == "begins\n")
  }

  @Test(.disabled(if: cck_is_instrumented() != 0, "sanitizers have threads of their own"))
  func `the report shows the ring`() throws {
    let probe = try Probe.run("ring")
    #expect(
      probe.errors.contains("each of these waits for the next: #2 \"left\" → #3 \"right\" → #2")
    )
    #expect(probe.errors.contains("on mutex held by coroutine #3 \"right\" (suspended)"))
  }

  @Test(arguments: ["timer", "thread", "task", "offload", "slow-loop"])
  func `there is no alarm while something can still come`(_ program: String) throws {
    let probe = try Probe.run(program)
    #expect(probe.status == 0)
    #expect(probe.output == "begins\nends\n")
    #expect(probe.errors.isEmpty)
  }

  @Test(.disabled(if: cck_is_instrumented() != 0, "sanitizers have threads of their own"))
  func `it may be reported only, or not at all`() throws {
    let reported = try Probe.run("reported") { process, errors in
      var said = ""
      while !said.contains("diagnostics_probe/main.swift") {
        let more = errors.availableData
        if more.isEmpty { break }
        said += String(decoding: more, as: UTF8.self)
      }
      #expect(process.isRunning)
      process.terminate()
    }
    #expect(reported.isKilled)
  }
}
#endif
