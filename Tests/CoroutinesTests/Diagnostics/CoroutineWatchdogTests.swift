// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
import Foundation
import Testing

#if os(Linux)
/// What a watchdog finds.
@Suite(
  .timeLimit(.minutes(30)),
  .disabled(if: cck_is_instrumented() != 0, "ThreadSanitizer keeps signals back")
)
struct CoroutineWatchdogTests {
  @Test func `who holds up a loop is named, with what it does and where`() throws {
    let probe = try Probe.run("hog")
    #expect(probe.status == 0)
    #expect(probe.errors.contains("runBlocking at "))
    #expect(probe.errors.contains("has been held up for "))
    #expect(probe.errors.contains(", at last by coroutine #2 \"hog\": it computes."))
    #expect(probe.errors.contains(", at last by coroutine #3 \"blocker\": it blocks"))
    #expect(probe.errors.contains("it blocks the thread in a call of the system's"))
    #expect(probe.errors.contains("block(for:)"))
    #expect(probe.errors.contains("goes on. It was held up for"))
  }

  @Test func `who goes on although it has been cancelled is told so, with what to do`() throws {
    let probe = try Probe.run("stubborn")
    #expect(probe.errors.contains("by coroutine #2 \"stubborn\": it "))
    #expect(probe.errors.contains(", although it has been cancelled. All other coroutines there"))
    #expect(probe.errors.contains("let that out of `try?` or `catch`"))
  }

  @Test func `a ring is found while others go on`() throws {
    let probe = try Probe.run("partial")
    #expect(probe.errors.contains("Deadlock: each of these waits for the next"))
    #expect(probe.errors.components(separatedBy: "Deadlock:").count == 2, "once is enough")
    #expect(probe.errors.contains("\"left\""))
  }

  @Test func `a channel that grows without bound is named by where it was made`() throws {
    let probe = try Probe.run("growth")
    #expect(probe.status == 0)
    #expect(probe.errors.contains("The channel made at diagnostics_probe/main.swift:"))
    #expect(probe.errors.contains("More is sent than received"))
  }
}
#endif
