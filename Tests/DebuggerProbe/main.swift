// SPDX-License-Identifier: Apache-2.0

// Coroutines in all states, for scripts/check-debuggers, which stops it in `debuggerProbeStop`.
// With an argument, it crashes there in the way that the argument says.

import Coroutines

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A debugger stops here.
@_silgen_name("debuggerProbeStop") @inline(never)
func debuggerProbeStop(_ count: Int) {
  print("\(count) coroutines wait")
}

/// Waits where a debugger has two functions of the program's to show.
@inline(never)
func fetchJob(_ jobs: Channel<Int>, _ hint: Int) throws -> Int {
  let job = try jobs.receive()
  return job + hint
}

@inline(never)
func work(_ jobs: Channel<Int>) throws -> Int {
  var sum = 0
  for hint in 1... {
    guard let job = try? fetchJob(jobs, hint) else { break }
    sum += job
  }
  return sum
}

/// Stops, or crashes.
@inline(never)
func finish(_ count: Int) {
  switch CommandLine.arguments.dropFirst().first {
  case "fatalError": fatalError("on purpose")
  case "pointer": UnsafeMutableRawPointer(bitPattern: 0x10)?.storeBytes(of: 1, as: UInt8.self)
  case "abort": abort()
  case "kill": kill(getpid(), SIGSEGV)
  default: debuggerProbeStop(count)
  }
}

try runBlocking {
  let jobs = Channel<Int>(name: "jobs")
  let workers = (1...3).map { index in launch(name: "worker \(index)") { try work(jobs) } }
  let sleeper = launch(name: "sleeper") { try Coroutine.sleep(for: .seconds(1000)) }
  let pool = PoolScheduler(threads: 2)
  let gate = Promise<Int>()
  let pooled = launch(on: pool, name: "pooled") { try gate.await() }
  while pooled.state != .suspended { try Coroutine.yield() }
  let stopper = launch(name: "stopper") {
    let late = launch(name: "late") { 1 }
    finish(workers.count)
    _ = try late.value()
  }
  try stopper.join()
  sleeper.cancel()
  gate.fulfill(1)
  _ = try pooled.value()
  jobs.close()
}
