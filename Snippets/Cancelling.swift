// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  let worker = launch {
    defer { print("cleaned up") }  // prints cleaned up
    try Coroutine.sleep(for: .seconds(60))
  }
  try Coroutine.yield()
  try worker.cancelAndJoin()

  do {
    try withTimeout(.seconds(60)) {
      try withTimeout(.milliseconds(10)) {
        try Coroutine.sleep(for: .seconds(60))
      }
    }
  } catch let error as TimeoutError {
    print(error.limit == .milliseconds(10))  // prints true
  }

  let closing = launch {
    do {
      try Coroutine.sleep(for: .seconds(60))
    } catch {
      try withCancellationShield {
        try Coroutine.sleep(for: .milliseconds(10))
        print("said goodbye")  // prints said goodbye
      }
      throw error
    }
  }
  try Coroutine.yield()
  try closing.cancelAndJoin()
}
