// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let promises = [Row("promise", settled), Row("promise-park", parked), Row("promise-chain", chain)]

private func settled(_ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    for number in 0..<count {
      let promise = Promise<Int>()
      promise.fulfill(number)
      sum += try promise.await()
    }
    return sum
  }
}

/// Where one coroutine leaves its promise for the other.
private final class Slot {
  var promise: Promise<Int>?
  var isOver = false
}

/// One makes a promise and parks; the other settles it and yields.
private func parked(_ count: Int) throws -> Int {
  try runBlocking {
    let slot = Slot()
    launch {
      var number = 0
      while !slot.isOver {
        if let promise = slot.promise {
          slot.promise = nil
          promise.fulfill(number)
          number += 1
        }
        try Coroutine.yield()
      }
    }
    var sum = 0
    for _ in 0..<count {
      let promise = Promise<Int>()
      slot.promise = promise
      sum += try promise.await()
    }
    slot.isOver = true
    return sum
  }
}

/// Chains of a thousand links, settled at their head.
private func chain(_ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    for start in stride(from: 0, to: count, by: Shape.chain) {
      let head = Promise<Int>()
      var last = head
      for _ in start..<min(start + Shape.chain, count) { last = last.then { $0 + 1 } }
      head.fulfill(0)
      sum += try last.await()
    }
    return sum
  }
}
