// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  // A loop that never waits must ask.
  let counter = launch {
    var count = 0
    while true {
      count += 1
      if count % 1000 == 0 { try Coroutine.yield() }  // others run, and cancellation shows
    }
  }
  try Coroutine.yield()
  try counter.cancelAndJoin()
  print(counter.error is CancellationError)  // prints true

  // An error that is swallowed comes again at the next wait, so this ends all the same.
  let stubborn = launch {
    for attempt in 1... {
      do {
        try Coroutine.sleep(for: .seconds(60))
      } catch {
        if attempt == 3 { throw error }
      }
    }
  }
  try Coroutine.yield()
  try stubborn.cancelAndJoin()
  print(stubborn.isCancelled)  // prints true

  // Children go with their parent, unless they were launched elsewhere on purpose.
  let parent = launch {
    launch(name: "child") {
      defer { print("the child goes, too") }  // prints the child goes, too
      try Coroutine.sleep(for: .seconds(60))
    }
    try Coroutine.sleep(for: .seconds(60))
  }
  try Coroutine.yield()
  try Coroutine.yield()
  try parent.cancelAndJoin()

  // The nearest limit wins, and says where it was set.
  do {
    try withDeadline(ContinuousClock.now + .seconds(60)) {
      try withTimeout(.milliseconds(5)) { try Coroutine.sleep(for: .seconds(60)) }
    }
  } catch let error as TimeoutError {
    print(error.limit == .milliseconds(5), error.site.isEmpty)  // prints true false
  }
}
