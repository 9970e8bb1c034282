// SPDX-License-Identifier: Apache-2.0

import Coroutines

struct Broken: Error {}

try runBlocking {
  let total = try withCoroutineScope { scope in
    let parts = [3, 1, 2].map { n in
      scope.launch {
        try Coroutine.sleep(for: .milliseconds(n))
        return n
      }
    }
    return try parts.map { try $0.value() }.reduce(0, +)
  }
  print(total)  // prints 6

  do {
    try withCoroutineScope { scope in
      scope.launch {
        defer { print("the other one is cancelled") }  // prints the other one is cancelled
        try Coroutine.sleep(for: .seconds(60))
      }
      scope.launch { throw Broken() }
    }
  } catch {
    print(error)  // prints Broken()
  }
}
