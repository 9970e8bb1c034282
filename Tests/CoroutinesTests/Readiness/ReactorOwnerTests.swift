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

/// Loops whose home, and reactor, other threads had before; and numbers that meant something else before.
///
/// Worth running with each `COROUTINES_POLLER`.
@Suite(.timeLimit(.minutes(30))) struct ReactorOwnerTests {
  @Test func `a thread that takes over a home hears of what another one watched there`() throws {
    let sockets = try TestSockets()
    let descriptor = Adopted(sockets.here)
    var homes: Set<UInt> = []
    var takenOver = 0
    // Others may take the home meanwhile, so it may take a few.
    while takenOver < 20, homes.count < 1_000 {
      let result = onPlainThread {
        Result {
          try runBlocking {
            let home = UInt(bitPattern: currentThread().currentHome)
            let seen = descriptor.entry.edges(.reading)
            // Watched, and nothing there.
            let first = launch { try descriptor.wait(for: .reading, since: seen) }
            try Coroutine.yield()
            sockets.sendHere()
            #expect(try first.value() == .ready)
            sockets.emptyHere()
            return home
          }
        }
      }
      let home = try result.get()
      if !homes.insert(home).inserted { takenOver += 1 }
    }
    #expect(takenOver == 20)
    descriptor.close()
    #expect(sockets.isEndedThere())
    close(sockets.there)
  }

  @Test func `what was watched by a thread that is gone is reported, to whoever comes then`() throws
  {
    let sockets = try TestSockets()
    let descriptor = Adopted(sockets.here)
    let reactor = try Reactor.make(forLoop: true)
    let edges = descriptor.entry.edges(.reading)
    let isWatched = onPlainThread {
      cck_poller_begin(reactor.poller)
      return (try? reactor.watch(descriptor.number, .reading, generation: descriptor.generation))
        != nil
    }
    #expect(isWatched)
    sockets.sendHere()
    // Not watched anew.
    while descriptor.entry.edges(.reading) == edges { reactor.poll(atMost: 300_000_000_000) }
    sockets.emptyHere()
    // Watched anew, if that is needed.
    let seen = descriptor.entry.edges(.reading)
    cck_poller_begin(reactor.poller)
    try reactor.watch(descriptor.number, .reading, generation: descriptor.generation)
    sockets.sendHere()
    while descriptor.entry.edges(.reading) == seen { reactor.poll(atMost: 300_000_000_000) }
    sockets.emptyHere()
    descriptor.close()
    #expect(sockets.isEndedThere())
    close(sockets.there)
  }

  @Test func `a late-comer with a number's old meaning does not disturb who waits for the new one`()
    throws
  {
    let (old, new) = (try TestSockets(), try TestSockets())
    try runBlocking {
      let stale = Adopted(old.here)
      DescriptorTable.retire(stale.number)
      #expect(dup2(new.here, old.here) == old.here)
      let present = Adopted(old.here)
      let waiter = launch { try present.wait(for: .reading, atMost: 300_000_000_000) }
      try Coroutine.yield()
      #expect(try stale.wait(for: .reading) == .closed)
      new.sendHere()
      #expect(try waiter.value() == .ready)
      present.close()
    }
    for number in [old.there, new.here, new.there] { close(number) }
  }

  @Test func `a poller that is rung while nobody waits wakes the next wait`() throws {
    for isLoop in [true, false] {
      let reactor = try Reactor.make(forLoop: isLoop)
      for _ in 0..<10 {
        onPlainThread { cck_poller_ring(reactor.poller) }
        // Without the ring this would not end.
        reactor.poll(atMost: -1)
      }
    }
  }

  @Test func `more that become ready at once than a ring keeps are all reported`() throws {
    let reactor = try Reactor.make(forLoop: true)
    cck_poller_begin(reactor.poller)
    let sockets = try TestSockets()
    let descriptor = Adopted(sockets.here)
    let others = try (0..<8).map { _ in try TestSockets() }
    let adopted = others.map { Adopted($0.here) }
    for one in adopted + [descriptor] {
      try reactor.watch(one.number, .reading, generation: one.generation)
    }
    // Nobody waits, so the ring fills.
    for _ in 0..<3_000 {
      for one in others {
        one.emptyHere()
        one.sendHere()
      }
    }
    sockets.sendHere()
    var left = Set(adopted.map(\.number) + [descriptor.number])
    let edges = Dictionary(
      uniqueKeysWithValues: (adopted + [descriptor]).map { ($0.number, $0.entry) }
    )
    let before = edges.mapValues { $0.edges(.reading) }
    while !left.isEmpty {
      reactor.poll(atMost: 300_000_000_000)
      left = left.filter { edges[$0]?.edges(.reading) == before[$0] }
    }
    // And go on to be.
    for (one, sockets) in zip(adopted, others) {
      sockets.emptyHere()
      while true {
        let seen = one.entry.edges(.reading)
        reactor.poll(atMost: 0)
        if one.entry.edges(.reading) == seen { break }
      }
      let seen = one.entry.edges(.reading)
      try reactor.watch(one.number, .reading, generation: one.generation)
      sockets.sendHere()
      while one.entry.edges(.reading) == seen { reactor.poll(atMost: 300_000_000_000) }
    }
    for one in adopted + [descriptor] { one.close() }
    for one in others + [sockets] { close(one.there) }
  }
}
