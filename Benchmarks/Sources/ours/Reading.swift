// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let files = [
  Row("read-256k", operations: 256, warmsUp: true) { Outcome(try read("256k", $0)) },
  Row("read-20m", operations: 16, warmsUp: true) { Outcome(try read("20m", $0)) },
]

/// A coroutine for each file; the reading goes on beside their loop.
private func read(_ kind: String, _ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    try withCoroutineScope { scope in
      for number in 0..<count {
        scope.launch { sum += try offload { Files.read(Files.path(kind, number)) } }
      }
    }
    return sum
  }
}
