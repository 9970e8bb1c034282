// SPDX-License-Identifier: Apache-2.0

import CBlockingCode
import CoroutineTestSupport
import Coroutines
import CoroutinesBlockingCalls
import Glibc
import Testing

/// The three ways to wait for one of two descriptors.
enum Several: String, CaseIterable, Sendable {
  case poll, select, epoll

  func wait(_ one: Int32, _ two: Int32, _ milliseconds: Int32) -> Int32 {
    switch self {
    case .poll: cbl_poll_two(one, two, milliseconds)
    case .select: cbl_select_two(one, two, milliseconds)
    case .epoll: cbl_epoll_two(one, two, milliseconds)
    }
  }
}

extension BlockingCallsTests {
  @Suite struct SeveralTests {
    @Test(arguments: Several.allCases)
    func `one of two descriptors ends the wait`(_ call: Several) throws {
      let (one, two) = (Pair.sockets(), Pair.pipe())
      try parking { () throws -> Void in
        for (writer, expected) in [(two.second, Int32(2)), (one.second, 3)] {
          let waiter = launch { call.wait(one.first, two.first, -1) }
          if expected == 2 {
            try Coroutine.yield()
            #expect(!waiter.isFinished)
          }
          writeText(writer, "x")
          #expect(try waiter.value() == expected)
        }
      }
      one.close()
      two.close()
    }

    @Test(arguments: Several.allCases)
    func `the time ends the wait, and others run meanwhile`(_ call: Several) throws {
      let (one, two) = (Pair.sockets(), Pair.sockets())
      try parking { () throws -> Void in
        let log = Log()
        let other = launch { log("other") }
        let elapsed = ContinuousClock().measure { #expect(call.wait(one.first, two.first, 5) == 0) }
        #expect(elapsed >= .milliseconds(5))
        #expect(log.entries == ["other"])
        try other.join()
      }
      one.close()
      two.close()
    }

    @Test(arguments: Several.allCases)
    func `without time it is asked at once`(_ call: Several) throws {
      let (one, two) = (Pair.sockets(), Pair.sockets())
      try parking { () throws -> Void in
        let other = launch {}
        #expect(call.wait(one.first, two.first, 0) == 0)
        writeText(one.second, "x")
        #expect(call.wait(one.first, two.first, 0) == 1)
        #expect(other.state == .ready)
        try other.join()
      }
      one.close()
      two.close()
    }

    @Test(arguments: Several.allCases)
    func `cancelling ends the wait with ECANCELED`(_ call: Several) throws {
      let (one, two) = (Pair.sockets(), Pair.sockets())
      try parking { () throws -> Void in
        let waiter = launch { call.wait(one.first, two.first, -1) }
        try Coroutine.yield()
        waiter.cancel()
        #expect(try waiter.value() == -ECANCELED)
      }
      one.close()
      two.close()
    }

    @Test func `one that is closed by another coroutine ends poll and select`() throws {
      for call in [Several.poll, .select] {
        let (one, two) = (Pair.sockets(), Pair.sockets())
        try parking { () throws -> Void in
          let waiter = launch { call.wait(one.first, two.first, -1) }
          try Coroutine.yield()
          _ = cbl_close(two.first)
          // poll says POLLNVAL for it, select knows only errors.
          #expect(try waiter.value() == (call == .poll ? 2 : -EBADF))
        }
        one.close()
        _ = cbl_close(two.second)
      }
    }

    @Test func `poll of one descriptor both ways tells what it is ready for`() throws {
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        #expect(cbl_poll_both_ways(pair.first, -1) == POLLOUT)
        writeText(pair.second, "x")
        #expect(cbl_poll_both_ways(pair.first, -1) == POLLIN | POLLOUT)
      }
      pair.close()
    }

    @Test func `poll of a single descriptor parks until it is ready`() throws {
      let pair = Pair.pipe()
      try parking { () throws -> Void in
        let waiter = launch { cbl_poll_two(pair.first, -1, -1) }
        try Coroutine.yield()
        #expect(!waiter.isFinished)
        writeText(pair.second, "x")
        #expect(try waiter.value() == 1)
      }
      pair.close()
    }

    @Test func `two coroutines may wait for one descriptor`() throws {
      let pair = Pair.sockets()
      try parking { () throws -> Void in
        let waiters = (0..<2).map { _ in launch { cbl_poll_two(pair.first, -1, -1) } }
        try Coroutine.yield()
        writeText(pair.second, "x")
        for waiter in waiters { #expect(try waiter.value() == 1) }
      }
      pair.close()
    }
  }
}
