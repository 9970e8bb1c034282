// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Dispatch

/// A function with a callback.
func fetch(_ name: String, _ callback: @escaping @Sendable (String) -> Void) {
  DispatchQueue.global().async { callback("<\(name)>") }
}

enum Counter {
  case increment
  case count(Reply<Int>)
}

let queue = DispatchQueue(label: "work")

try runBlocking {
  // queue.startCoroutine { … }, queue.coroutineFuture { … }
  let future = launch(on: queue) { 6 }
  let scheduler: Scheduler = .queue(queue)
  try launch(on: scheduler) {}.join()
  print(try future.value())  // prints 6

  // Coroutine.await { callback in … }, queue.await { … }, Coroutine.delay
  let page: String = try awaitCallback { done in fetch("a") { done($0) } }
  print(page)  // prints <a>
  print(try launch(on: queue) { "on the queue" }.value())  // prints on the queue
  try Coroutine.sleep(for: .milliseconds(1))

  // CoPromise, and its observers
  let promise = Promise<Int>()
  promise.then { print("value", $0) }
  promise.onCancel { _ in }
  promise.fulfill(5)  // prints value 5
  print(try withTimeout(.seconds(60)) { try promise.await() })  // prints 5
  let failed = Promise<Int>()
  failed.catch { print($0 is CancellationError) }
  failed.reject(CancellationError())  // prints true

  // CoChannel
  let channel = Channel<Int>(capacity: .bounded(2))
  try channel.send(1)
  print(channel.sendIfReady(2).isSent, channel.sendIfReady(3).isSent)  // prints true false
  print(try channel.receive(), channel.receiveIfReady().value ?? 0)  // prints 1 2
  channel.close()
  for value in channel { print(value) }
  let (sender, receiver) = (channel.sendEnd, channel.receiveEnd)
  print(sender.isClosed, receiver.isEmpty)  // prints true true
  _ = (Channel<Int>(capacity: .rendezvous), Channel<Int>(capacity: .unbounded))
  _ = Channel<Int>(capacity: .conflated)

  // queue.actor(of: Counter.self) { … }
  let actor = MessageActor<Counter>(on: queue) { mailbox in
    var count = 0
    for message in mailbox {
      switch message {
      case .increment: count += 1
      case .count(let reply): reply(count)
      }
    }
  }
  for _ in 1...3 { try actor.tell(.increment) }
  print(try actor.ask { .count($0) }.await())  // prints 3

  // CoScope
  try withCoroutineScope { scope in
    let endless = scope.launch { try Coroutine.sleep(for: .seconds(60)) }
    try Coroutine.yield()
    scope.cancel()
    print(endless.isCancelled, Coroutine.current != nil)  // prints true true
  }
}
