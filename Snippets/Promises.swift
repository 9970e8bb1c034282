// SPDX-License-Identifier: Apache-2.0

import Coroutines

func fetch(_ name: String, after delay: Duration) -> Promise<String> {
  Promise {
    try Coroutine.sleep(for: delay)
    return "<\(name)>"
  }
}

try runBlocking {
  let a = fetch("a", after: .milliseconds(20))
  let b = fetch("b", after: .milliseconds(10)).then { $0 + "!" }
  let outcomes = try awaitAll([a, b])
  print(try outcomes.map { try $0.get() })  // prints ["<a>", "<b>!"]

  let winner = try Promise.race([fetch("slow", after: .seconds(60)), b]).await()
  print(winner)  // prints <b>!

  let forgotten = Promise<Int> { _, _ in }
  do {
    _ = try forgotten.await()
  } catch let error as PromiseError {
    print(error == .abandoned)  // prints true
  }
  Coroutine.current?.cancel()
}
