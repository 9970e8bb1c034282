// SPDX-License-Identifier: Apache-2.0

import harness

let launching = [
  Row(task: "launch-join", joins), Row(task: "launch", launches),
  Row(task: "scope", scopes), Row(task: "launch-2", launches),
  Row(task: "launch-pool", fromOutside),
  Row(task: "skynet", operations: 1_000_000, warmsUp: true) { Outcome(await skynet($0)) },
  Row(task: "skynet-2", operations: 1_000_000, warmsUp: true) { Outcome(await skynet($0)) },
]

private func joins(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum += await Task { number }.value }
  return sum
}

private func launches(_ count: Int) async -> Int {
  for start in stride(from: 0, to: count, by: 1000) {
    await withDiscardingTaskGroup { group in
      for _ in start..<min(start + 1000, count) { group.addTask {} }
    }
  }
  // The group has waited for them.
  return count
}

private func fromOutside(_ count: Int) async -> Int {
  var sum = 0
  for start in stride(from: 0, to: count, by: Shape.batch) {
    let launched = (start..<min(start + Shape.batch, count)).map { number in Task { number } }
    for task in launched { sum += await task.value }
  }
  return sum
}

private func scopes(_ count: Int) async -> Int {
  var sum = 0
  for start in stride(from: 0, to: count, by: Shape.children) {
    sum += await withTaskGroup(of: Int.self) { group in
      for number in start..<min(start + Shape.children, count) {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
  }
  return sum
}

private func skynet(_ leaves: Int) async -> Int {
  var size = 1
  while size * 10 <= leaves { size *= 10 }
  return await skynet(first: 0, size)
}

private func skynet(first: Int, _ size: Int) async -> Int {
  if size == 1 { return first }
  let part = size / 10
  return await withTaskGroup(of: Int.self) { group in
    for number in 0..<10 {
      group.addTask { await skynet(first: first + number * part, part) }
    }
    return await group.reduce(0, +)
  }
}
