// SPDX-License-Identifier: Apache-2.0

import Coroutines

struct Down: Error {}

/// A server that answers after some milliseconds; c is down.
func ask(_ server: String, after milliseconds: Int) throws -> String {
  try Coroutine.sleep(for: .milliseconds(milliseconds))
  if server == "c" { throw Down() }
  return server
}

try runBlocking {
  // All of them, in their order. The first error cancels the others.
  let all = try withCoroutineScope { scope in
    let asked = [("a", 9), ("b", 1)].map { name, time in
      scope.launch { try ask(name, after: time) }
    }
    return try asked.map { try $0.value() }
  }
  print(all)  // prints ["a", "b"]

  // All outcomes, errors too; of different types, if you like.
  let (text, number) = try awaitAll(Promise { try ask("c", after: 1) }, Promise { 42 })
  print((try? text.get()) ?? "none", try number.get())  // prints none 42

  // The first that works, while the others go on.
  let copies = [Promise { try ask("c", after: 1) }, Promise { try ask("b", after: 5) }]
  print(try Promise.any(copies).await())  // prints b

  // The first that works; the others are given up.
  let winner = try withCoroutineScope { scope in
    let answers = Channel<String>()
    for (name, time) in [("a", 60_000), ("b", 1)] {
      scope.launch { try answers.send(ask(name, after: time)) }
    }
    let first = try answers.receive()
    scope.cancel()
    return first
  }
  print(winner)  // prints b

  // A hundred, at most four at a time.
  let limit = CoroutineSemaphore(permits: 4)
  var (now, most) = (0, 0)
  try withCoroutineScope { scope in
    for _ in 1...100 {
      scope.launch {
        try limit.withPermit {
          now += 1
          most = max(most, now)
          _ = try ask("a", after: 1)
          now -= 1
        }
      }
    }
  }
  print(most)  // prints 4
}
