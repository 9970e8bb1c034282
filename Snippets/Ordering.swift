// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  let channel = Channel<String>()
  launch {
    print("1: the receiver waits")  // prints 1: the receiver waits
    let value = try channel.receive()
    print("4: it got \(value)")
  }
  launch {
    print("2: the sender comes")  // prints 2: the sender comes
    try channel.send("a value")
    print("3: the sender goes on")  // prints 3: the sender goes on
  }
}  // prints 4: it got a value
