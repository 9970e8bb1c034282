// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let launching = [
  Row("launch-join", joins), Row("launch", launches), Row("launch-own-pool", spread),
  Row("scope", scopes),
  Row("skynet", operations: 1_000_000, warmsUp: true) { Outcome(try skynet($0)) },
]

private func joins(_ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    for number in 0..<count { sum += try launch { number }.value() }
    return sum
  }
}

/// A number that coroutines of one loop share.
///
/// In place of a captured variable, at each change of which Swift checks that nobody else has access to it: that is no
/// part of a launch.
private final class Count {
  var value = 0
}

private func launches(_ count: Int) throws -> Int {
  try runBlocking {
    let ended = Count()
    for start in stride(from: 0, to: count, by: 1000) {
      for _ in start..<min(start + 1000, count) { launch { ended.value += 1 } }
      // Behind all of them.
      try Coroutine.yield()
    }
    return ended.value
  }
}

/// On a pool of one thread by a coroutine of it, ten at a time.
private func spread(_ count: Int) throws -> Int {
  let pool = PoolScheduler(threads: 1)
  return try runBlocking {
    try launch(on: pool) {
      var sum = 0
      for start in stride(from: 0, to: count, by: 10) {
        let children = (start..<min(start + 10, count)).map { number in
          launch(on: .current) { number }
        }
        for child in children { sum += try child.value() }
      }
      return sum
    }.value()
  }
}

private func scopes(_ count: Int) throws -> Int {
  try runBlocking {
    var sum = 0
    for start in stride(from: 0, to: count, by: Shape.children) {
      sum += try withCoroutineScope { scope in
        let children = (start..<min(start + Shape.children, count)).map { number in
          scope.launch {
            try Coroutine.yield()
            return number
          }
        }
        return try children.reduce(0) { try $0 + $1.value() }
      }
    }
    return sum
  }
}

private func skynet(_ leaves: Int) throws -> Int {
  var size = 1
  while size * 10 <= leaves { size *= 10 }
  return try runBlocking { try skynet(first: 0, size) }
}

/// Each child begins at once, so that few of them are alive at any time.
private func skynet(first: Int, _ size: Int) throws -> Int {
  if size == 1 { return first }
  let part = size / 10
  let children = (0..<10).map { number in
    launch(stackSize: .small, start: .immediately) {
      try skynet(first: first + number * part, part)
    }
  }
  var sum = 0
  for child in children { sum += try child.value() }
  return sum
}
