// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Dispatch
import Synchronization
import Testing

@Suite struct InboxTests {
  private func withHome(_ body: (UnsafeMutablePointer<Home>) -> Void) {
    let home = UnsafeMutablePointer<Home>.allocate(capacity: 1)
    home.initialize(to: Home())
    body(home)
    home.deinitialize(count: 1)
    home.deallocate()
  }

  private final class Log {
    var entries: [Int] = []
  }

  @Test func `an empty inbox has nothing to take`() {
    withHome { home in
      #expect(home.hasPost == false)
      #expect(!home.takePosts())
    }
  }

  @Test func `jobs are done in the order of posting, and only when taken`() {
    withHome { home in
      let log = Log()
      for number in 0..<5 { #expect(home.post { log.entries.append(number) }) }
      #expect(home.hasPost == true)
      #expect(log.entries.isEmpty)
      #expect(home.takePosts())
      #expect(log.entries == [0, 1, 2, 3, 4])
      #expect(home.hasPost == false)
    }
  }

  @Test func `what a job posts is taken the next time`() {
    withHome { home in
      let log = Log()
      _ = home.post {
        log.entries.append(1)
        _ = home.post { log.entries.append(2) }
      }
      home.takePosts()
      #expect(log.entries == [1])
      home.takePosts()
      #expect(log.entries == [1, 2])
    }
  }

  @Test func `an inbox with something in it does not close`() {
    withHome { home in
      _ = home.post {}
      #expect(!home.closeInbox())
      home.takePosts()
      #expect(home.closeInbox())
    }
  }

  @Test func `a closed inbox refuses posts and frees them`() {
    final class Canary {}
    withHome { home in
      #expect(home.closeInbox())
      weak var remains: Canary?
      do {
        let canary = Canary()
        remains = canary
        #expect(!home.post { withExtendedLifetime(canary) {} })
      }
      #expect(remains == nil)
      #expect(home.hasPost == false)
      #expect(!home.takePosts())
    }
  }

  @Test func `a job's closure is freed once it is done`() {
    final class Canary {}
    withHome { home in
      weak var remains: Canary?
      do {
        let canary = Canary()
        remains = canary
        _ = home.post { withExtendedLifetime(canary) {} }
      }
      #expect(remains != nil)
      home.takePosts()
      #expect(remains == nil)
    }
  }

  @Test func `posts of four threads arrive once each, in each thread's order (3.5-s5)`() {
    final class Arrivals: @unchecked Sendable {
      // SAFETY: touched only by the thread that takes the posts.
      var last = [-1, -1, -1, -1]
      var total = 0
      var disorder = 0

      func note(_ thread: Int, _ number: Int) {
        if number != last[thread] + 1 { disorder += 1 }
        last[thread] = number
        total += 1
      }
    }
    withHome { home in
      let each = 25_000
      let arrivals = Arrivals()
      let shared = Shared(home)
      let group = DispatchGroup()
      for thread in 0..<4 {
        group.enter()
        startKernelThread(named: "poster") {
          for number in 0..<each { _ = shared.pointer.post { arrivals.note(thread, number) } }
          group.leave()
        }
      }
      while arrivals.total < 4 * each {
        if !home.takePosts() { giveWay() }
      }
      group.wait()
      #expect(arrivals.disorder == 0)
      #expect(arrivals.total == 4 * each)
      #expect(home.closeInbox())
    }
  }

  @Test func `a home comes back from the pool open, and forgets its last scheduler`() {
    let owner = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    defer { owner.deallocate() }
    let home = UnsafeMutablePointer<Home>.take(scheduler: owner, migrates: true)
    home.pointee.postFiber = { _, _ in fatalError("the last scheduler's way to post") }
    #expect(home.closeInbox())
    #expect(!home.post {})
    home.giveBack()
    // Other tests may take homes at the same time, so look until ours comes, or the pool is empty.
    var taken: [UnsafeMutablePointer<Home>] = []
    repeat {
      taken.append(.take(scheduler: owner, migrates: false))
    } while taken.last != home && taken.count < 1_000
    for other in taken {
      #expect(other.pointee.migrates == false)
      #expect(other.live == 0)
      let fiber = UnsafeMutablePointer<Fiber>.allocate(capacity: 1)
      fiber.initialize(
        to: Fiber(
          home: other,
          stackClass: 0,
          identifier: 0,
          thread: currentThread(),
          body: { _ in }
        )
      )
      other.pointee.postFiber(UnsafeMutableRawPointer(other), UnsafeMutableRawPointer(fiber))
      other.takePosts()
      #expect(other.pop() == fiber)
      fiber.deinitialize(count: 1)
      fiber.deallocate()
      other.giveBack()
    }
  }

  @Test func `the run queue is first in, first out, but for what is put in front`() {
    withHome { home in
      let fibers = (0..<4).map { _ in makeFiber(on: home) }
      home.push(fibers[0])
      home.push(fibers[1])
      home.pushFront(fibers[2])
      home.push(fibers[3])
      // A home that is not being run has no direct switches to give.
      #expect(home.popForHandOver(currentThread()) == nil)
      let order = (0..<5).map { _ in home.pop() }
      #expect(order == [fibers[2], fibers[0], fibers[1], fibers[3], nil])
      home.pushFront(fibers[1])
      home.push(fibers[0])
      #expect([home.pop(), home.pop()] == [fibers[1], fibers[0]])
      for fiber in fibers {
        fiber.deinitialize(count: 1)
        fiber.deallocate()
      }
    }
  }
}
