// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesRedis
import Glibc

/// Sends numbers, and writes down each that Redis has acknowledged.
struct Producer {
  let channel: RemoteChannel<Job>
  let ledger: Ledger
  let producer: Int
  let count: Int
  let senders: Int

  init(_ options: Options) {
    channel = .shared(options)
    ledger = Ledger(options.text("--ledger"))
    producer = options.number("--producer")
    count = options.number("--count")
    senders = options.number("--senders")
  }

  func run() throws {
    try withCoroutineScope { scope in
      for sender in 0..<senders {
        scope.launch {
          for number in stride(from: sender, to: count, by: senders) {
            try channel.send(Job(producer: producer, number: number))
            ledger.note("sent \(producer) \(number)")
          }
        }
      }
    }
  }
}

/// Receives, works slowly, and writes down when it begins and when it has done.
struct Worker {
  let channel: RemoteChannel<Job>
  let ledger: Ledger
  let receivers: Int
  let time: Duration
  /// Acknowledges before the work: what at-least-once must not do, to see that the check finds it.
  let acknowledgesFirst: Bool
  /// Dies of SIGKILL with so many jobs done, the last of them not acknowledged; nil if it lives.
  let diesAfter: Int?

  init(_ options: Options) {
    channel = .shared(options)
    ledger = Ledger(options.text("--ledger"))
    receivers = options.number("--receivers")
    time = .milliseconds(options.number("--milliseconds"))
    diesAfter = Int(options.text("--dies-after", default: ""))
    acknowledgesFirst = options.text("--fault", default: "") == "acknowledge-first"
  }

  func run() throws {
    var done = 0
    try withCoroutineScope { scope in
      for _ in 0..<receivers {
        scope.launch {
          do {
            while true {
              try handle(channel.receive()) {
                done += 1
                if done == diesAfter { kill(getpid(), SIGKILL) }
              }
            }
          } catch ChannelError.closed {
            // All is done.
          }
        }
      }
    }
  }

  private func handle(_ delivery: RemoteChannel<Job>.Delivery, _ isDone: () -> Void) throws {
    let job = delivery.value
    let words = "\(job.producer) \(job.number) \(delivery.id) \(delivery.number) \(getpid())"
    if acknowledgesFirst { try delivery.acknowledge() }
    ledger.note("begun \(words)")
    try Coroutine.sleep(for: time)
    ledger.note("done \(words)")
    isDone()
    if !acknowledgesFirst { try delivery.acknowledge() }
  }
}

/// A mailbox that doubles numbers.
enum Answering {
  static func mailbox(_ options: Options) -> RemoteMailbox<Int, Int> {
    var settings = RemoteChannelOptions()
    settings.redeliverAfter = .seconds(2)
    return RemoteMailbox(options.text("--mailbox"), on: .ofEnvironment(), options: settings)
  }

  static func answer(_ options: Options) throws {
    let time = Duration.milliseconds(options.number("--milliseconds"))
    try mailbox(options).serve { number in
      try Coroutine.sleep(for: time)
      return 2 * number
    }
  }

  static func ask(_ options: Options) throws {
    let mailbox = mailbox(options)
    let count = options.number("--count")
    let checks = Checks()
    let askers = 8
    let right = try withCoroutineScope { scope in
      let askers = (0..<askers).map { asker in
        scope.launch {
          var right = 0
          for number in stride(from: asker, to: count, by: askers)
          where try mailbox.ask(number, timeout: .seconds(60)) == 2 * number {
            right += 1
          }
          return right
        }
      }
      return try askers.reduce(0) { try $0 + $1.value() }
    }
    checks.expect(right == count, "\(count) questions, each with its answer (\(right))")
    checks.finish()
  }
}
