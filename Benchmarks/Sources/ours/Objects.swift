// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

/// What values cost that are counted themselves, and values by callbacks.
///
/// For counts only: no peer has such a row. Over a channel a value takes one retain and one release: the sender keeps what it
/// sends, and the receiver ends what it got. In a promise it stays, so who awaits it gets another reference. One that is
/// made where it is told or yielded takes no retain.
let objects = [
  Row("object-handover") { try sendObjects($0, capacity: 0) },
  Row("object-buffered128") { try sendObjects($0, capacity: 128) },
  Row("object-tell", tellObjects), Row("object-event", tellEventsOfObjects),
  Row("object-generator", yieldObjects), Row("object-promise", settleObjects),
  Row("callbacks", callBack), Row("events", tellEvents), Row("promise-fulfilled", fulfilled),
]

private final class Number: Sendable {
  let value: Int

  init(_ value: Int) { self.value = value }
}

private func sendObjects(_ count: Int, capacity: Int) throws -> Int {
  try runBlocking {
    let numbers = Channel<Number>(capacity: capacity)
    let number = Number(1)
    launch {
      for _ in 0..<count { try numbers.send(number) }
      numbers.close()
    }
    var sum = 0
    for number in numbers { sum += number.value }
    return sum
  }
}

private func tellObjects(_ count: Int) throws -> Int {
  try runBlocking {
    let sum = Sum()
    let adder = MessageActor<Number>(capacity: .failing(128)) { messages in
      for number in messages { sum.value += number.value }
    }
    for number in 0..<count {
      try adder.tell(Number(number))
      // Before the mailbox is full.
      if number % 64 == 63 { try Coroutine.yield() }
    }
    try adder.stopAndJoin()
    return sum.value
  }
}

private final class Sum: @unchecked Sendable {
  // SAFETY: an actor's own until it has been joined.
  var value = 0
}

private func tellEventsOfObjects(_ count: Int) throws -> Int {
  try runBlocking {
    let numbers = Generator<Number>.events { events in
      for number in 0..<count { events.send(Number(number)) }
      events.finish()
      return {}
    }
    return numbers.reduce(0) { $0 + $1.value }
  }
}

/// Each is made where it is yielded, so that nobody else has it.
private func yieldObjects(_ count: Int) -> Int {
  let numbers = Generator<Number> { yield in
    for number in 0..<count { try yield(Number(number)) }
  }
  return numbers.reduce(0) { $0 + $1.value }
}

private func settleObjects(_ count: Int) throws -> Int {
  try runBlocking {
    let number = Number(1)
    var sum = 0
    for _ in 0..<count {
      let promise = Promise<Number>()
      promise.fulfill(number)
      sum += try promise.await().value
    }
    return sum
  }
}

private func callBack(_ count: Int) -> Int {
  let numbers = Generator<Int>.callbacks { emit in
    for number in 0..<count where !emit(number) { break }
  }
  return numbers.reduce(0, +)
}

private func tellEvents(_ count: Int) throws -> Int {
  try runBlocking {
    let numbers = Generator<Int>.events { events in
      for number in 0..<count { events.send(number) }
      events.finish()
      return {}
    }
    return numbers.reduce(0, +)
  }
}

private func fulfilled(_ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    for number in 0..<count { sum += try Promise<Int>.fulfilled(number).await() }
    return sum
  }
}
