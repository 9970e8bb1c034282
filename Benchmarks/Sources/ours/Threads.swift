// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let threads = [Row("handover-2", handover), Row("buffered128-4x4", fourByFour)]

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
