// SPDX-License-Identifier: Apache-2.0

// Programs that go wrong, each in one way, in a process of their own: with no thread of a test's beside them.
// DeadlockDetectionTests, DumpSignalTests and CoroutineWatchdogTests run it.

import Coroutines
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// In memory that others could see: an optimised build leaves out loops that do nothing.
let steps = Atomic<Int>(1)

func computeForEver() {
  while steps.wrappingAdd(1, ordering: .relaxed).newValue != 0 {}
}

func allocateForEver() {
  // Nearly all of the time is the C library's.
  while true { free(calloc(1, 10_000)) }
}

/// Sorts for ever: the C library calls back what does not come back.
func sortForEver() {
  var numbers = [2, 1]
  qsort(&numbers, 2, 8) { _, _ in
    computeForEver()
    return 0
  }
}

func readForEver() {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  var byte: UInt8 = 0
  _ = read(ends[0], &byte, 1)
}

func lockTwice() {
  var mutex = pthread_mutex_t()
  pthread_mutex_init(&mutex, nil)
  pthread_mutex_lock(&mutex)
  pthread_mutex_lock(&mutex)
}

func countThreads() -> Int {
  guard let tasks = opendir("/proc/self/task") else { return -1 }
  defer { closedir(tasks) }
  var count = 0
  while let entry = readdir(tasks) {
    if entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
  }
  return count
}

/// Runs something in a coroutine, after saying that it begins.
func occupy(_ body: () -> Void) throws {
  try runBlocking {
    sayReady()
    body()
  }
}

func ring() throws {
  let (one, other) = (CoroutineMutex(), CoroutineMutex())
  let left = launch(name: "left") {
    try one.withLock {
      try Coroutine.yield()
      try other.withLock {}
    }
  }
  launch(name: "right") {
    try other.withLock {
      try Coroutine.yield()
      try one.withLock {}
    }
  }
  try left.value()
}

@inline(never)
func receivesFromIt(_ channel: Channel<Int>) throws -> Int {
  let value = try channel.receive()
  return value + 1
}

@inline(never)
func receivesInLoop(_ channel: Channel<Int>) throws {
  for value in channel { print(value) }
}

/// A dump with all lines: those that one call gives up looking for, on a busy machine, the next ones find.
func takeDump() -> CoroutineDump {
  for _ in 1...10 { _ = CoroutineDump.take() }
  return CoroutineDump.take()
}

func dumpCrowd(_ show: (CoroutineDump) -> Void) throws {
  let channel = Channel<Int>(name: "crowded \"quoted\", \\ and\nlines <b>")
  let crowd = (0..<100).map { _ in launch(name: "näme") { try receivesFromIt(channel) } }
  try Coroutine.yield()
  show(takeDump())
  for one in crowd { one.cancel() }
}

