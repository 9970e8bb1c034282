// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import CoswiftScenarios
import Testing
import coswift

/// "Architecture design", section "The design of coroutines".
@Suite(.timeLimit(.minutes(30))) struct DesignCoroutineTests {
  // "Four states, READY/RUNNING/SUSPEND/DEAD, RUNNING and SUSPEND many times".
  static let states = Scenario(
    "Architecture design, states",
    expected: [
      "ready: resumed true, finished false", "running 1", "suspended: finished false",
      "running 2", "suspended: finished false", "running 3", "dead: finished true",
    ]
  ) { play in
    let go = Chan<Int>()
    let coroutine = co_launch {
      for turn in 1...3 {
        play.log("running \(turn)")
        if turn < 3 { _ = try go.receive() }
      }
    }
    play.log("ready: resumed \(coroutine.resumed), finished \(coroutine.isFinished)")
    let other = co_launch {
      for turn in 1...2 {
        play.log("suspended: finished \(coroutine.isFinished)")
        try go.send(val: turn)
        try co_delay(0)
      }
      play.log("dead: finished \(coroutine.isFinished)")
    }
    play.finish(after: other)
  }

  @Test func `a coroutine is ready, runs and is suspended in turn, and is dead at its end`() {
    check(Self.states)
  }

  // `void *userdata; coroutine_func userdata_dispose;` What a body holds is its user data.
  @Test func `what belongs to a coroutine is disposed of, once, when it is dead`() throws {
    let log = Log()
    try inCoroutine {
      let coroutine = {
        let userdata = Probe { log("userdata_dispose") }
        return co_launch {
          log("runs")
          withExtendedLifetime(userdata) {}
        }
      }()
      coroutine.finishedBlock = { log("finished") }
      coroutine.join()
      log("dead")
    }
    #expect(log.entries.filter { $0 == "userdata_dispose" }.count == 1)
    #expect(log.entries.filter { $0 != "userdata_dispose" } == ["runs", "finished", "dead"])
  }

  // "The object of Objective-C is stored there": a body finds its own object.
  @Test func `a running coroutine knows its object`() throws {
    let isSame = Cell(false)
    try inCoroutine {
      let itself = Chan<Coroutine>(buffCount: 1)
      let coroutine = co_launch {
        isSame.value = try Coroutine.current() === itself.receive()
      }
      itself.send_nonblock(val: coroutine)
      coroutine.join()
    }
    #expect(isSame.value == true)
    #expect(Coroutine.current() == nil)
  }
}
