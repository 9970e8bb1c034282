// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesRedis
import Synchronization

extension Features {
  /// One handle, used from coroutines of several threads.
  static func threads(_ place: Place, _ checks: Checks) throws {
    let channel = place.channel {
      $0.capacity = 10
      $0.redeliverAfter = .seconds(30)
    }
    let pool = PoolScheduler(threads: 3)
    let (crowd, each) = (6, 40)
    let received = Numbers()
    let receivers = (0..<crowd).map { _ in
      launch(on: pool) {
        do {
          while true { try channel.receive { received.add($0) } }
        } catch ChannelError.closed {
          // All have been received.
        }
      }
    }
    let senders = (0..<crowd).map { sender in
      launch(on: pool) {
        for number in 0..<each { try channel.send(sender * each + number) }
      }
    }
    for sender in senders { try sender.value() }
    try channel.close()
    for receiver in receivers { try receiver.value() }
    checks.expect(
      received.sorted == Array(0..<crowd * each),
      "one handle serves coroutines of several threads, each value once"
    )
  }

  private final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])

    var sorted: [Int] { numbers.withLock { $0.sorted() } }

    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
  }

  /// Passwords, databases, and a server that forgets its scripts.
  static func server(_ place: Place, _ checks: Checks) throws {
    let plain = Plain()
    let channel = place.channel()
    try channel.send(1)
    plain.command(["SCRIPT", "FLUSH"])
    try channel.send(2)
    checks.expect(try channel.count() == 2, "a server that has forgotten a script gets it again")

    plain.command(["CONFIG", "SET", "requirepass", "secret"])
    defer { plain.command(["CONFIG", "SET", "requirepass", ""]) }
    var settings = RedisServer.Settings()
    settings.retryTime = .milliseconds(100)
    let stranger = place.channel(on: .ofEnvironment(settings))
    do {
      try stranger.send(3)
      checks.expect(false, "a stranger is refused")
    } catch let error as RedisError {
      checks.expect(
        error.kind == .refused && error.attempts == 1 && error.message.hasPrefix("NOAUTH"),
        "a stranger is refused, at once: \(error)"
      )
    }
    settings.password = "secret"
    settings.database = 1
    let elsewhere = place.channel(on: .ofEnvironment(settings))
    try elsewhere.send(4)
    checks.expect(try elsewhere.receive { $0 } == 4, "with the password, in another database")
  }
}
