// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import CoroutinesFoundation
import Foundation
import Testing

/// Lives as long as the channel that a notification with it is kept in.
///
/// The center's observer holds the channel, so the channel goes when the observer has been removed.
private final class Canary: Sendable {}

@Suite(.timeLimit(.minutes(30))) struct NotificationTests {
  private let name = Notification.Name("test")
  private let center = NotificationCenter()

  @Test(arguments: Place.allCases)
  func `notifications come in order, wherever they are posted`(_ place: Place) throws {
    let (center, name) = (center, name)
    let numbers = try place.run { () throws -> [Int] in
      let notifications = center.co.notifications(named: name)
      let posted = launch(on: SerialScheduler()) {
        for number in 1...3 { center.post(name: name, object: nil, userInfo: ["n": number]) }
      }
      let numbers = try (1...3).map { _ in try notifications.receive().userInfo?["n"] as? Int }
      try posted.value()
      return numbers.compactMap { $0 }
    }
    #expect(numbers == [1, 2, 3])
  }

  @Test func `others' notifications do not come`() throws {
    final class Sender {}
    let (mine, other) = (Sender(), Sender())
    let notifications = center.co.notifications(named: name, object: mine)
    center.post(name: name, object: other)
    center.post(name: Notification.Name("another"), object: mine)
    #expect(notifications.receiveIfReady().value == nil)
    center.post(name: name, object: mine)
    #expect(notifications.receiveIfReady().value?.object as? Sender === mine)
  }

  @Test func `who posts goes on before who receives`() throws {
    let log = Log()
    try runBlocking {
      let notifications = center.co.notifications(named: name)
      let receiver = launch {
        _ = try notifications.receive()
        log("received")
      }
      try Coroutine.yield()
      center.post(name: name, object: nil)
      log("posted")
      try receiver.value()
    }
    #expect(log.entries == ["posted", "received"])
  }

  @Test(arguments: [
    (ChannelCapacity.droppingOldest(2), [4, 5]), (.droppingNewest(2), [1, 2]),
    (.bounded(2), [1, 2]), (.unbounded, [1, 2, 3, 4, 5]), (.rendezvous, []),
  ])
  func `what does not fit is dropped as the capacity says`(
    _ capacity: ChannelCapacity,
    _ expected: [Int]
  ) {
    let notifications = center.co.notifications(named: name, capacity: capacity)
    for number in 1...5 { center.post(name: name, object: nil, userInfo: ["n": number]) }
    var numbers: [Int] = []
    while let number = notifications.receiveIfReady().value?.userInfo?["n"] as? Int {
      numbers.append(number)
    }
    #expect(numbers == expected)
  }

  @Test func `nothing comes after closing; what is kept can be received (rule 5)`() throws {
    try runBlocking {
      let notifications = center.co.notifications(named: name)
      center.post(name: name, object: nil)
      notifications.close()
      notifications.close()
      center.post(name: name, object: nil)
      #expect(Array(notifications).count == 1)
    }
  }

  @Test func `dropping removes the observer`() {
    weak var canary: Canary?
    do {
      let notifications = center.co.notifications(named: name)
      canary = postCanary()
      #expect(canary != nil)
      withExtendedLifetime(notifications) {}
    }
    #expect(canary == nil)
  }

  @Test func `leaving a loop removes the observer`() throws {
    try runBlocking {
      let (center, name) = (center, name)
      let receiver = launch {
        var count = 0
        for _ in center.co.notifications(named: name) {
          count += 1
          if count == 2 { break }
        }
        return count
      }
      try Coroutine.yield()
      for _ in 1...2 { center.post(name: name, object: nil) }
      weak let canary = postCanary()
      #expect(canary != nil)
      #expect(try receiver.value() == 2)
      #expect(canary == nil)
    }
  }

  @Test func `cancelling a receiver removes the observer with its stream (rule 2, 3.5-c9)`() throws
  {
    try runBlocking {
      let (center, name) = (center, name)
      let receiver = launch {
        for _ in center.co.notifications(named: name) {}
        try Coroutine.checkCancellation()
      }
      try Coroutine.yield()
      receiver.cancel()
      // Too late for the receiver, but the observer is still there.
      weak let canary = postCanary()
      #expect(throws: CancellationError.self) { try receiver.value() }
      #expect(canary == nil)
    }
  }

  @Test func `closing ends a loop that waits`() throws {
    try runBlocking {
      let notifications = center.co.notifications(named: name)
      let receiver = launch { notifications.reduce(0) { count, _ in count + 1 } }
      try Coroutine.yield()
      notifications.close()
      #expect(try receiver.value() == 0)
    }
  }

  @Test func `the stream stands in a select`() throws {
    try runBlocking {
      let notifications = center.co.notifications(named: name)
      let early = try select {
        Receive(from: notifications.receiveEnd) { _ in true }
        Default { false }
      }
      #expect(!early)
      center.post(name: name, object: nil)
      let late = try select {
        Receive(from: notifications.receiveEnd) { _ in true }
        Default { false }
      }
      #expect(late)
    }
  }

  private func postCanary() -> Canary? {
    let canary = Canary()
    center.post(name: name, object: nil, userInfo: ["canary": canary])
    return canary
  }
}
