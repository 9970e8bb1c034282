// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  let results = Channel<Int>()
  launch {
    try Coroutine.sleep(for: .milliseconds(50))
    try results.send(7)
  }
  var isOpen = true
  while isOpen {
    try select {
      Receive(from: results) { result in
        print("result", result)
        isOpen = false
      }
      After(.milliseconds(30)) { print("still waiting") }  // prints still waiting
    }
  }  // prints result 7

  let isSent = try select {
    Send(8, to: results) { true }
    Default { false }
  }
  print(isSent)  // prints false
}
