// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Foundation

try runBlocking {
  var ticks = 0
  let ticker = launch {
    while true {
      try Coroutine.sleep(for: .milliseconds(5))
      ticks += 1
    }
  }
  let answer = try offload {
    Thread.sleep(forTimeInterval: 0.1)  // blocks a thread of the pool, not this one
    return 42
  }
  ticker.cancel()
  print(answer, ticks > 2)  // prints 42 true
}
