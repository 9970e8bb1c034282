// SPDX-License-Identifier: Apache-2.0

// Shows: a rate limiter (a token bucket) as plain code that sleeps, and virtual time, in which it can be watched
// exactly.
//
// The limiter calls `Coroutine.sleep`, which goes by the clock of the scheduler. In a program that is the system's
// clock. Here it is that of a `TestScheduler`, which jumps to the next moment at which something happens: the program
// takes no time, and prints the same in each run. Tests of your own code can do the same.
//
// Output:
//
//   a burst of 3, then one each 0.5 s
//   at 0.0 s: request 1
//   at 0.0 s: request 2
//   at 0.0 s: request 3
//   at 0.5 s: request 4
//   at 1.0 s: request 5
//   at 1.5 s: request 6
//   a pause, in which the bucket fills, but not beyond its size
//   at 11.5 s: request 7
//   at 11.5 s: request 8
//   at 11.5 s: request 9
//   at 11.6 s: request 10 gave up, and took no token
//   at 12.0 s: request 11

import Coroutines
import CoroutinesTesting

/// Lets so many through at once, and then one each `interval`.
final class TokenBucket {
  private let interval: Duration
  private let burst: Int
  /// Those who wait stand in line here.
  private let turn = CoroutineMutex()
  /// When the bucket will be full again, if nobody takes anything.
  private var isFullAt = CoroutineClock().now

  init(burst: Int, interval: Duration) {
    self.burst = burst
    self.interval = interval
  }

  /// Takes a token; parks until there is one, in the order of the calls.
  ///
  /// A call that is cancelled takes none.
  func take() throws {
    try turn.withLock {
      let full = max(isFullAt, CoroutineClock().now)
      // There is a token as soon as no more than `burst - 1` are missing.
      try Coroutine.sleep(until: full.advanced(by: interval * -(burst - 1)))
      isFullAt = full.advanced(by: interval)
    }
  }
}

let scheduler = TestScheduler()

func tell(_ what: String) {
  print("at \(scheduler.elapsed / .seconds(1)) s: \(what)")
}

try scheduler.run {
  let bucket = TokenBucket(burst: 3, interval: .milliseconds(500))

  /// All at once; each tells when it got through.
  func request(_ numbers: ClosedRange<Int>) throws {
    try withCoroutineScope { scope in
      for number in numbers {
        scope.launch(name: "request \(number)") {
          try bucket.take()
          tell("request \(number)")
        }
      }
    }
  }

  print("a burst of 3, then one each 0.5 s")
  try request(1...6)
  print("a pause, in which the bucket fills, but not beyond its size")
  try Coroutine.sleep(for: .seconds(10))
  try request(7...9)
  do {
    try withTimeout(.milliseconds(100)) { try bucket.take() }
  } catch is TimeoutError {
    tell("request 10 gave up, and took no token")
  }
  try request(11...11)
}
