// SPDX-License-Identifier: Apache-2.0

import harness

let actors = [Row(task: "ask", ask), Row(task: "big", big)]

private actor Counter {
  private var total = 0

  func add(_ number: Int) -> Int {
    total += number
    return total
  }
}

private func ask(_ count: Int) async -> Int {
  let counter = Counter()
  var last = 0
  for _ in 0..<count { last = await counter.add(1) }
  return last
}

private actor Player {
  private(set) var handled = 0

  /// Returning is the pong.
  func ping() { handled += 1 }
}

private func big(_ count: Int) async -> Int {
  let players = (0..<Shape.bigActors).map { _ in Player() }
  await withDiscardingTaskGroup { group in
    for number in 0..<Shape.bigActors {
      group.addTask {
        var random = Xorshift(seed: number)
        let pings = count / Shape.bigActors + (number < count % Shape.bigActors ? 1 : 0)
        for _ in 0..<pings {
          await players[Int(random.next() % UInt64(Shape.bigActors))].ping()
        }
      }
    }
  }
  var handled = 0
  for player in players { handled += await player.handled }
  return handled
}
