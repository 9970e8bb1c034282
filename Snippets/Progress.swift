// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Copies so many files, and tells how many are done.
func copy(_ count: Int) -> ProgressPromise<Int> {
  ProgressPromise { progress in
    for done in 1...count {
      try Coroutine.sleep(for: .milliseconds(10))
      progress.report(Double(done) / Double(count))
    }
    return count
  }
}

try runBlocking {
  let one = copy(2)
  for fraction in one { print("\(Int(fraction * 100)) %") }  // prints 50 %, then 100 %
  print(try one.await(), "files")  // prints 2 files

  // A whole of two parts, of which the second counts three times as much.
  let whole = ProgressPromise<Int> { progress in
    let (small, big) = (copy(1), copy(3))
    progress.add(small)
    progress.add(big, weight: 3)
    return try small.await() + big.await()
  }
  var last = 0.0
  for fraction in whole { last = fraction }
  print(last, try whole.await())  // prints 1.0 4

  // Cancelling stops the wait for a part as well as for the whole.
  let endless = ProgressPromise<Void>()
  endless.onCancel { print("stopped") }
  endless.cancel()  // prints stopped
}
