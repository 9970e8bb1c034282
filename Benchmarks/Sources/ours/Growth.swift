// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What an operation costs among so many of its kind.
let growth = Shape.growth.flatMap { size in
  [
    Row("growth-yield-\(size)", operations: max(1_000_000, 10 * size)) {
      try crowd(min(size, $0), $0)
    },
    Row("growth-timeout-\(size)", operations: max(size, 200_000)) {
      try timeouts($0, among: min(size, $0))
    },
    rounds("cancel", size, cancelledSleeps),
    rounds("fire", size, firedTimers), rounds("withdraw", size, withdrawals),
    rounds("close", size, wakeUpsByClose), rounds("scope", size, children),
    rounds("join", size, joiners),
  ]
}

/// Operations with up to `size` at once, round after round; an operation is one of them.
private func rounds(
  _ name: String,
  _ size: Int,
  _ round: @escaping @Sendable (Int) throws -> Elapsed
) -> Row {
  Row("growth-\(name)-\(size)", operations: max(size, 200_000)) { count in
    try runBlocking {
      var outcome = Outcome(count)
      var elapsed = Elapsed.zero
      var left = count
      while left > 0 {
        let now = min(size, left)
        elapsed = elapsed + (try round(now))
        left -= now
      }
      outcome.elapsed = elapsed
      return outcome
    }
  }
}

extension Xorshift {
  /// The numbers below a limit, in an order that looks random.
  fileprivate mutating func shuffled(_ count: Int) -> [Int] {
    var numbers = Array(0..<count)
    for place in stride(from: count - 1, to: 0, by: -1) {
      numbers.swapAt(place, Int(next() % UInt64(place + 1)))
    }
    return numbers
  }

  /// Between one hour and two.
  fileprivate mutating func hours() -> Duration {
    .microseconds(3_600_000_000 + Int(next() % 3_600_000_000))
  }
}

/// So many coroutines that have begun, and count themselves when they end.
private func crew(_ size: Int, _ ended: Ended, _ body: @escaping () throws -> Void) throws
  -> [ValueCoroutine<Void>]
{
  let crew = (0..<size).map { _ in
    launch(stackSize: .small) {
      defer { ended.count += 1 }
      try body()
    }
  }
  try Coroutine.yield()
  return crew
}

private final class Ended {
  var count = 0

  func reach(_ size: Int) throws {
    while count < size { try Coroutine.yield() }
  }
}

/// Limits that are set and lifted while so many coroutines sleep.
private func timeouts(_ count: Int, among size: Int) throws -> Outcome {
  try runBlocking {
    var random = Xorshift()
    let ended = Ended()
    let sleepers = try crew(size, ended) { try Coroutine.sleep(for: random.hours()) }
    var outcome = Outcome(count)
    let stopwatch = Stopwatch()
    for _ in 0..<count { try withTimeout(random.hours()) {} }
    outcome.elapsed = stopwatch.elapsed
    for sleeper in sleepers { sleeper.cancel() }
    try ended.reach(size)
    return outcome
  }
}

/// So many sleepers are cancelled in any order, until all have ended.
private func cancelledSleeps(_ size: Int) throws -> Elapsed {
  var random = Xorshift()
  let order = random.shuffled(size)
  let ended = Ended()
  let sleepers = try crew(size, ended) { try Coroutine.sleep(for: random.hours()) }
  let stopwatch = Stopwatch()
  for number in order { sleepers[number].cancel() }
  try ended.reach(size)
  return stopwatch.elapsed
}

/// So many sleepers are all due, in any order: until all have ended.
private func firedTimers(_ size: Int) throws -> Elapsed {
  var random = Xorshift()
  let ended = Ended()
  let gate = Channel<Void>()
  let making = Stopwatch()
  // Long enough for all to fall asleep before the first is due: longer than making them takes.
  var rest = 0
  _ = try crew(size, ended) {
    for _ in gate {}
    try Coroutine.sleep(for: .nanoseconds(rest + Int(random.next() % 1_000_000)))
  }
  rest = 2 * making.elapsed.wall + 1_000_000
  gate.close()
  try Coroutine.yield()
  usleep(UInt32(rest / 1000 + 2000))
  let stopwatch = Stopwatch()
  try ended.reach(size)
  return stopwatch.elapsed
}

/// So many wait for one channel, and are cancelled in any order, until all have ended.
private func withdrawals(_ size: Int) throws -> Elapsed {
  var random = Xorshift()
  let order = random.shuffled(size)
  let ended = Ended()
  let channel = Channel<Int>()
  let receivers = try crew(size, ended) { _ = try channel.receive() }
  let stopwatch = Stopwatch()
  for number in order { receivers[number].cancel() }
  try ended.reach(size)
  return stopwatch.elapsed
}

/// So many wait for one channel, which is closed, until all have ended.
private func wakeUpsByClose(_ size: Int) throws -> Elapsed {
  let ended = Ended()
  let channel = Channel<Int>()
  _ = try crew(size, ended) { for _ in channel {} }
  let stopwatch = Stopwatch()
  channel.close()
  try ended.reach(size)
  return stopwatch.elapsed
}

/// So many children of a scope are launched, park, are cancelled and waited for.
private func children(_ size: Int) throws -> Elapsed {
  let stopwatch = Stopwatch()
  let channel = Channel<Int>()
  try withCoroutineScope { scope in
    for _ in 0..<size { scope.launch(stackSize: .small) { _ = try? channel.receive() } }
    try Coroutine.yield()
    scope.cancel()
  }
  return stopwatch.elapsed
}

/// So many wait for the end of one coroutine, until all have ended.
private func joiners(_ size: Int) throws -> Elapsed {
  let ended = Ended()
  let gate = Channel<Void>()
  let one = launch { for _ in gate {} }
  _ = try crew(size, ended) { try one.join() }
  let stopwatch = Stopwatch()
  gate.close()
  try ended.reach(size)
  return stopwatch.elapsed
}
