// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesBlockingCalls
import CoroutinesRedis
import Glibc

/// Claims about each operation, checked against a real server.
enum Features {
  static func check() throws {
    let checks = Checks()
    let features: [(String, (Features.Place, Checks) throws -> Void)] = [
      ("room", room), ("closing", closing), ("cancelled waits", cancelledWaits),
      ("redelivery", redelivery), ("dead letters", deadLetters), ("select", selecting),
      ("groups", groups), ("an answer that is lost", lostAnswer), ("a mailbox", mailbox),
      ("threads", threads), ("a server", server), ("a server that is not there", noServer),
      ("parking", parking),
    ]
    for (name, feature) in features {
      print(name)
      do {
        try withTimeout(.seconds(40)) { try feature(Place(name), checks) }
      } catch {
        checks.expect(false, "no error comes up: \(error)")
      }
    }
    checks.finish()
  }

  /// Where a feature is tried.
  struct Place {
    let name: String
    let server = RedisServer.ofEnvironment()

    init(_ name: String) { self.name = name }

    func channel(
      on server: RedisServer? = nil,
      _ change: (inout RemoteChannelOptions) -> Void = { _ in }
    ) -> RemoteChannel<Int> {
      var options = RemoteChannelOptions()
      options.redeliverAfter = .milliseconds(400)
      options.lookAgainAfter = .milliseconds(100)
      change(&options)
      return RemoteChannel(name, on: server ?? self.server, options: options)
    }
  }

  private static func room(_ place: Place, _ checks: Checks) throws {
    let channel = place.channel { $0.capacity = 2 }
    try channel.send(1)
    try channel.send(2)
    checks.expect(try channel.sendIfReady(3) == .full(3), "a full channel takes nothing")
    checks.expect(
      throwing(TimeoutError.self) { try withTimeout(.milliseconds(100)) { try channel.send(4) } },
      "a send waits for room, and can be cancelled"
    )
    let waiting = launch { try channel.send(5) }
    checks.expect(try channel.receive { $0 } == 1, "the first that was sent comes first")
    try waiting.value()
    checks.expect(
      try channel.count() == 2,
      "a send that waits goes on when a value is acknowledged"
    )
    let rest = try [channel.receive { $0 }, channel.receive { $0 }]
    checks.expect(rest == [2, 5], "one that was cancelled has left nothing behind")
    guard case .empty = try channel.receiveIfReady() else {
      return checks.expect(false, "an empty channel says so")
    }
  }

  private static func closing(_ place: Place, _ checks: Checks) throws {
    let (channel, other) = (place.channel(), place.channel())
    try channel.send(1)
    try channel.send(2)
    let kept = try other.receive()
    try channel.close()
    try channel.close()
    checks.expect(
      throwing(ChannelError.self) { try other.send(3) },
      "a closed channel takes nothing, in any process (rule 5)"
    )
    checks.expect(try channel.sendIfReady(3) == .closed(3), "nor if it need not wait")
    checks.expect(try channel.receive { $0 } == 2, "what is in it is still received (rule 5)")
    let again = try channel.receive()
    checks.expect(again.id == kept.id, "also what another has received and not acknowledged")
    try again.acknowledge()
    checks.expect(throwing(ChannelError.self) { try channel.receive() }, "then it is over")
    checks.expect(
      throwing(ChannelError.self) { try place.channel().receive() },
      "for newcomers, too"
    )

    try channel.remove()
    let waiting = (0..<3).map { _ in launch { try other.receive() } }
    try Coroutine.sleep(for: .milliseconds(50))
    try channel.close()
    let ends = waiting.map { coroutine in
      throwing(ChannelError.self) { try coroutine.value() }
    }
    checks.expect(ends == [true, true, true], "receivers that wait notice (rule 5)")
  }

  private static func cancelledWaits(_ place: Place, _ checks: Checks) throws {
    let channel = place.channel { $0.redeliverAfter = .seconds(60) }
    var received: [Int] = []
    let receivers = (0..<20).map { _ in
      launch { try channel.receive { received.append($0) } }
    }
    for number in 0..<20 {
      try channel.send(number)
      receivers[19 - number].cancel()
    }
    for receiver in receivers { _ = try? receiver.value() }
    checks.expect(received.count < 20, "\(20 - received.count) of 20 receivers were cancelled")
    while received.count < 20 { try channel.receive { received.append($0) } }
    checks.expect(received.sorted() == Array(0..<20), "they have swallowed nothing (rule 3)")
    checks.expect(try channel.count() == 0, "and nothing is left")
  }

  private static func redelivery(_ place: Place, _ checks: Checks) throws {
    let slow: (inout RemoteChannelOptions) -> Void = { $0.redeliverAfter = .seconds(1) }
    let (channel, other) = (place.channel(slow), place.channel(slow))
    try channel.send(1)
    let first = try channel.receive()
    let second = try other.receive()
    checks.expect(
      first.number == 1 && second.number == 2 && first.id == second.id,
      "what is not acknowledged is delivered again, and counted"
    )
    checks.expect(try second.acknowledge(), "who has it acknowledges it")
    checks.expect(try !first.acknowledge(), "who was too slow is told so")

    try channel.send(2)
    let long = try channel.receive()
    for _ in 0..<6 {
      try Coroutine.sleep(for: .milliseconds(200))
      try long.extend()
    }
    guard case .empty = try other.receiveIfReady() else {
      return checks.expect(false, "one that is extended is left alone")
    }
    checks.expect(try long.giveBack(), "one can be given back")
    let back = try other.receive()
    checks.expect(back.id == long.id && back.number == 1, "and then does not count as delivered")
    checks.expect(try !long.extend(), "it cannot be extended any more")
    try back.acknowledge()

    struct Failure: Error {}
    try channel.send(3)
    checks.expect(
      throwing(Failure.self) { try channel.receive { _ in throw Failure() } },
      "an error in the body comes out"
    )
    checks.expect(try channel.receive { $0 } == 3, "and the value comes again")
  }

