// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

let queue = DispatchQueue(label: "work")
let disk = SerialScheduler(name: "disk")
let pool = PoolScheduler()  // a thread for each processor

try runBlocking {
  let a = launch(on: queue) { "on a dispatch queue" }
  let b = launch(on: disk) { "on a thread of its own" }
  let c = (1...1000).map { n in launch(on: pool) { n * n } }
  print(try a.value())  // prints on a dispatch queue
  print(try b.value())  // prints on a thread of its own
  print(try c.map { try $0.value() }.reduce(0, +))  // prints 333833500
}
