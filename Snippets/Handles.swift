// SPDX-License-Identifier: Apache-2.0

import Coroutines

struct Broken: Error {}

let request = CoroutineLocal("none")

try runBlocking {
  let worker = launch(name: "worker", stackSize: .small) {
    try Coroutine.yield()
    return 42
  }
  worker.onFinish { print("the worker has finished") }
  print(worker.state)  // prints ready
  try Coroutine.yield()
  print(worker.state)  // prints ready
  print(try worker.value(), worker.isFinished)
  // prints the worker has finished, then 42 true

  // `value` throws the coroutine's error, `join` does not.
  let broken = launch { throw Broken() }
  try broken.join()
  print(broken.error ?? "no error")  // prints Broken()

  // At once, up to where it first waits.
  let eager = launch(start: .immediately) {
    print("first")  // prints first
    try Coroutine.yield()
    print("third")
  }
  print("second")  // prints second, then third
  try eager.join()

  // What belongs to a request, wherever the request leads.
  try request.withValue("GET /") {
    try launch { print(request.value) }.join()  // prints GET /
  }
  print(request.value)  // prints none
}
