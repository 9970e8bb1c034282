// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let selecting = [
  Row("select4", selectOne), Row("select4-default", selectNone),
  Row("select64", operations: 200_000, warmsUp: true, selectMany),
]

/// The four take turns to be the one that is ready.
private func selectOne(_ count: Int) throws -> Int {
  try runBlocking {
    let all = (0..<4).map { _ in Channel<Int>(capacity: 1) }
    let (a, b, c, d) = (all[0], all[1], all[2], all[3])
    var sum = 0
    for number in 0..<count {
      all[number % 4].sendIfReady(number)
      sum += try select {
        Receive(from: a) { $0 }
        Receive(from: b) { $0 }
        Receive(from: c) { $0 }
        Receive(from: d) { $0 }
      }
    }
    return sum
  }
}

private func selectNone(_ count: Int) throws -> Int {
  try runBlocking {
    let (a, b) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
    let (c, d) = (Channel<Int>(capacity: 1), Channel<Int>(capacity: 1))
    var none = 0
    for _ in 0..<count {
      none += try select {
        Receive(from: a) { $0 }
        Receive(from: b) { $0 }
        Receive(from: c) { $0 }
        Receive(from: d) { $0 }
        Default { 1 }
      }
    }
    return none
  }
}

/// As `selectOne`, of 64.
private func selectMany(_ count: Int) throws -> Outcome {
  try runBlocking(stackSize: .bytes(1 << 20)) {
    let all = (0..<64).map { _ in Channel<Int>(capacity: 1) }
    var sum = 0
    for number in 0..<count {
      all[number % 64].sendIfReady(number)
      sum += try select {
        four(all, 0)
        four(all, 4)
        four(all, 8)
        four(all, 12)
        four(all, 16)
        four(all, 20)
        four(all, 24)
        four(all, 28)
        four(all, 32)
        four(all, 36)
        four(all, 40)
        four(all, 44)
        four(all, 48)
        four(all, 52)
        four(all, 56)
        four(all, 60)
      }
    }
    var outcome = Outcome(sum)
    outcome.note = "the number of clauses stands in the program, in groups of four"
    return outcome
  }
}

private typealias Two = SelectPair<Receive<Int, Int>, Receive<Int, Int>>

private func four(_ channels: [Channel<Int>], _ first: Int) -> SelectPair<Two, Two> {
  SelectPair(
    SelectPair(
      Receive(from: channels[first]) { $0 },
      Receive(from: channels[first + 1]) { $0 }
    ),
    SelectPair(
      Receive(from: channels[first + 2]) { $0 },
      Receive(from: channels[first + 3]) { $0 }
    )
  )
}
