// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let channels = [
  Row("handover") { try send($0, capacity: 0) },
  Row("buffered128") { try send($0, capacity: 128) },
  Row("fan-in", fanIn), Row("fan-out", fanOut), Row("mutex", mutex), Row("thread-ring", threadRing),
  Row("chameneos", chameneos),
]

private func send(_ count: Int, capacity: Int) throws -> Int {
  try runBlocking {
    let numbers = Channel<Int>(capacity: capacity)
    launch {
      for number in 0..<count { try numbers.send(number) }
      numbers.close()
    }
    var sum = 0
    for number in numbers { sum += number }
    return sum
  }
}

private func fanIn(_ count: Int) throws -> Int {
  try runBlocking {
    let numbers = Channel<Int>()
    for producer in 0..<Shape.fan {
      launch {
        for number in stride(from: producer, to: count, by: Shape.fan) { try numbers.send(number) }
      }
    }
    var sum = 0
    for _ in 0..<count { sum += try numbers.receive() }
    return sum
  }
}

private func fanOut(_ count: Int) throws -> Int {
  try runBlocking {
    let numbers = Channel<Int>()
    var sum = 0
    let consumers = (0..<Shape.fan).map { _ in
      launch { for number in numbers { sum += number } }
    }
    for number in 0..<count { try numbers.send(number) }
    numbers.close()
    for consumer in consumers { try consumer.join() }
    return sum
  }
}

/// Everybody yields with the mutex held, so that it always has waiters.
private func mutex(_ count: Int) throws -> Int {
  try runBlocking {
    let mutex = CoroutineMutex()
    var total = 0
    let contenders = (0..<Shape.contenders).map { contender in
      launch {
        for _ in stride(from: contender, to: count, by: Shape.contenders) {
          try mutex.withLock {
            total += 1
            try Coroutine.yield()
          }
        }
      }
    }
    for contender in contenders { try contender.join() }
    return total
  }
}

private func threadRing(_ hops: Int) throws -> Int {
  try runBlocking {
    let links = (0..<Shape.ring).map { _ in Channel<Int>() }
    let last = Promise<Int>()
    for number in 0..<Shape.ring {
      launch {
        let next = links[(number + 1) % Shape.ring]
        for token in links[number] {
          if token > 0 { try next.send(token - 1) } else { last.fulfill(number) }
        }
      }
    }
    try links[0].send(hops)
    let winner = try last.await()
    for link in links { link.close() }
    return winner
  }
}

private struct Visit {
  let colour: Int
  let answer: Channel<Int>
}

private func chameneos(_ meetings: Int) throws -> Int {
  try runBlocking {
    let mall = Channel<Visit>()
    let creatures = (0..<Shape.creatures).map { number in
      launch {
        let answer = Channel<Int>()
        var (colour, met) = (number % 3, 0)
        while true {
          try mall.send(Visit(colour: colour, answer: answer))
          let other = try answer.receive()
          if other < 0 { return met }
          // Two of one colour keep it; two of different colours take the third.
          if other != colour { colour = 3 - colour - other }
          met += 1
        }
      }
    }
    for _ in 0..<meetings {
      let (one, other) = (try mall.receive(), try mall.receive())
      try one.answer.send(other.colour)
      try other.answer.send(one.colour)
    }
    for _ in 0..<Shape.creatures { try mall.receive().answer.send(-1) }
    return try creatures.map { try $0.value() }.reduce(0, +)
  }
}
