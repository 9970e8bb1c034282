// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Synchronization
import harness

let threads = [
  Row("handover-2", handover), Row("handover-pair", pair), Row("buffered128-4x4", fourByFour),
  Row("launch-2", launches), Row("launch-pool", fromOutside), Row("reply-2", replies),
  Row("workers", jobs),
  Row("offload", offloads),
  Row("skynet-2", operations: 1_000_000, warmsUp: true) { Outcome(try skynet($0)) },
]

private func handover(_ count: Int) throws -> Int {
  let other = SerialScheduler(name: "producer")
  return try runBlocking {
    let numbers = Channel<Int>()
    launch(on: other) {
      for number in 0..<count { try numbers.send(number) }
      numbers.close()
    }
    var sum = 0
    for number in numbers { sum += number }
    return sum
  }
}

/// By one of the two.
private func launches(_ count: Int) throws -> Int {
  let pool = PoolScheduler(threads: 2)
  return try runBlocking {
    try launch(on: pool) {
      let ended = Tally()
      for start in stride(from: 0, to: count, by: 1000) {
        try withCoroutineScope { scope in
          for _ in start..<min(start + 1000, count) {
            scope.launch(on: .current) { _ = ended.count.wrappingAdd(1, ordering: .relaxed) }
          }
        }
      }
      return ended.count.load(ordering: .relaxed)
    }.value()
  }
}

/// Workers that have begun before there is anything to do.
private func jobs(_ count: Int) throws -> Int {
  let pool = PoolScheduler(threads: 2)
  return try runBlocking {
    let (numbers, began) = (Channel<Int>(capacity: 128), Channel<Int>())
    let workers = (0..<Shape.workers).map { worker in
      launch(on: pool) {
        try began.send(worker)
        var sum = 0
        for number in numbers { sum += Xorshift.job(number) }
        return sum
      }
    }
    for _ in workers { _ = try began.receive() }
    try launch(on: pool) {
      for number in 0..<count { try numbers.send(number) }
      numbers.close()
    }
    .join()
    return try workers.map { try $0.value() }.reduce(0, +)
  }
}

/// By a thread that is none of theirs.
private func fromOutside(_ count: Int) throws -> Int {
  let pool = PoolScheduler(threads: 2)
  return try runBlocking {
    var sum = 0
    for start in stride(from: 0, to: count, by: Shape.batch) {
      let launched = (start..<min(start + Shape.batch, count)).map { number in
        launch(on: pool) { number }
      }
      for coroutine in launched { sum += try coroutine.value() }
    }
    return sum
  }
}

private final class Tally: Sendable {
  let count = Atomic(0)
}

/// Each question brings a channel for its answer.
private func replies(_ count: Int) throws -> Int {
  let other = SerialScheduler(name: "server")
  return try runBlocking {
    let questions = Channel<(Int, Channel<Int>)>(capacity: 128)
    launch(on: other) {
      for (number, answer) in questions { try answer.send(number + 1) }
    }
    let askers = (0..<Shape.askers).map { asker in
      launch {
        var sum = 0
        for number in stride(from: asker, to: count, by: Shape.askers) {
          let answer = Channel<Int>(capacity: 1)
          try questions.send((number, answer))
          sum += try answer.receive()
        }
        return sum
      }
    }
    let sum = try askers.reduce(0) { try $0 + $1.value() }
    questions.close()
    return sum
  }
}

/// By a thread for blocking work, one after the other.
private func offloads(_ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    for number in 0..<count { sum += try offload { number } }
    return sum
  }
}

/// Two producers and two consumers on each of two loops.
private func fourByFour(_ count: Int) throws -> Int {
  let other = SerialScheduler(name: "other")
  return try runBlocking {
    let numbers = Channel<Int>(capacity: 128)
    let here = Scheduler.current
    let consumers = (0..<4).map { consumer in
      launch(on: consumer % 2 == 0 ? here : other) {
        var sum = 0
        for number in numbers { sum += number }
        return sum
      }
    }
    let producers = (0..<4).map { producer in
      launch(on: producer % 2 == 0 ? here : other) {
        for number in stride(from: producer, to: count, by: 4) { try numbers.send(number) }
      }
    }
    for producer in producers { try producer.join() }
    numbers.close()
    return try consumers.map { try $0.value() }.reduce(0, +)
  }
}

/// What belongs together is launched without naming the pool, and stays on one thread.
private func pair(_ count: Int) throws -> Int {
  let pool = PoolScheduler(threads: 2)
  return try runBlocking {
    try launch(on: pool) {
      let numbers = Channel<Int>()
      launch {
        for number in 0..<count { try numbers.send(number) }
        numbers.close()
      }
      var sum = 0
      for number in numbers { sum += number }
      return sum
    }.value()
  }
}

private func skynet(_ leaves: Int) throws -> Int {
  var size = 1
  while size * 10 <= leaves { size *= 10 }
  let pool = PoolScheduler(threads: 2)
  return try runBlocking { [size] in
    try launch(on: pool) { try spread(first: 0, size) }.value()
  }
}

/// On the pool, without a reference to it in each closure.
///
/// A child that is joined before it has started is started next.
private func spread(first: Int, _ size: Int) throws -> Int {
  if size == 1 { return first }
  let part = size / 10
  let children = (0..<10).map { number in
    launch(on: .current, stackSize: .small) {
      try spread(first: first + number * part, part)
    }
  }
  var sum = 0
  for child in children { sum += try child.value() }
  return sum
}
