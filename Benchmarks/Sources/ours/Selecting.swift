// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let selecting = [
  Row("select4", selectOne), Row("select4-default", selectNone),
  Row("select64", selectMany),
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
private func selectMany(_ count: Int) throws -> Int {
  try runBlocking {
    let all = (0..<64).map { _ in Channel<Int>(capacity: 1) }
    var selector = Selector<Int>()
    for channel in all { selector.receive(from: channel) { $0 } }
    var sum = 0
    for number in 0..<count {
      all[number % 64].sendIfReady(number)
      sum += try selector.select()
    }
    return sum
  }
}