  private static func deadLetters(_ place: Place, _ checks: Checks) throws {
    let channel = place.channel {
      $0.maximumDeliveries = 2
      $0.redeliverAfter = .milliseconds(100)
    }
    try RemoteChannel<String>(place.name, on: place.server).send("poison")
    try channel.send(1)
    let deliveries = try (0..<2).map { _ in try channel.receive().number }
    checks.expect(deliveries == [1, 2], "a value that nobody acknowledges is delivered twice")
    try channel.send(2)
    try Coroutine.sleep(for: .milliseconds(150))
    checks.expect(try channel.receive { $0 } == 2, "and not a third time")
    let letters = try channel.deadLetters()
    checks.expect(
      letters.map(\.json) == ["\"poison\"", "1"] && letters.map(\.deliveries) == [1, 2],
      "it is put aside, as is one that nobody understands"
    )
    for letter in letters { try channel.removeDeadLetter(letter) }
    checks.expect(try channel.deadLetters().isEmpty && channel.count() == 0, "until it is removed")
  }

  private static func selecting(_ place: Place, _ checks: Checks) throws {
    // Long enough that what comes again has been given back, and has not been waited for.
    let patient: (inout RemoteChannelOptions) -> Void = { $0.redeliverAfter = .seconds(30) }
    let channel = place.channel(patient)
    let stop = Channel<Void>(capacity: 1)
    for number in 0..<20 { try channel.send(number) }
    var received: [Int] = []
    try channel.withDeliveries(prefetch: 4) { deliveries in
      var isOver = false
      while !isOver {
        try select {
          Receive(from: deliveries) { delivery in
            received.append(delivery.value)
            try delivery.acknowledge()
            if received.count == 10 { try stop.send(()) }
          }
          Receive(from: stop) { isOver = true }
        }
      }
    }
    checks.expect(
      received.count >= 10 && received == Array(0..<received.count),
      "a select between processes and a channel of this one"
    )
    var rest: [RemoteChannel<Int>.Delivery] = []
    while received.count + rest.count < 20 { rest += try place.channel(patient).receive(upTo: 20) }
    checks.expect(
      rest.allSatisfy { $0.number == 1 },
      "what was fetched and not taken is given back, undelivered"
    )
    try channel.acknowledge(rest)
    try channel.close()
    try channel.withDeliveries { deliveries in
      for _ in deliveries { checks.expect(false, "nothing comes any more") }
    }
    checks.expect(try channel.count() == 0, "a loop over deliveries ends when the channel is done")
  }

  private static func groups(_ place: Place, _ checks: Checks) throws {
    let both = ["one", "other"].map { group in
      place.channel {
        $0.group = group
        $0.trimming = .newest(1000)
      }
    }
    let (one, other) = (both[0], both[1])
    for number in 0..<5 { try one.send(number) }
    let received = try both.map { channel in
      try (0..<5).map { _ in try channel.receive { $0 } }
    }
    checks.expect(received.allSatisfy { $0 == Array(0..<5) }, "each group gets every value")
    try one.close()
    checks.expect(throwing(ChannelError.self) { try other.receive() }, "and the end")
  }

  /// All that went before was done on one thread, by hiredis' blocking calls.
  private static func parking(_ place: Place, _ checks: Checks) throws {
    checks.expect(
      BlockingCalls.coverage(of: "libhiredis")?.isCovered ?? false,
      "the calls of hiredis that would block can be parked"
    )
    let reads = BlockingCalls.report().filter { $0.call == "read" || $0.call == "recv" }
    checks.expect(reads.contains { $0.parked > 0 }, "and were")
    checks.expect(!BlockingCalls.isEnabled, "without a change for the rest of the process")
  }

  private static func noServer(_ place: Place, _ checks: Checks) throws {
    var settings = RedisServer.Settings()
    settings.retryTime = .milliseconds(100)
    // Nobody listens there: the port belongs to a system service that is not for users.
    let channel = place.channel(on: RedisServer(host: "127.0.0.1", port: 1, settings: settings))
    do {
      try channel.send(1)
      checks.expect(false, "a send to nobody fails")
    } catch let error as RedisError {
      checks.expect(
        error.kind == .unreachable && error.attempts > 1 && !error.isOutcomeUnknown,
        "a send to nobody fails, in time: \(error)"
      )
    }
  }

  /// Whether `body` throws an error of a type.
  static func throwing<Failure: Error>(_ type: Failure.Type, _ body: () throws -> some Any) -> Bool
  {
    do {
      _ = try body()
      return false
    } catch {
      return error is Failure
    }
  }
}
