// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import CoroutinesIO
import Dispatch
import Foundation

/// An interface with a completion handler.
func load(_ name: String, then answer: @escaping @Sendable (String?, (any Error)?) -> Void) {
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.001) { answer("<\(name)>", nil) }
}

let queue = DispatchQueue(label: "work")
let once = CoroutineOnce<Int>()
let user = CoroutineLocal("nobody")  // queue.setSpecific, getSpecific

try runBlocking {
  // queue.async { … }, queue.sync { … }
  let job = launch(on: queue) { 6 * 7 }
  print(try job.value())  // prints 42

  // A pyramid of completion handlers.
  let a: String = try awaitCallback { done in load("a") { done($0, $1) } }
  let b: String = try awaitCallback { done in load(a + "b") { done($0, $1) } }
  print(b)  // prints <<a>b>

  // DispatchGroup, with an upper limit by a semaphore.
  let limit = CoroutineSemaphore(permits: 2)
  let pages = try withCoroutineScope { scope in
    let loads = ["x", "y", "z"].map { name in
      scope.launch {
        try limit.withPermit { () -> String in
          try awaitCallback { done in load(name) { done($0, $1) } }
        }
      }
    }
    return try loads.map { try $0.value() }
  }
  print(pages)  // prints ["<x>", "<y>", "<z>"]

  // queue.asyncAfter, DispatchWorkItem.cancel
  let later = launch {
    try Coroutine.sleep(for: .seconds(60))
    print("never")
  }
  try Coroutine.yield()
  later.cancel()

  // DispatchSource: timers, signals.
  for _ in Timer.co.ticks(every: .milliseconds(1)).prefix(2) { print("tick") }
  // prints tick, then tick
  let signals = try SignalChannel(for: .user1)
  raise(SIGUSR1)
  print(try signals.receive())  // prints SIGUSR1

  // A barrier on a concurrent queue; dispatch_once; concurrentPerform.
  let table = CoroutineReadWriteLock()
  try table.withWriteLock {}
  print(try once.value { 1 })  // prints 1
  let pool = PoolScheduler()
  let parts = (1...4).map { number in launch(on: pool) { number * number } }
  print(try parts.map { try $0.value() })  // prints [1, 4, 9, 16]

  // DispatchQueue.global().async around a call that blocks.
  print(try offload { FileManager.default.fileExists(atPath: "/") })  // prints true

  // A queue that guards a variable.
  let mutex = CoroutineMutex()
  try mutex.withLock { try Coroutine.yield() }
  let total = MessageActor<(Int, Reply<Int>)> { mailbox in
    var sum = 0
    for (number, reply) in mailbox {
      sum += number
      reply(sum)
    }
  }
  print(try total.ask { (2, $0) }.await(), try total.ask { (3, $0) }.await())  // prints 2 5

  // A semaphore that says "done", once or again and again.
  let (done, beats) = (Promise<Void>(), Channel<Void>(capacity: .conflated))
  queue.async {
    beats.sendIfReady(())
    done.fulfill(())
  }
  try done.await()
  try beats.receive()

  // DispatchIO, DispatchSource.makeReadSource
  let (reading, writing) = try ByteStream.pipe()
  try writing.write("through a pipe")
  writing.close()
  print(String(decoding: try reading.readToEnd(), as: UTF8.self))  // prints through a pipe
  print(try File.open("/dev/null").read(at: 0, upTo: 1).isEmpty)  // prints true
  try user.withValue("ada") { print(user.value) }  // prints ada
}
