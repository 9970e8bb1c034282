// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import CoroutinesTesting
import Testing

#if COROUTINES_CHECKED

/// Posts to a loop that naps, by a thread that does not wake it.
@Suite(.timeLimit(.minutes(30))) struct NapRaceTests {
  private final class Shared {
    /// Nothing asks for the home's scheduler.
    let home: UnsafeMutablePointer<Home>
    /// When the loop has taken what was posted, in nanoseconds.
    var takenAt: Int64?

    init() throws {
      let nobody = try #require(UnsafeMutableRawPointer(bitPattern: 8))
      home = .take(scheduler: nobody, migrates: false)
    }

    deinit { home.giveBack() }

    /// Naps once, and then sleeps for ever, until it has what was posted.
    func runLoop(nap: Int64) {
      var hasNapped = false
      while true {
        home.takePosts()
        if takenAt != nil { return }
        home.announceSleep()
        if home.hasPost {
          home.pointee.parker.retract()
        } else if hasNapped {
          home.sleep(atMost: -1)
        } else {
          hasNapped = true
          home.nap(atMost: nap)
        }
      }
    }

    /// At any moment from a given time on.
    func post(after time: Int64) {
      let parker = UnsafeMutablePointer<Parker>.allocate(capacity: 1)
      defer { parker.deallocate() }
      cck_parker_initialize(parker)
      parker.announce()
      parker.sleep(atMost: time)
      _ = home.post { self.takenAt = clockNow() }
      currentThread().withPatience { home.wakeForPost() }
    }
  }

  @Test(arguments: [0, 1_000])
  func `what is posted is found at a nap's end, though nobody wakes the loop`(time: Int64) throws {
    let report = try Race { try Shared() }
      .thread { $0.runLoop(nap: 1_000) }
      .thread { $0.post(after: time) }
      .explore(.exhaustive(delays: 4), runs: 2_000) { shared in
        try #require(shared.takenAt != nil)
      }
    #expect(report.isComplete && report.runs > 1)
  }

  @Test func `who has nothing else to do wakes the loop that it has let nap`() throws {
    let hour: Int64 = 3_600_000_000_000
    try Race { try Shared() }
      .thread { $0.runLoop(nap: hour) }
      .thread { shared in
        shared.post(after: 0)
        currentThread().wakeOwed()
      }
      .explore(.exhaustive(delays: 4), runs: 2_000) { shared in
        let takenAt = try #require(shared.takenAt)
        try #require(takenAt < hour)
      }
  }
}

#endif
