// SPDX-License-Identifier: Apache-2.0

import harness

let suspending = [
  Row(task: "yield", yields), Row(task: "generator", generatorValues),
  Row(task: "mutex", exclusion),
]

/// What the two tasks of a row share; an actor keeps them on one executor.
private actor Pair {
  private(set) var rounds = 0
  private var isOver = false

  func spin() async {
    while !isOver {
      rounds += 1
      await Task.yield()
    }
  }

  func yield(_ count: Int) async {
    for _ in 0..<count { await Task.yield() }
    isOver = true
  }
}

private func yields(_ count: Int) async -> Int {
  let pair = Pair()
  async let other: Void = pair.spin()
  await pair.yield(count / 2)
  await other
  // Each side has had its turns, whichever began.
  return count / 2
}

/// Where a stream has got to.
private final class Position: @unchecked Sendable {
  // SAFETY: only the one consumer asks.
  var next = 0
}

/// The stream asks for each value when it is wanted.
private func generatorValues(_ count: Int) async -> Int {
  let position = Position()
  let numbers = AsyncStream<Int> {
    guard position.next < count else { return nil }
    defer { position.next += 1 }
    return position.next
  }
  var sum = 0
  for await number in numbers { sum += number }
  return sum
}

/// A lock in the manner of actors: those who have to wait are continuations.
private actor AsyncMutex {
  private var isLocked = false
  private var waiters: [UnsafeContinuation<Void, Never>] = []
  private var first = 0
  var total = 0

  func lock() async {
    if !isLocked {
      isLocked = true
      return
    }
    await withUnsafeContinuation { waiters.append($0) }
  }

  func unlock() {
    guard first < waiters.count else {
      isLocked = false
      return
    }
    let next = waiters[first]
    first += 1
    if first == 64 {
      waiters.removeFirst(first)
      first = 0
    }
    next.resume()
  }

  func add() { total += 1 }
}

private func exclusion(_ count: Int) async -> Int {
  let mutex = AsyncMutex()
  await withDiscardingTaskGroup { group in
    for contender in 0..<Shape.contenders {
      group.addTask {
        for _ in stride(from: contender, to: count, by: Shape.contenders) {
          await mutex.lock()
          await mutex.add()
          await Task.yield()
          await mutex.unlock()
        }
      }
    }
  }
  return await mutex.total
}
