// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Rule 4: a select is fair among the clauses that are ready.
@Suite struct SelectFairnessTests {
  /// How often each of the channels with a number in `ready` was chosen among `count` clauses.
  private func wins(of ready: Set<Int>, rounds: Int) throws -> [Int] {
    try runBlocking {
      var wins = [0, 0, 0, 0]
      let channels = (0..<4).map { _ in Channel<Int>(capacity: 1) }
      for index in ready { try channels[index].send(index) }
      for _ in 0..<rounds {
        let winner = try select {
          Receive(from: channels[0]) { $0 }
          Receive(from: channels[1]) { $0 }
          Receive(from: channels[2]) { $0 }
          Receive(from: channels[3]) { $0 }
        }
        wins[winner] += 1
        try channels[winner].send(winner)
      }
      return wins
    }
  }

  @Test(arguments: [
    [0, 1, 2, 3], [0, 1, 2], [1, 2, 3], [0, 2, 3], [0, 1], [1, 2], [0, 3], [0, 2], [1, 3],
  ])
  func `each ready clause wins its share (rule 4)`(ready: [Int]) throws {
    let wins = try wins(of: Set(ready), rounds: 10_000)
    let share = 10_000 / ready.count
    for index in 0..<4 {
      if ready.contains(index) {
        // A binomial deviation of more than 10 % of 10,000 does not happen.
        #expect(abs(wins[index] - share) < 1_000, "wins \(wins)")
      } else {
        #expect(wins[index] == 0)
      }
    }
  }

  @Test func `sends and receives have the same chance (rule 4)`() throws {
    try runBlocking {
      let (full, empty) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
      var sends = 0
      try full.send(1)
      for _ in 0..<10_000 {
        try select {
          Receive(from: full) { try full.send($0) }
          Send(1, to: empty) {
            sends += 1
            _ = try empty.receive()
          }
        }
      }
      #expect((4_000...6_000).contains(sends))
    }
  }

  @Test func `a clause between ready ones is not starved by a storm`() throws {
    try runBlocking {
      let (busy, quiet) = (Channel<Int>(capacity: .unbounded), Channel<Int>(capacity: 1))
      for value in 0..<2_000 { try busy.send(value) }
      try quiet.send(-1)
      var rounds = 0
      var isServed = false
      while !isServed {
        rounds += 1
        isServed = try select {
          Receive(from: busy) { _ in false }
          Receive(from: quiet) { _ in true }
        }
      }
      #expect(rounds < 100)
    }
  }
}
