// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

let queue = DispatchQueue(label: "work")
let disk = SerialScheduler(name: "disk")

try runBlocking {
  let a = launch(on: queue) { "on a dispatch queue" }
  let b = launch(on: disk) { "on a thread of its own" }
  print(try a.value())  // prints on a dispatch queue
  print(try b.value())  // prints on a thread of its own
}
