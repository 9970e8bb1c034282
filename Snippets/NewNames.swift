// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Dispatch
import Foundation

struct Failed: Error {}

let queue = DispatchQueue(label: "work")

try runBlocking {
  // Launching
  let co = launch(stackSize: .bytes(1 << 17)) { try Coroutine.sleep(for: .seconds(60)) }
  co.onFinish { print("finished") }
  try co.cancelAndJoin()  // prints finished
  print(co.error is CancellationError, Coroutine.isCancelled)  // prints true false
  launch(start: .immediately) { print(Coroutine.current?.name ?? "no name") }  // prints no name
  let other = launch(on: queue) { 6 * 7 }
  try other.join()
  print(try other.value())  // prints 42
  other.cancel()  // has no effect: it is over

  // Awaiting, promises
  let page = Promise<String> { fulfill, reject in fulfill("page") }
  let remote = Promise<String>(on: queue) { fulfill, reject in reject(Failed()) }
  let lazy = Promise<String>.lazy { fulfill, _ in fulfill("lazy") }
  print(try page.await(), try lazy.await(), try awaitAll([page, remote]).count)
  // prints page lazy 2
  let pending = Promise<Int>().onCancel { _ in print("cancelled") }
  pending.cancel()  // prints cancelled
  let chain = pending.then { $0 + 1 }.catch { _ in }.recover { error in
    if case PromiseError.cancelled = error { -1 } else { 0 }
  }.finally {}
  print(try chain.await(), pending.fulfill(1), pending.reject(Failed()))
  // prints -1 false false
  print(try Promise(following: page).await(), try awaitTask { "from a task" })
  // prints page from a task
  let progress = Progress(totalUnitCount: 1)
  let watched = ProgressPromise<Void>()
  watched.follow(progress, every: .milliseconds(1))
  progress.completedUnitCount = 1
  for fraction in watched where fraction == 1 { watched.fulfill(()) }

  // Channels
  let channel = Channel<Int>(capacity: 2)
  try channel.send(1)
  try channel.send(2, onUndelivered: { _ in })
  print(channel.sendIfReady(3).isSent, try channel.receive())  // prints false 1
  print(channel.receiveIfReady().value ?? 0)  // prints 2
  do {
    _ = try withTimeout(.milliseconds(1)) { try channel.receive() }
  } catch is TimeoutError { print("too late") }  // prints too late
  let expandable = Channel<Int>(capacity: .unbounded)
  for n in 1...4 { expandable.sendIfReady(n) }
  print(try expandable.receive(count: 2), try expandable.receiveAll())  // prints [1, 2] [3, 4]

  // Actors
  let doubler = MessageActor<(Int, Reply<Int>?)> { mailbox in
    for (number, reply) in mailbox { _ = reply?(number * 2) }
  }
  try doubler.tell((1, nil))
  print(try doubler.ask { (4, $0) }.await())  // prints 8
}

// Generators and RJIterator
let squares = Generator<Int> { yield in for n in 1... { try yield(n * n) } }
print(squares.next() ?? 0, Array(squares.prefix(2)))  // prints 1 [4, 9]
func greeting(_ name: String) -> TwoWayGenerator<String, String, Int> {
  TwoWayGenerator { yield in
    _ = try yield("hello, \(name)")
    return name.count
  }
}
let talk = TwoWayGenerator<String, String, Int> { yield in
  let name = try yield("your name?") ?? "stranger"
  return try yield.all(of: greeting(name)) ?? 0
}
if case .yielded(let question) = try talk.next() { print(question) }  // prints your name?
let step: GeneratorStep<String, Int> = try talk.next("LiLei")
print(step)  // prints yielded("hello, LiLei")
print(try talk.return(0).isDone)  // prints true
do {
  _ = try talk.throw(Failed())
} catch is Failed { print("failed") }  // prints failed
let login = launch(on: .main) {
  defer { print("over") }  // prints over
  try Coroutine.sleep(for: .milliseconds(1))
}
login.onFinish { exit(0) }
dispatchMain()
