// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Dispatch
import Testing
import coswift

/// "Coroutines of iOS", section "What co_launch does".
@Suite(.timeLimit(.minutes(30))) struct IOSLaunchSourceTests {
  // co_launch: "create a coroutine, then resume it asynchronously on the current queue"
  static let launch = Scenario(
    "Coroutines of iOS, what co_launch does",
    expected: ["caller", "1"]
  ) { play in
    let coroutine = co_launch {
      dispatchPrecondition(condition: .onQueue(play.queue))
      play.log("1")
    }
    play.log("caller")
    play.finish(after: coroutine)
  }

  @Test func `a launch makes a coroutine, which begins later on the same queue`() {
    check(Self.launch)
  }

  // resume: `if (self.isResume) return;`
  static let twice = Scenario(
    "Coroutines of iOS, resume",
    expected: ["made", "body"]
  ) { play in
    let coroutine = COCoroutine(block: { play.log("body") })
    play.log("made")
    coroutine.resume().resume()
    play.finish(after: coroutine)
  }

  @Test func `a coroutine that is resumed twice runs once`() {
    check(Self.twice)
  }

  // initWithBlock:onQueue:stackSize:. coobjc ignored sizes of a mebibyte and more; here any size holds (C8).
  @Test(arguments: [20_000, 1 << 20, 4 << 20] as [UInt32])
  func `a coroutine gets the stack that it asks for`(_ size: UInt32) throws {
    func dig(_ depth: Int) -> Int {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
        room[0] = UInt8(truncatingIfNeeded: depth)
        return depth == 0 ? Int(room[0]) : 1 + dig(depth - 1)
      }
    }
    let end = DispatchSemaphore(value: 0)
    let depth = Cell(0)
    // A quarter of the stack, by the rooms alone: frames of a debug build, and more so those of a sanitizer,
    // are larger.
    let aim = Int(size) / 1024 / 8
    co_launch(queue: DispatchQueue(label: "deep"), stackSize: size) {
      depth.value = dig(aim)
      end.signal()
    }
    try #require(end.wait(timeout: .now() + 300) == .success)
    #expect(depth.value == aim)
  }

  // resume: `if (isSubroutine) { self.parent = currentCo; [currentCo addChild:self]; }`. What it was for never
  // worked in coobjc; here it does (C7).
  static let children = Scenario(
    "Coroutines of iOS, children",
    expected: ["parent waits", "child waits", "child threw coroutineCancelled"]
  ) { play in
    let children = Chan<Coroutine>(buffCount: 1)
    let parent = co_launch {
      let child = co_launch {
        play.log("child waits")
        do {
          try co_delay(60)
        } catch {
          play.log("child threw \(error)")
          throw error
        }
      }
      children.send_nonblock(val: child)
      play.log("parent waits")
      try co_delay(60)
    }
    co_launch {
      let child = try children.receive()
      try co_delay(0)
      parent.cancel()
      play.finish(after: parent, child)
    }
  }

  @Test func `what a coroutine launches is its child, and cancelled with it`() {
    check(Self.children)
  }
}
