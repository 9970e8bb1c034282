// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let crowds = Shape.crowds.map { size in
  Row("crowd-\(size)", operations: max(1_000_000, 10 * size)) { try crowd(size, $0) }
}

/// So many coroutines that yield in turn, from when all have begun until all have ended.
func crowd(_ size: Int, _ count: Int) throws -> Outcome {
  let rounds = max(1, count / size)
  return try runBlocking {
    var (begun, ended, yields) = (0, 0, 0)
    var stopwatch = Stopwatch()
    var elapsed: Elapsed?
    for _ in 0..<size {
      launch(stackSize: .small) {
        begun += 1
        if begun == size { stopwatch = Stopwatch() }
        for _ in 0..<rounds {
          try Coroutine.yield()
          yields += 1
        }
        ended += 1
        if ended == size { elapsed = stopwatch.elapsed }
      }
    }
    while ended < size { try Coroutine.sleep(for: .milliseconds(1)) }
    var outcome = Outcome(yields)
    outcome.elapsed = elapsed
    return outcome
  }
}

let grid = Shape.grid.flatMap { producers in
  Shape.grid.map { consumers in
    Row("grid-\(producers)x\(consumers)") { try send($0, producers, consumers) }
  }
}

private func send(_ count: Int, _ producers: Int, _ consumers: Int) throws -> Int {
  try runBlocking {
    let numbers = Channel<Int>(capacity: 128)
    let working = CoroutineWaitGroup(count: producers)
    for producer in 0..<producers {
      launch {
        for number in stride(from: producer, to: count, by: producers) { try numbers.send(number) }
        working.done()
      }
    }
    var sum = 0
    let receivers = (0..<consumers).map { _ in
      launch { for number in numbers { sum += number } }
    }
    try working.wait()
    numbers.close()
    for receiver in receivers { try receiver.join() }
    return sum
  }
}
