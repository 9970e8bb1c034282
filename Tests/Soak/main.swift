// SPDX-License-Identifier: Apache-2.0

import Coroutines

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// How much of each kind of work there is.
struct Amounts {
  var channelOperations = 300_000_000
  var launches = 4_000_000
  var cancelledTimers = 500_000
}

var amounts = Amounts()
switch CommandLine.arguments.dropFirst().first {
case nil, "--short": break
case "--long":
  amounts = Amounts(
    channelOperations: 1_000_000_000,
    launches: 10_000_000,
    cancelledTimers: 1_000_000
  )
default:
  print("usage: soak [--short | --long]")
  exit(2)
}

/// Sends numbers through a channel, from one coroutine to another, and looks whether all came.
func pass(_ count: Int, through channel: Channel<Int>, sendOn scheduler: Scheduler? = nil) throws {
  let send: @Sendable () throws -> Void = {
    for number in 0..<count { try channel.send(number) }
  }
  let sender = scheduler.map { launch(on: $0, send) } ?? launch(send)
  for number in 0..<count {
    let received = try channel.receive()
    precondition(received == number, "\(received) came, not \(number)")
  }
  try sender.value()
}

/// Nothing came for a minute.
struct TooLate: Error {}

/// Chooses among two channels on one side and among a channel and a time on the other.
func choose(_ count: Int) throws {
  let (left, right) = (Channel<Int>(), Channel<Int>(capacity: 4))
  let sender = launch {
    for number in 0..<count {
      try select {
        Send(number, to: left)
        Send(number, to: right)
      }
    }
    left.close()
    right.close()
  }
  var received = 0
  while received < count {
    try select {
      Receive(from: left, whenClosed: {}) { _ in received += 1 }
      Receive(from: right, whenClosed: {}) { _ in received += 1 }
      After(.seconds(60)) { throw TooLate() }
    }
  }
  try sender.value()
}

/// A wave of coroutines, some in a scope, some with a wait, and a promise.
func launchWave(_ count: Int) throws {
  let coroutines = (0..<count / 2).map { number in launch { number } }
  try withCoroutineScope { scope in
    for number in 0..<count / 2 - 1 {
      scope.launch { if number % 4 == 0 { try Coroutine.yield() } }
    }
  }
  for (number, coroutine) in coroutines.enumerated() {
    let value = try coroutine.value()
    precondition(value == number)
  }
  let value = try Promise { count }.await()
  precondition(value == count)
}

/// A wave of timers that do not come to their time: sleeps that are cancelled, limits that are kept.
func cancelTimers(_ count: Int) throws {
  let sleepers = (0..<count / 2).map { number in
    launch { try Coroutine.sleep(for: .seconds(3600 + number)) }
  }
  try Coroutine.yield()
  for sleeper in sleepers { sleeper.cancel() }
  for sleeper in sleepers {
    try sleeper.join()
    precondition(sleeper.error is CancellationError)
  }
  for _ in 0..<count / 2 { try withTimeout(.seconds(3600)) { try Coroutine.yield() } }
}

let isFlat = try runBlocking {
  let elsewhere = SerialScheduler(name: "elsewhere")
  let (buffered, rendezvous, crossing) = (
    Channel<Int>(capacity: 64), Channel<Int>(), Channel<Int>(capacity: 64)
  )
  // A send and a receive are two operations; each batch has 100,000.
  let channels = Soak(name: "channel operations", batch: 100_000) {
    try pass(44_000, through: buffered)
    try pass(5_000, through: rendezvous)
    try choose(900)
    try pass(100, through: crossing, sendOn: elsewhere)
  }
  let launches = Soak(name: "launches", batch: 1000) { try launchWave(1000) }
  let timers = Soak(name: "cancelled timers", batch: 1000) { try cancelTimers(1000) }
  var isFlat = try channels.run(amounts.channelOperations)
  isFlat = try launches.run(amounts.launches) && isFlat
  isFlat = try timers.run(amounts.cancelledTimers) && isFlat
  return isFlat
}
print(isFlat ? "soak: all flat" : "soak: something has GROWN")
exit(isFlat ? EXIT_SUCCESS : EXIT_FAILURE)
