// SPDX-License-Identifier: Apache-2.0

import Coroutines

func slowSquare(_ n: Int) async throws -> Int {
  try await Task.sleep(for: .milliseconds(10))
  return n * n
}

// From a coroutine to an async function: the coroutine is parked, its thread is not.
func squareInCoroutine() throws {
  try runBlocking {
    print(try awaitTask { try await slowSquare(5) })
  }
}
try squareInCoroutine()  // prints 25

// From a task to a coroutine: the task is suspended, its thread is not blocked.
let sum = try await withCoroutine {
  let numbers = Channel<Int>(capacity: 3)
  launch {
    defer { numbers.close() }
    for n in 1...3 { try numbers.send(n) }
  }
  return numbers.reduce(0, +)
}
print(sum)  // prints 6

// A channel has both faces.
let words = Channel<String>()
launch(on: .shared) {
  for word in ["from", "a", "coroutine"] { try words.send(word) }
  words.close()
}
for await word in words.values { print(word) }  // prints from, then a, then coroutine
