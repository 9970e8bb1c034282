// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

do {
  try explore(sharing: .libraryObjectsOnly) {
    let jobs = Channel<Int>(capacity: 1)
    let worker = launch { jobs.reduce(0, +) }
    for job in 1...3 { try jobs.send(job) }
    jobs.close()
    guard try worker.value() == 6 else { throw CancellationError() }
  }
} catch is NoPreemptionPoints {
  print("only with the trait")  // prints only with the trait
}
