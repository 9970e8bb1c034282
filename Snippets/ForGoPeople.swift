// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesIO

struct Failed: Error {}

let trace = CoroutineLocal("no trace")  // context.WithValue

try runBlocking {
  // go f(); on several processors: launch(on: pool)
  let pool = PoolScheduler(threads: 2)
  try launch { print("in a coroutine") }.join()  // prints in a coroutine
  print(try launch(on: pool) { 6 * 7 }.value())  // prints 42

  // make(chan int), make(chan int, 3); chan<- int, <-chan int
  let (meeting, buffered) = (Channel<Int>(), Channel<Int>(capacity: 3))
  func produce(_ out: SendEnd<Int>) throws {
    defer { out.close() }  // close(out)
    for n in 1...3 { try out.send(n) }  // out <- n
  }
  func sum(_ numbers: ReceiveEnd<Int>) -> Int { numbers.reduce(0, +) }
  launch { try produce(meeting.sendEnd) }
  print(try meeting.receive())  // prints 1
  print(sum(meeting.receiveEnd))  // prints 5
  do {
    _ = try meeting.receive()  // v, ok := <-meeting, with ok false
  } catch ChannelError.closed { print("closed") }  // prints closed

  // select; a case without default; time.After
  let which = try select {
    Receive(from: buffered) { "received \($0)" }
    Send(7, to: buffered) { "sent" }
    After(.seconds(1)) { "nothing" }
  }
  print(which, buffered.count)  // prints sent 1
  let more = try select {
    Send(8, to: buffered) { true }
    Default { false }
  }
  print(more)  // prints true

  // errgroup.Group: the first error cancels the others, and comes out.
  do {
    try withCoroutineScope { group in
      group.launch { throw Failed() }
      group.launch { try Coroutine.sleep(for: .seconds(60)) }
    }
  } catch is Failed { print("failed") }  // prints failed

  // context.WithTimeout, WithDeadline, WithCancel; ctx.Err()
  do {
    try withTimeout(.milliseconds(1)) { try Coroutine.sleep(for: .seconds(60)) }
  } catch is TimeoutError { print("too late") }  // prints too late
  try withDeadline(CoroutineClock().now.advanced(by: .seconds(60))) {
    try Coroutine.checkCancellation()
    print(Coroutine.isCancelled)  // prints false
  }
  try trace.withValue("42") { print(trace.value) }  // prints 42

  // sync.WaitGroup, Mutex, RWMutex, Once, Cond; runtime.Gosched
  let group = CoroutineWaitGroup(count: 1)
  let (mutex, shared, once) = (CoroutineMutex(), CoroutineReadWriteLock(), CoroutineOnce<Int>())
  let condition = CoroutineCondition(mutex)
  var isDone = false
  launch {
    try mutex.withLock {
      isDone = true
      condition.broadcast()
    }
    group.done()
  }
  try mutex.withLock { try condition.wait { isDone } }
  try group.wait()
  try shared.withReadLock {}
  print(try once.value { 1 })  // prints 1
  try Coroutine.yield()

  // signal.Notify; iter.Pull
  let interrupts = try SignalChannel(for: .interrupt)
  interrupts.close()
  let numbers = Generator<Int> { yield in for n in 0... { try yield(n) } }
  print(numbers.next() ?? -1, numbers.next() ?? -1)  // prints 0 1
}
