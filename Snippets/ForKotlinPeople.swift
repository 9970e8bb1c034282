// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Dispatch
import Foundation

struct Failed: Error {}

let user = CoroutineLocal("nobody")  // a context element

try runBlocking {
  // launch, async and await, coroutineScope
  let job = launch(name: "job") { try Coroutine.sleep(for: .seconds(60)) }
  let deferred = launch { 6 * 7 }
  try deferred.join()
  print(try deferred.value())  // prints 42
  job.onFinish { print("job is over") }  // invokeOnCompletion
  try job.cancelAndJoin()  // prints job is over
  print(try withCoroutineScope { scope in try scope.launch { 1 }.value() })  // prints 1

  // withContext(Dispatchers.IO), Dispatchers.Default, a dispatcher of one's own
  print(try offload { "blocking" })  // prints blocking
  let (pool, single) = (PoolScheduler(), SerialScheduler(name: "single"))
  print(try launch(on: pool) { "default" }.value())  // prints default
  print(try launch(on: single) { "single" }.value())  // prints single

  // delay, yield, isActive, ensureActive, NonCancellable
  try Coroutine.sleep(for: .milliseconds(1))
  try Coroutine.yield()
  try Coroutine.checkCancellation()
  print(Coroutine.isCancelled)  // prints false
  try withCancellationShield { try Coroutine.yield() }

  // withTimeoutOrNull
  let late: Void? = try? withTimeout(.milliseconds(1)) { try Coroutine.sleep(for: .seconds(60)) }
  print(late == nil)  // prints true

  // Channel, trySend, tryReceive, consumeEach; produce and actor
  let channel = Channel<Int>(capacity: .unbounded)
  print(channel.sendIfReady(1).isSent, channel.receiveIfReady().value ?? 0)  // prints true 1
  channel.close()
  for _ in channel {}
  _ = (Channel<Int>(capacity: .rendezvous), Channel<Int>(capacity: .conflated))
  let echo = MessageActor<Reply<Int>> { mailbox in for reply in mailbox { reply(7) } }
  print(try echo.ask { $0 }.await())  // prints 7

  // select with onReceive, onSend, onTimeout
  let ready = Channel<Int>(capacity: 1)
  let choice = try select {
    Receive(from: ready) { "received \($0)" }
    Send(1, to: ready) { "sent" }
    After(.seconds(1)) { "timeout" }
  }
  print(choice)  // prints sent

  // Mutex, Semaphore, CompletableDeferred, suspendCancellableCoroutine
  try CoroutineMutex().withLock {}
  try CoroutineSemaphore(permits: 1).withPermit {}
  let promise = Promise<Int>()
  promise.fulfill(8)
  promise.reject(Failed())  // comes too late
  print(try promise.await())  // prints 8
  let answer: Int = try awaitCallback(onCancel: { print("stopped") }) { done in
    DispatchQueue.global().async { done(9) }
  }
  print(answer)  // prints 9

  // sequence { yield(1) }; CoroutineStart.UNDISPATCHED and LAZY
  print(Array(Generator<Int> { yield in try yield(1) }))  // prints [1]
  launch(start: .immediately) { print("at once") }  // prints at once
  let lazy = Promise<Int>.lazy { fulfill, _ in fulfill(10) }
  print(try lazy.await())  // prints 10
  try user.withValue("ada") { print(user.value) }  // prints ada

  // supervisorScope, with restarts
  try withSupervisor { supervisor in
    let child = supervisor.launch(name: "child", restart: .temporary) { print("a child") }
    try child.join()  // prints a child
  }
}

// runTest: an hour takes no time.
let scheduler = TestScheduler()
try scheduler.run { try Coroutine.sleep(for: .seconds(3600)) }
print(scheduler.elapsed)  // prints 3600.0 seconds

// CoroutineExceptionHandler
Coroutine.unobservedErrorHandler = { unobserved in print("unobserved:", unobserved.error) }

// Dispatchers.Main
launch(on: DispatchQueue.main) {
  print("on the main queue")  // prints on the main queue
  exit(0)
}
dispatchMain()
