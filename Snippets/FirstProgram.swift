// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Asks a slow server; a call that waits looks like any other call.
func price(of fruit: String) throws -> Int {
  try Coroutine.sleep(for: .milliseconds(20))
  return fruit.count * 10
}

try runBlocking {
  print(try price(of: "fig"))  // prints 30

  // Three at the same time, on this one thread: 20 milliseconds, not 60.
  let fruits = ["apple", "plum", "fig"]
  let prices = try withCoroutineScope { scope in
    let asked = fruits.map { fruit in scope.launch { try price(of: fruit) } }
    return try asked.map { try $0.value() }
  }
  print(prices)  // prints [50, 40, 30]

  // Waiting works at any depth, here inside the closure of `sorted`.
  let sorted = try fruits.sorted { try price(of: $0) < price(of: $1) }
  print(sorted)  // prints ["fig", "plum", "apple"]
}
