// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

// An hour takes no time.
let scheduler = TestScheduler()
let answer = try scheduler.run {
  let slow = launch {
    try Coroutine.sleep(for: .seconds(3600))
    return 42
  }
  return try slow.value()
}
print(answer, scheduler.elapsed)  // prints 42 3600.0 seconds

// What would hang says who waits for what.
do {
  try TestScheduler().run {
    let (left, right) = (CoroutineMutex(), CoroutineMutex())
    launch(name: "A") {
      try left.withLock {
        try Coroutine.yield(); try right.withLock {}
      }
    }
    launch(name: "B") {
      try right.withLock {
        try Coroutine.yield(); try left.withLock {}
      }
    }
  }
} catch let deadlock as Deadlock {
  print(deadlock.cycle.count)  // prints 2
}

// All orders in which three coroutines can run: one of them loses a step.
final class Counter {
  var count = 0
  func add() throws {
    let old = count
    try Coroutine.yield()  // whoever runs meanwhile is forgotten
    count = old + 1
  }
}
struct LostStep: Error {}

do {
  try explore {
    let counter = Counter()
    let adders = (1...2).map { number in launch(name: "adder \(number)") { try counter.add() } }
    for adder in adders { try adder.join() }
    if counter.count != 2 { throw LostStep() }
  }
} catch let failure as ExplorationFailure {
  print(failure.error)  // prints LostStep()
  // `failure` as a whole prints what ran when, and how to run the same order again.
}
