// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// A sum that coroutines on several threads add to.
final class Total: @unchecked Sendable {
  // SAFETY: `sum` is only touched under the mutex.
  private let mutex = CoroutineMutex()
  private var sum = 0

  func add(_ number: Int) throws {
    try mutex.withLock {
      let old = sum
      try Coroutine.yield()  // nobody else is in here meanwhile
      sum = old + number
    }
  }

  func value() throws -> Int { try mutex.withLock { sum } }
}

let pool = PoolScheduler()

try runBlocking {
  let total = Total()
  let adders = (1...100).map { number in launch(on: pool) { try total.add(number) } }
  for adder in adders { try adder.value() }
  print(try total.value())  // prints 5050
}
