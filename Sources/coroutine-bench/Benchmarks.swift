// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// The benchmarks: what each does is what its name says, and nothing else.
struct Benchmarks {
  let stopwatch: Stopwatch
  let report: (Figure) -> Void

  /// Runs those whose names contain `filter`.
  func run(matching filter: String) throws {
    for (name, operations, body) in all where filter.isEmpty || name.contains(filter) {
      report(try stopwatch.measure(name, operations: operations, body))
    }
    if filter.isEmpty || Footprint.name.contains(filter) {
      report(try Footprint.measure(count: max(100, Int(100_000 * stopwatch.share))))
    }
  }

  private typealias Benchmark = (String, Int, (Int) throws -> Void)

  private var all: [Benchmark] {
    [
      ("switch, bare", 20_000_000, BareSwitch.run),
      ("yield, between two coroutines", 2_000_000, yields),
      ("generator, a value", 10_000_000, generatorValues),
      ("launch, run, reclaim, a thousand at a time", 1_000_000, launches),
      ("launch and join, one by one", 1_000_000, joins),
      ("unbuffered channel, a value, one loop", 1_000_000, { try sends($0, capacity: 0) }),
      ("buffered channel (128), a value, one loop", 2_000_000, { try sends($0, capacity: 128) }),
      ("unbuffered channel, a value, two loops", 50_000, { try sendsAcross($0, capacity: 0) }),
      (
        "buffered channel (128), a value, two loops", 500_000,
        { try sendsAcross($0, capacity: 128) }
      ),
      ("select of four, one ready, one loop", 500_000, SelectBenchmarks.oneReady),
      (
        "select's part in that: send and receive alone", 500_000,
        SelectBenchmarks.sendAndReceiveIfReady
      ),
      (
        "select of four, one ready, actions with contexts", 500_000,
        SelectBenchmarks.oneReadyWithContexts
      ),
      ("select of four, all ready", 500_000, SelectBenchmarks.allReady),
      ("select of four, none ready, Default", 500_000, SelectBenchmarks.noneReady),
      ("select of four that parks", 500_000, SelectBenchmarks.parks),
      ("select of 64, one ready", 20_000, SelectBenchmarks.oneOfManyReady),
      ("promise: make, settle, await", 1_000_000, promises),
      ("promise: make, park, settle, wake", 500_000, parkedPromises),
      ("sleep of a microsecond, a thousand at a time", 100_000, sleeps),
      ("skynet, a leaf, pool of one", 1_000_000, { try skynet($0, threads: 1) }),
      ("skynet, a leaf, pool of two", 1_000_000, { try skynet($0, threads: 2) }),
      ("unbuffered channel, a value, pool of two", 1_000_000, pairOnPool),
      ("buffered channel (128), a value, 4 by 4, pool of two", 1_000_000, fourByFour),
      ("independent work, a piece, pool of one", 5_000, { try pieces($0, threads: 1) }),
      ("independent work, a piece, pool of two", 5_000, { try pieces($0, threads: 2) }),
      ("recording: an event", 20_000_000, RecordingBenchmarks.events),
      ("recorded: yield, two events", 2_000_000, RecordingBenchmarks.recorded(yields)),
      (
        "recorded: launch, run, reclaim, three events", 1_000_000,
        RecordingBenchmarks.recorded(launches)
      ),
      (
        "recorded: unbuffered channel, a value, some five events", 1_000_000,
        RecordingBenchmarks.recorded { try sends($0, capacity: 0) }
      ),
      (
        "recorded: buffered channel (128), a value, two events", 2_000_000,
        RecordingBenchmarks.recorded { try sends($0, capacity: 128) }
      ),
    ]
  }

  private func yields(_ count: Int) throws {
    try runBlocking {
      let other = launch { while true { try Coroutine.yield() } }
      // Each yield here is one switch there and one back.
      for _ in 0..<count / 2 { try Coroutine.yield() }
      other.cancel()
    }
  }

  private func generatorValues(_ count: Int) throws {
    let numbers = Generator<Int> { yield in
      var number = 0
      while true {
        try yield(number)
        number += 1
      }
    }
    var sum = 0
    for _ in 0..<count { sum &+= numbers.next() ?? 0 }
    check(sum == count * (count - 1) / 2)
  }

  private func launches(_ count: Int) throws {
    try runBlocking {
      let ended = Tally()
      for start in stride(from: 0, to: count, by: 1000) {
        for _ in start..<min(start + 1000, count) { launch { ended.count += 1 } }
        try Coroutine.yield()
      }
      check(ended.count == count)
    }
  }

  private func joins(_ count: Int) throws {
    try runBlocking {
      var sum = 0
      for number in 0..<count { sum += try launch { number }.value() }
      check(sum == count * (count - 1) / 2)
    }
  }

  private func sends(_ count: Int, capacity: Int) throws {
    try runBlocking {
      let numbers = Channel<Int>(capacity: capacity)
      launch {
        for number in 0..<count { try numbers.send(number) }
        numbers.close()
      }
      var sum = 0
      for number in numbers { sum += number }
      check(sum == count * (count - 1) / 2)
    }
  }

  private func sendsAcross(_ count: Int, capacity: Int) throws {
    let other = SerialScheduler(name: "producer")
    try runBlocking {
      let numbers = Channel<Int>(capacity: capacity)
      launch(on: other) {
        for number in 0..<count { try numbers.send(number) }
        numbers.close()
      }
      var sum = 0
      for number in numbers { sum += number }
      check(sum == count * (count - 1) / 2)
    }
  }

  private func promises(_ count: Int) throws {
    try runBlocking {
      var sum = 0
      for number in 0..<count {
        let promise = Promise<Int>()
        promise.fulfill(number)
        sum += try promise.await()
      }
      check(sum == count * (count - 1) / 2)
    }
  }

  private func parkedPromises(_ count: Int) throws {
    try runBlocking {
      let promises = Channel<Promise<Int>>()
      launch { for promise in promises { promise.fulfill(1) } }
      var sum = 0
      for _ in 0..<count {
        let promise = Promise<Int>()
        try promises.send(promise)
        sum += try promise.await()
      }
      promises.close()
      check(sum == count)
    }
  }

  private func sleeps(_ count: Int) throws {
    try runBlocking {
      for start in stride(from: 0, to: count, by: 1000) {
        try withCoroutineScope { scope in
          for _ in start..<min(start + 1000, count) {
            scope.launch { try Coroutine.sleep(for: .microseconds(1)) }
          }
        }
      }
    }
  }
}

/// A count that coroutines of one loop share.
final class Tally {
  var count = 0
}

/// A benchmark that computes nonsense measures nonsense.
func check(_ holds: Bool, _ what: @autoclosure () -> String = "a benchmark came to a wrong result")
{
  // Not a precondition, whose text is not printed where it is optimized.
  if !holds { fatalError(what()) }
}
