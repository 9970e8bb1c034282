// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct ChanTests {
  @Test func `the nonblocking calls work outside coroutines (2.1-48)`() throws {
    let kept = Chan<Int>(buffCount: 1)
    #expect(kept.receive_nonblock() == nil)
    kept.send_nonblock(val: 1)
    kept.send_nonblock(val: 2)
    #expect(kept.receive_nonblock() == 1)
    #expect(kept.receive_nonblock() == nil)

    let unlimited = Chan<Int>.expandable()
    for number in 0..<100 { unlimited.send_nonblock(val: number) }
    #expect((0..<100).allSatisfy { unlimited.receive_nonblock() == $0 })

    // A blocked sender's value, and a waiting receiver.
    try inCoroutine { () throws in
      let meeting = Chan<Int>()
      let sender = co_launch_now { try meeting.send(val: 3) }
      #expect(meeting.receive_nonblock() == 3)
      sender.join()
      let receiver = co_launch_now { () throws in #expect(try meeting.receive() == 4) }
      meeting.send_nonblock(val: 4)
      receiver.join()
      #expect(receiver.lastError == nil)
    }
  }

  @Test func `nil is a value (3.4-17)`() throws {
    try inCoroutine { () throws in
      let channel = Chan<Int?>(buffCount: 4)
      for value in [1, nil, 3, nil] { try channel.send(val: value) }
      #expect(try channel.receiveWithCount(count: 2) == [1, nil])
      #expect(try channel.receiveAll() == [3, nil])
      try channel.send(val: nil)
      #expect(channel.receive_nonblock() == .some(.none))
      #expect(channel.receive_nonblock() == .none)
    }
  }

  @Test func `a cancelled coroutine does not wait at a channel (3.3-2)`() throws {
    try inCoroutine { () throws in
      let channel = Chan<Int>()
      let log = Log()
      let coroutine = co_launch_now {
        try? co_delay(60)
        for _ in 0..<2 {
          let thrown = cancellation { _ = try channel.receive(onCancel: { _ in log("hook") }) }
          #expect(thrown == .coroutineCancelled)
          #expect(cancellation { try channel.send(val: 1) } == .coroutineCancelled)
        }
        log("went on")
      }
      coroutine.cancelAndJoin()
      #expect(log.entries == ["went on"])
      #expect(channel.receive_nonblock() == nil)
    }
  }

  @Test func `cancelForCoroutine ends one coroutine's wait and no other's`() throws {
    try inCoroutine { () throws in
      let channel = Chan<Int>()
      let log = Log()
      func receiver(_ name: String) -> Coroutine {
        co_launch_now {
          do {
            log("\(name) got \(try channel.receive(onCancel: { _ in log("\(name) hook") }))")
          } catch {
            log("\(name) \(error as? COError == .coroutineCancelled), \(co_isCancelled)")
          }
        }
      }
      let (a, b, c) = (receiver("a"), receiver("b"), receiver("c"))
      channel.cancelForCoroutine(co: b)
      // Not waiting there: nothing happens.
      channel.cancelForCoroutine(co: b)
      Chan<Int>().cancelForCoroutine(co: a)
      b.join()
      try channel.send(val: 1)
      try channel.send(val: 2)
      a.join()
      c.join()
      #expect(log.entries == ["b hook", "b true, false", "a got 1", "c got 2"])
    }
  }

  @Test func `cancelling a waiter that has its value does not wake it twice (3.3-8, 3.4-4)`() throws
  {
    try inCoroutine { () throws in
      let channel = Chan<Int>()
      for _ in 0..<100 {
        let got = Cell<[Int]>([])
        let receivers = (0..<3).map { _ in
          co_launch_now {
            let value = try channel.receive()
            got.update { $0.append(value) }
          }
        }
        channel.send_nonblock(val: 1)
        // Has been handed the value, and has not run since: the value counts.
        receivers[0].cancel()
        channel.send_nonblock(val: 2)
        receivers[2].cancel()
        for receiver in receivers { receiver.join() }
        #expect(got.value == [1, 2])
      }
    }
  }

  @Test func `all of many waiters are cancelled (3.4-3)`() throws {
    try inCoroutine { () throws in
      let channel = Chan<Int>()
      let parent = co_launch_now {
        for _ in 0..<50 { co_launch_now { _ = try channel.receive() } }
        try co_delay(60)
      }
      let others = (0..<50).map { _ in co_launch_now { _ = try channel.receive() } }
      parent.cancelAndJoin()
      for number in 0..<50 { channel.send_nonblock(val: number) }
      for other in others { other.join() }
      #expect(others.allSatisfy { $0.lastError == nil })
      // Nobody waits any more: it is dropped.
      channel.send_nonblock(val: 50)
      #expect(channel.receive_nonblock() == nil)
    }
  }

  @Test func `values keep their order and are complete across threads (3.3-7)`() throws {
    let channel = Chan<Int>(buffCount: 3)
    let sums = Cell<[Int]>([])
    try inCoroutine { () throws in
      let senders = (0..<4).map { sender in
        co_launch(queue: .global()) {
          for number in 0..<250 { try channel.send(val: sender * 1000 + number) }
        }
      }
      let receivers = (0..<2).map { _ in
        co_launch(queue: DispatchQueue(label: "receiver")) {
          var last = [Int](repeating: -1, count: 4)
          for _ in 0..<500 {
            let value = try channel.receive()
            #expect(last[value / 1000] < value % 1000)
            last[value / 1000] = value % 1000
            sums.update { $0.append(value) }
          }
        }
      }
      for coroutine in senders + receivers { coroutine.join() }
    }
    let all = (0..<4).flatMap { sender in (0..<250).map { sender * 1000 + $0 } }
    #expect(sums.value.sorted() == all)
  }

  @Test func `values are released once`() throws {
    let log = Log()
    try inCoroutine { () throws in
      var channel: Chan<Probe>? = Chan(buffCount: 2)
      channel?.send_nonblock(val: Probe { log("kept") })
      channel?.send_nonblock(val: Probe { log("received") })
      _ = channel?.receive_nonblock()
      #expect(log.entries == ["kept"])
      channel = nil
      #expect(log.entries == ["kept", "received"])
      let full = Chan<Probe>()
      full.send_nonblock(val: Probe { log("dropped") })
      #expect(log.entries.last == "dropped")
    }
  }

  @Test func `a receiver on a concurrent queue meets its senders (3.3-6, 3.4-2)`() throws {
    try inCoroutine { () throws in
      let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      let channel = Chan<Int>()
      let total = Cell(0)
      var coroutines: [Coroutine] = []
      for number in 0..<200 {
        coroutines.append(co_launch(queue: queue) { try channel.send(val: number) })
        coroutines.append(
          co_launch(queue: queue) {
            let value = try channel.receive()
            total.update { $0 += value }
          }
        )
      }
      for coroutine in coroutines { coroutine.join() }
      #expect(total.value == 19900)
    }
  }
}
