// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Synchronization
import Testing

@testable import Coroutines

/// Objects of ended coroutines serve again; nobody who can look may notice.
@Suite(.timeLimit(.minutes(30))) struct SpareCoroutinesTests {
  /// Under a sanitizer every object ends.
  private static let objectsServeAgain = cck_is_instrumented() == 0

  /// Runs `body` on a thread that keeps no objects yet.
  private func onFreshThread(_ body: @escaping @Sendable () throws -> Void) throws {
    try runBlocking { try launch(on: SerialScheduler(name: "fresh"), body).value() }
  }

  @Test(.enabled(if: objectsServeAgain))
  func `an ended coroutine's object serves the next launch`() throws {
    try onFreshThread {
      // The first launch of the thread has none to use; the limit of what is kept is far away.
      try launch {}.join()
      let first = ObjectIdentifier(launch {})
      try Coroutine.yield()
      let second = ObjectIdentifier(launch {})
      try Coroutine.yield()
      #expect(first == second)
    }
  }

  @Test(.enabled(if: objectsServeAgain))
  func `so does one whose handle was in use when it ended`() throws {
    try onFreshThread {
      func identifier() throws -> ObjectIdentifier {
        // It ends while only the variable and the loop hold it; a call of `value()` may hold it, too.
        let coroutine = launch { 7 }
        try Coroutine.yield()
        #expect(coroutine.isFinished)
        return ObjectIdentifier(coroutine)
      }
      let first = try identifier()
      // The thread's first.
      let recent = cck_thread_current().pointee.recent_objects.0
      #expect(recent == UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: first)))
      let second = try identifier()
      #expect(first == second)
    }
  }

  @Test(.enabled(if: objectsServeAgain))
  func `the memory of those whose handles go after their ends serves the next launches`() throws {
    try onFreshThread {
      // More than the thread looks at again.
      func identifiers() throws -> [ObjectIdentifier] {
        let coroutines = (0..<100).map { number in launch { number } }
        for (number, coroutine) in coroutines.enumerated() {
          try #expect(coroutine.value() == number)
        }
        return coroutines.map { ObjectIdentifier($0) }
      }
      let first = try identifiers()
      let kept = cck_thread_current().pointee.coroutine_memory.count
      #expect(kept >= 60)
      let second = try identifiers()
      #expect(Set(second).isSubset(of: first))
      // Of whatever type the next one is.
      let other = launch { "another type" }
      #expect(first.contains(ObjectIdentifier(other)))
      try #expect(other.value() == "another type")
    }
  }

  @Test func `but not the memory of one that is referred to still`() throws {
    final class Keeper {
      unowned let coroutine: Coroutine
      init(_ coroutine: Coroutine) { self.coroutine = coroutine }
    }
    try onFreshThread {
      var keepers: [Keeper] = []
      var weakOnes: [() -> Coroutine?] = []
      var places: Set<ObjectIdentifier> = []
      do {
        let coroutines = (0..<50).map { number in launch { number } }
        for coroutine in coroutines {
          keepers.append(Keeper(coroutine))
          weakOnes.append { [weak coroutine] in coroutine }
          places.insert(ObjectIdentifier(coroutine))
        }
        for coroutine in coroutines { _ = try coroutine.value() }
        #expect(weakOnes.allSatisfy { $0() != nil })
        withExtendedLifetime(coroutines) {}
      }
      try launch {}.join()
      #expect(weakOnes.allSatisfy { $0() == nil })
      let next = (0..<100).map { number in launch { number } }
      #expect(next.allSatisfy { !places.contains(ObjectIdentifier($0)) })
      try Coroutine.yield()
      withExtendedLifetime(keepers) {}
    }
  }

  @Test(.enabled(if: objectsServeAgain))
  func `those that ended in a crowd on one thread serve another`() throws {
    // A class that no other test's coroutines are of.
    struct Result: Sendable {}
    final class Ended: Sendable {
      let identifiers = Mutex<Set<ObjectIdentifier>>([])
    }
    let ended = Ended()
    // Its thread keeps what it keeps until the end of the test: no new object can lie there.
    let first = SerialScheduler(name: "first")
    try runBlocking {
      try launch(on: first) {
        // More than a thread keeps.
        for _ in 0..<1200 {
          let identifier = ObjectIdentifier(launch { Result() })
          ended.identifiers.withLock { _ = $0.insert(identifier) }
        }
        try Coroutine.yield()
      }.value()
    }
    try onFreshThread {
      for _ in 0..<100 {
        let identifier = ObjectIdentifier(launch { Result() })
        #expect(ended.identifiers.withLock { $0.contains(identifier) })
      }
      try Coroutine.yield()
    }
    withExtendedLifetime(first) {}
  }

  @Test func `it is a new coroutine in every respect`() throws {
    try runBlocking {
      let id: UInt64
      do {
        let old = launch(name: "old") { try Coroutine.sleep(for: .seconds(60)) }
        try Coroutine.yield()
        try old.cancelAndJoin()
        id = old.id
      }
      let new = launch {}
      #expect(new.id != id)
      #expect(new.name == nil)
      #expect(new.state == .ready)
      #expect(!new.isCancelled)
      #expect(new.error == nil)
      try new.join()
      #expect(new.error == nil)
    }
  }

  @Test func `a handle that is kept stays what it was`() throws {
    try runBlocking {
      var kept: [ValueCoroutine<Int>] = []
      for number in 0..<2000 {
        let coroutine = launch { number }
        if number % 3 == 0 { kept.append(coroutine) }
        if number % 7 == 0 { try Coroutine.yield() }
      }
      try Coroutine.yield()
      for (index, coroutine) in kept.enumerated() {
        let value = try coroutine.value()
        #expect(value == index * 3)
      }
    }
  }

  @Test func `a weak reference goes when the coroutine does`() throws {
    try runBlocking {
      weak var ended: Coroutine?
      ended = launch {}
      try Coroutine.yield()
      #expect(ended == nil)
      weak var used: ValueCoroutine<Int>?
      do {
        let coroutine = launch { 1 }
        used = coroutine
        let value = try coroutine.value()
        #expect(value == 1)
      }
      #expect(used == nil)
    }
  }

  @Test func `a value goes with the handle`() throws {
    final class Token {}
    try runBlocking {
      weak var value: Token?
      do {
        let coroutine = launch { Token() }
        value = try coroutine.value()
        #expect(value != nil)
      }
      #expect(value == nil)
      weak var captured: Token?
      do {
        let token = Token()
        captured = token
        launch { withExtendedLifetime(token) {} }
      }
      try Coroutine.yield()
      #expect(captured == nil)
    }
  }

  @Test func `what a value's end launches is not disturbed`() throws {
    final class Launcher {
      let ended: Channel<Int>
      init(_ ended: Channel<Int>) { self.ended = ended }
      deinit { launch { [ended] in ended.sendIfReady(1) } }
    }
    try runBlocking {
      let ended = Channel<Int>(capacity: .unbounded)
      for _ in 0..<100 { launch { Launcher(ended) } }
      let received = try ended.receive(count: 100)
      #expect(received.count == 100)
    }
  }

  @Test func `handles dropped on other threads are no obstacle`() async throws {
    let scheduler = SerialScheduler(name: "launches")
    let handles = Channel<Coroutine>(capacity: 16)
    let ended = Mutex(0)
    launch(on: scheduler) {
      for _ in 0..<20_000 {
        try handles.send(launch { ended.withLock { $0 += 1 } })
      }
      handles.close()
    }
    await withCheckedContinuation { continuation in
      OffloadPool.shared.run {
        try? runBlocking { for handle in handles { try handle.join() } }
        continuation.resume()
      }
    }
    #expect(ended.withLock { $0 } == 20_000)
  }
}
