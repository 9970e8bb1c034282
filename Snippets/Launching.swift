// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  let greeting = launch(name: "greeter") {
    try Coroutine.sleep(for: .milliseconds(10))
    return "hello"
  }
  print(greeting)  // prints coroutine #2 "greeter" (ready)
  print(try greeting.value())  // prints hello
}
