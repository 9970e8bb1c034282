// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutineTestSupport
import Testing

@testable import Coroutines

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What has been waited for is closed when it is closed, whatever the poller holds.
///
/// Worth running with each `COROUTINES_POLLER`.
@Suite(.timeLimit(.minutes(30))) struct HeldFileTests {
  @Test func `closed on one loop, what two have waited for ends at the other side`() throws {
    for round in 0..<20 {
      let sockets = try TestSockets()
      let descriptor = Adopted(sockets.here)
      let loops = (0..<2).map { SerialScheduler(name: "\($0)") }
      let waits = loops.map { launch(on: $0) { try descriptor.wait(for: .reading) } }
      descriptor.untilWaited(by: 2)
      #expect(sockets.isQuietThere())
      if round % 2 == 0 {
        try runBlocking { try launch(on: loops[0]) { descriptor.close() }.join() }
      } else {
        descriptor.close()
      }
      #expect(sockets.isEndedThere())
      let outcomes = try runBlocking { try waits.map { try $0.value() } }
      #expect(outcomes == [.closed, .closed])
      close(sockets.there)
    }
  }

  @Test func `nobody waits any more, but the loops go on to watch: closing ends it all the same`()
    throws
  {
    let sockets = try TestSockets()
    let descriptor = Adopted(sockets.here)
    let loops = (0..<2).map { SerialScheduler(name: "\($0)") }
    for loop in loops {
      let wait = launch(on: loop) { try descriptor.wait(for: .reading) }
      descriptor.untilWaited(by: 1)
      wait.cancel()
      try runBlocking { try wait.join() }
    }
    #expect(sockets.isQuietThere())
    descriptor.close()
    #expect(sockets.isEndedThere())
    close(sockets.there)
  }

  @Test func `the thread that watched is gone: closing ends it all the same`() throws {
    let sockets = try TestSockets()
    let descriptor = Adopted(sockets.here)
    let outcome = onPlainThread {
      Result { try runBlocking { try descriptor.wait(for: .reading, atMost: 1_000_000) } }
    }
    #expect(try outcome.get() == .timedOut)
    #expect(sockets.isQuietThere())
    descriptor.close()
    #expect(sockets.isEndedThere())
    close(sockets.there)
  }

  @Test func `a wait for what others may close holds it no longer than it lasts`() throws {
    for ending in ["ready", "timed out", "cancelled", "one of two"] {
      let sockets = try TestSockets()
      try runBlocking {
        switch ending {
        case "ready":
          sockets.sendHere()
          #expect(try wait(sockets.here) == .ready)
          // What was sent, and not read, would be an error at the other side.
          sockets.emptyHere()
        case "timed out":
          let deadline = clockNow() + 1_000_000
          let outcome = try DescriptorWait.wait(
            sockets.here,
            for: .reading,
            deadline: deadline,
            "test"
          )
          #expect(outcome == .timedOut)
        case "cancelled":
          let waiter = launch { try wait(sockets.here) }
          try Coroutine.yield()
          waiter.cancel()
          #expect(throws: CancellationError.self) { try waiter.value() }
        default:
          let waiters = (0..<2).map { _ in launch { try wait(sockets.here) } }
          try Coroutine.yield()
          waiters[0].cancel()
          #expect(throws: CancellationError.self) { try waiters[0].value() }
          // The other one has not been forgotten.
          sockets.sendHere()
          #expect(try waiters[1].value() == .ready)
          sockets.emptyHere()
        }
        close(sockets.here)
        #expect(sockets.isEndedThere(), "\(ending)")
      }
      close(sockets.there)
    }
  }

  @Test func `ten thousand cancelled waits leave nothing behind (rule 3)`() throws {
    let sockets = try TestSockets()
    let descriptor = Adopted(sockets.here)
    let pipe = try TestSockets()
    try runBlocking {
      for _ in 0..<10_000 {
        let waiters = [
          launch { try wait(pipe.here) }, launch { try descriptor.wait(for: .reading) },
        ]
        try Coroutine.yield()
        for waiter in waiters {
          waiter.cancel()
          #expect(throws: CancellationError.self) { try waiter.value() }
        }
      }
      // Other tests have some, too; and the one that is watched for good is among them.
      let armed = armedRequests()
      #expect(armed < 1_000)
      if cck_poller_loop_kind() == CCK_POLLER_URING { #expect(armed > 0) }
      pipe.sendHere()
      #expect(try wait(pipe.here) == .ready)
      sockets.sendHere()
      #expect(try descriptor.wait(for: .reading) == .ready)
    }
    descriptor.close()
    for number in [sockets.there, pipe.here, pipe.there] { close(number) }
  }

  /// Polls that the process's rings have armed, as the system tells.
  private func armedRequests() -> Int {
    var count = 0
    for number in 0..<1024 {
      guard let file = fopen("/proc/self/fdinfo/\(number)", "r") else { continue }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 512)
      var isInList = false
      while fgets(&line, 512, file) != nil {
        let text = line.withUnsafeBufferPointer {
          String(decoding: $0.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        if text.hasPrefix("PollList") {
          isInList = true
        } else if !text.hasPrefix(" ") {
          isInList = false
        } else if isInList {
          count += 1
        }
      }
    }
    return count
  }
}

/// Waits for a descriptor of others.
private func wait(_ descriptor: Int32) throws -> DescriptorWait.Outcome {
  try DescriptorWait.wait(descriptor, for: .reading, "test")
}
