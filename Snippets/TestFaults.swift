// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

// Code that takes a clock gets one that the test moves.
try runBlocking {
  let clock = TestClock()
  let reminder = launch {
    try clock.sleep(for: .seconds(3600))
    return "time is up"
  }
  try clock.waitForSleepers()
  clock.advance(by: .seconds(3600))
  print(try reminder.value())  // prints time is up
}

// What is left at the end of a test is an error.
do {
  try runBlocking {
    try withLeakCheck {
      let jobs = Channel<Int>(name: "jobs")
      launch(name: "worker") { for job in jobs { print("done", job) } }
      try jobs.send(1)
    }  // and nobody closes the channel
  }
} catch let leaks as LeakError {
  print(leaks.coroutines.count, leaks.stacks)
  // prints done 1, then 1 1
}

// Each timer late in turn: what leans on the order of two sleeps is found.
do {
  try sweepLateTimers {
    var order: [String] = []
    let first = launch {
      try Coroutine.sleep(for: .seconds(1)); order.append("first")
    }
    let second = launch {
      try Coroutine.sleep(for: .seconds(2)); order.append("second")
    }
    try first.join()
    try second.join()
    if order != ["first", "second"] { throw CancellationError() }
  }
} catch let failure as SweepFailure {
  print("fails with timer", failure.place, "late")  // prints fails with timer 1 late
}

// A sender cancelled at each park point in turn: what it was to send is received, or comes back.
// `victim` is a name: who bears it is cancelled.
let cancellations = try sweepCancellation { victim in
  let numbers = Channel<Int>()
  var (received, kept): ([Int], [Int]) = ([], [])
  let sender = launch(name: victim) {
    for number in 1...3 { try numbers.send(number) { kept.append($0) } }
  }
  let receiver = launch {
    while let number = try? numbers.receive() { received.append(number) }
  }
  try sender.join()
  numbers.close()
  try receiver.join()
  let all = received + kept
  precondition(all == Array((1...3).prefix(all.count)))
}
print(cancellations.places > 0)  // prints true

// A channel closed at each park point in turn: each value is received or given back.
let sweep = try sweepCloses { victim in
  let numbers = victim(Channel<Int>())
  var (received, kept): ([Int], [Int]) = ([], [])
  let sender = launch {
    for number in 1...3 { try? numbers.send(number) { kept.append($0) } }
    numbers.close()
  }
  for number in numbers { received.append(number) }
  try sender.join()
  precondition(received + kept == [1, 2, 3])
}
print(sweep.places > 0)  // prints true
