// SPDX-License-Identifier: Apache-2.0

import harness

let streams = [
  Row(task: "handover", handover), Row(task: "handover-pair", handover),
  Row(task: "buffered128", buffered),
  Row(task: "fan-in", fanIn),
  Row(task: "buffered128-4x4", operations: 1_000_000, warmsUp: true, fourByOne),
  Row(task: "workers", jobs),
  Row(task: "thread-ring", threadRing), Row(task: "chameneos", chameneos),
]

/// A stream has no unbuffered hand-over: each value is answered on a second stream.
private func handover(_ count: Int) async -> Int {
  let (numbers, send) = AsyncStream.makeStream(of: Int.self)
  let (answers, answer) = AsyncStream.makeStream(of: Void.self)
  let consumer = Task {
    var sum = 0
    for await number in numbers {
      sum += number
      answer.yield(())
    }
    return sum
  }
  var iterator = answers.makeAsyncIterator()
  for number in 0..<count {
    send.yield(number)
    _ = await iterator.next()
  }
  send.finish()
  return await consumer.value
}

/// A stream never makes its producer wait: this one keeps everything.
private func buffered(_ count: Int) async -> Int {
  let (numbers, send) = AsyncStream.makeStream(of: Int.self)
  Task {
    for number in 0..<count { send.yield(number) }
    send.finish()
  }
  var sum = 0
  for await number in numbers { sum += number }
  return sum
}

/// A stream has one consumer: each worker has its own, and they take turns.
private func jobs(_ count: Int) async -> Int {
  let streams = (0..<Shape.workers).map { _ in AsyncStream.makeStream(of: Int.self) }
  let (began, begin) = AsyncStream.makeStream(of: Void.self)
  let workers = streams.map { numbers, _ in
    Task {
      begin.yield(())
      var sum = 0
      for await number in numbers { sum += Xorshift.job(number) }
      return sum
    }
  }
  var iterator = began.makeAsyncIterator()
  for _ in workers { _ = await iterator.next() }
  for number in 0..<count { streams[number % Shape.workers].continuation.yield(number) }
  for (_, continuation) in streams { continuation.finish() }
  var sum = 0
  for worker in workers { sum += await worker.value }
  return sum
}

private func fanIn(_ count: Int) async -> Int {
  let (numbers, send) = AsyncStream.makeStream(of: Int.self)
  for producer in 0..<Shape.fan {
    Task {
      for number in stride(from: producer, to: count, by: Shape.fan) { send.yield(number) }
    }
  }
  var (sum, left) = (0, count)
  for await number in numbers {
    sum += number
    left -= 1
    if left == 0 { break }
  }
  return sum
}

private func fourByOne(_ count: Int) async -> Outcome {
  let (numbers, send) = AsyncStream.makeStream(of: Int.self)
  for producer in 0..<4 {
    Task {
      for number in stride(from: producer, to: count, by: 4) { send.yield(number) }
    }
  }
  var (sum, left) = (0, count)
  for await number in numbers {
    sum += number
    left -= 1
    if left == 0 { break }
  }
  var outcome = Outcome(sum)
  outcome.note = "one consumer; producers never wait"
  return outcome
}

private func threadRing(_ hops: Int) async -> Int {
  let links = (0..<Shape.ring).map { _ in AsyncStream.makeStream(of: Int.self) }
  let (ends, end) = AsyncStream.makeStream(of: Int.self)
  for number in 0..<Shape.ring {
    let tokens = links[number].stream
    let next = links[(number + 1) % Shape.ring].continuation
    Task {
      for await token in tokens {
        if token > 0 { next.yield(token - 1) } else { end.yield(number) }
      }
    }
  }
  links[0].continuation.yield(hops)
  var iterator = ends.makeAsyncIterator()
  let winner = await iterator.next() ?? -1
  for link in links { link.continuation.finish() }
  return winner
}

/// Those who meet are two calls of one actor; the first waits for the second.
private actor Mall {
  private var left: Int
  private var waiting: (colour: Int, continuation: UnsafeContinuation<Int?, Never>)?

  init(meetings: Int) { left = meetings }

  func meet(_ colour: Int) async -> Int? {
    if left == 0 {
      waiting?.continuation.resume(returning: nil)
      waiting = nil
      return nil
    }
    if let other = waiting {
      waiting = nil
      left -= 1
      other.continuation.resume(returning: colour)
      return other.colour
    }
    return await withUnsafeContinuation { waiting = (colour, $0) }
  }
}

private func chameneos(_ meetings: Int) async -> Int {
  let mall = Mall(meetings: meetings)
  return await withTaskGroup(of: Int.self) { group in
    for creature in 0..<Shape.creatures {
      group.addTask {
        var (colour, met) = (creature % 3, 0)
        while let other = await mall.meet(colour) {
          if other != colour { colour = 3 - colour - other }
          met += 1
        }
        return met
      }
    }
    return await group.reduce(0, +)
  }
}
