// SPDX-License-Identifier: Apache-2.0

import Coroutines
import ExampleSupport

/// BLPOP, which waits in the server until there is something to take.
enum Waiting {
  /// Many coroutines wait in BLPOP at once; each value reaches exactly one of them.
  static func consume(_ count: Int, from address: Address, _ checks: Checks) throws {
    let watch = LoopWatch()
    var received: [Int] = []
    try withTimeout(.seconds(30)) {
      try withCoroutineScope { scope in
        for _ in 0..<count {
          scope.launch {
            let reply = try Connection(address).command("BLPOP", "queue", "0")
            guard case .list(let parts) = reply, case .text(let value)? = parts.last else {
              throw RedisError(description: "BLPOP answered \(reply)")
            }
            received.append(Int(value) ?? -1)
          }
        }
        let producer = try Connection(address)
        try watch.run {
          try waitForBlocked(count, producer)
          checks.expect(received.isEmpty, "\(count) coroutines wait in BLPOP, and others run")
          // Nothing is there yet; the loop has time for others.
          try Coroutine.sleep(for: .milliseconds(100))
        }
        for value in 0..<count { try producer.command("RPUSH", "queue", String(value)) }
      }
    }
    watch.check(checks)
    checks.expect(
      received.sorted() == Array(0..<count),
      "each of \(count) values reached one coroutine"
    )
  }

  /// A BLPOP that is cancelled takes nothing.
  static func cancel(_ address: Address, _ checks: Checks) throws {
    let pool = Pool(size: 1, open: { try Connection(address) }, isUsable: \.isUsable)
    let observer = try Connection(address)
    let start = ContinuousClock.now
    do {
      try withTimeout(.milliseconds(200)) {
        _ = try pool.withConnection { try $0.command("BLPOP", "queue", "0") }
      }
      checks.expect(false, "withTimeout(200 ms) ends a BLPOP")
    } catch is TimeoutError {
      let took = ContinuousClock.now - start
      checks.expect(took < .seconds(5), "withTimeout(200 ms) ended BLPOP after \(seconds(took)) s")
    }
    try withTimeout(.seconds(5)) { try waitForBlocked(0, observer) }
    try observer.command("RPUSH", "queue", "42")
    checks.expect(
      try pool.withConnection { try $0.command("BLPOP", "queue", "1") }
        == .list([.text("queue"), .text("42")]),
      "the pool had replaced the connection, and the next value was not swallowed"
    )
  }

  /// Waits until so many clients are blocked in the server.
  private static func waitForBlocked(_ count: Int, _ observer: Connection) throws {
    while true {
      guard case .text(let info) = try observer.command("INFO", "clients") else { continue }
      if info.split(whereSeparator: \.isNewline).contains("blocked_clients:\(count)") { return }
      try Coroutine.sleep(for: .milliseconds(5))
    }
  }
}