let programs: [String: () throws -> Void] = [
  // Deadlocks, which are certain.
  "channel": { try runBlocking { _ = try Channel<Int>(name: "jobs").receive() } },
  "ring": { try runBlocking { try ring() } },
  "promise": {
    let promise = Promise<Int>()
    try runBlocking { _ = try promise.await() }
  },
  "pool": {
    let pool = PoolScheduler(threads: 2)
    try runBlocking {
      let channel = Channel<Int>()
      _ = try launch(on: pool) { try channel.receive() }.value()
    }
    withExtendedLifetime(pool) {}
  },
  "after-offload": {
    try runBlocking {
      try offload {}
      _ = try Channel<Int>().receive()
    }
  },
  "reported": {
    DeadlockDetection.policy = .report
    try runBlocking {
      let channel = Channel<Int>()
      try withTimeout(.seconds(1)) { try Coroutine.yield() }
      _ = try channel.receive()
    }
  },
  // None: something will come, only late.
  "timer": { try runBlocking { try Coroutine.sleep(for: .milliseconds(400)) } },
  "thread": {
    let promise = Promise<Int>()
    onThread {
      block(for: 400)
      promise.fulfill(1)
    }
    try runBlocking { _ = try promise.await() }
  },
  "task": { try runBlocking { try awaitTask { try await Task.sleep(for: .milliseconds(400)) } } },
  "offload": { try runBlocking { try offload { block(for: 400) } } },
  "off": {
    DeadlockDetection.policy = .off
    try runBlocking { _ = try Channel<Int>().receive() }
  },
  "slow-loop": {
    let serial = SerialScheduler()
    try runBlocking { try launch(on: serial) { block(for: 400) }.value() }
    withExtendedLifetime(serial) {}
  },
  // Dumps.
  "dump": { try runBlocking { try dumpCrowd { print($0) } } },
  "dump-json": { try runBlocking { try dumpCrowd { print($0.json) } } },
  "dump-loop": {
    try runBlocking {
      let channel = Channel<Int>()
      launch { try receivesInLoop(channel) }
      launch(name: "closure") { for value in channel { print(value) } }
      let atRest = MessageActor<Int>(name: "at rest") { mailbox in
        for message in mailbox { print(message) }
      }
      try Coroutine.yield()
      print(takeDump())
      atRest.stop()
      channel.close()
    }
  },
  // For signals.
  "sleeps": {
    try runBlocking {
      sayReady()
      try Coroutine.sleep(for: .seconds(60))
    }
  },
  "computes": { try occupy(computeForEver) },
  "allocates": { try occupy(allocateForEver) },
  "blocks-once": {
    try runBlocking {
      _ = launch(name: "blocker") {
        sayReady()
        block(for: 200_000)
        try Coroutine.sleep(for: .seconds(60))
      }
    }
  },
  "blocks": { try occupy { while true { sleep(60) } } },
  "reads": { try occupy(readForEver) },
  "locked": { try occupy(lockTwice) },
  "sorts": { try occupy(sortForEver) },
  "threads": {
    try runBlocking {
      print("alone: \(countThreads())")
      try offload {}
      print("with others: \(countThreads())")
    }
  },
  "signal-disabled": {
    DumpSignal.disable()
    try runBlocking {
      sayReady()
      try Coroutine.sleep(for: .seconds(60))
    }
  },
  // For the watchdog.
  "hog": {
    var limits = CoroutineWatchdog.Limits()
    limits.turnLimit = .milliseconds(200)
    let watchdog = CoroutineWatchdog(limits: limits)
    try runBlocking {
      try launch(name: "hog") {
        let end = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < end {}
      }.value()
      // The watchdog may take two seconds to look up the names of what it has found.
      try Coroutine.sleep(for: .seconds(3))
      try launch(name: "blocker") { block(for: 3000) }.value()
      try Coroutine.sleep(for: .seconds(1))
    }
    withExtendedLifetime(watchdog) {}
  },
  "stubborn": {
    var limits = CoroutineWatchdog.Limits()
    limits.turnLimit = .milliseconds(200)
    let watchdog = CoroutineWatchdog(limits: limits)
    try runBlocking {
      let end = ContinuousClock.now + .seconds(3)
      let stubborn = launch(name: "stubborn") {
        while ContinuousClock.now < end { try? Coroutine.sleep(for: .milliseconds(1)) }
      }
      try Coroutine.yield()
      try stubborn.cancelAndJoin()
      try Coroutine.sleep(for: .seconds(3))
    }
    withExtendedLifetime(watchdog) {}
  },
  "partial": {
    var limits = CoroutineWatchdog.Limits()
    limits.cycleInterval = .milliseconds(200)
    let watchdog = CoroutineWatchdog(limits: limits)
    try runBlocking {
      let waiting = launch { try ring() }
      try Coroutine.sleep(for: .seconds(3))
      try waiting.cancelAndJoin()
      Coroutine.current?.cancel()
    }
    withExtendedLifetime(watchdog) {}
  },
  "growth": {
    var limits = CoroutineWatchdog.Limits()
    limits.keptLimit = 1000
    let watchdog = CoroutineWatchdog(limits: limits)
    try runBlocking {
      let channel = Channel<Int>(capacity: .unbounded)
      for number in 0..<3000 { try channel.send(number) }
      try Coroutine.sleep(for: .seconds(3))
    }
    withExtendedLifetime(watchdog) {}
  },
]

guard let name = CommandLine.arguments.dropFirst().first, let program = programs[name] else {
  print("usage: diagnostics-probe \(programs.keys.sorted().joined(separator: " | "))")
  exit(EXIT_FAILURE)
}
// Whoever runs the tests may ignore or block signals, and a child inherits that.
var nothing = sigset_t()
sigemptyset(&nothing)
sigprocmask(SIG_SETMASK, &nothing, nil)
signal(SIGQUIT, SIG_DFL)
// Most of the programs would run for ever: what a test that fails has left behind ends, too.
alarm(300)
print("begins")
do {
  try program()
  print("ends")
} catch is CancellationError {
  print("is cancelled")
}
