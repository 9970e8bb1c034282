// SPDX-License-Identifier: Apache-2.0

import harness

let crowds = Shape.crowds.map { size in
  Row(task: "crowd-\(size)", operations: max(1_000_000, 10 * size)) {
    await Crowd(size).run(max(1, $0 / size))
  }
}

/// So many tasks that yield in turn; an actor keeps them on one executor.
private actor Crowd {
  private let size: Int
  private var begun = 0
  private var yields = 0
  private var stopwatch = Stopwatch()

  init(_ size: Int) { self.size = size }

  /// From when all have begun until all have ended.
  func run(_ rounds: Int) async -> Outcome {
    let members = (0..<size).map { _ in Task { await self.take(rounds) } }
    for member in members { await member.value }
    var outcome = Outcome(yields)
    outcome.elapsed = stopwatch.elapsed
    return outcome
  }

  private func take(_ rounds: Int) async {
    begun += 1
    if begun == size { stopwatch = Stopwatch() }
    for _ in 0..<rounds {
      await Task.yield()
      yields += 1
    }
  }
}

let grid = Shape.grid.map { producers in
  Row(task: "grid-\(producers)x1") { await send($0, producers) }
}

/// So many producers, who never wait, and one consumer: more a stream does not allow.
private func send(_ count: Int, _ producers: Int) async -> Int {
  let (numbers, send) = AsyncStream.makeStream(of: Int.self)
  for producer in 0..<producers {
    Task {
      for number in stride(from: producer, to: count, by: producers) { send.yield(number) }
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
