// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What comes through two channels, until both are closed.
func merge(_ first: Channel<Int>, _ second: Channel<Int>) throws -> [Int] {
  var (a, b, open, values) = (first, second, 2, [Int]())
  /// Puts an empty channel in the place of a closed one: nobody else uses it, so it is never ready.
  func drop(_ channel: inout Channel<Int>) {
    channel = Channel()
    open -= 1
  }
  while open > 0 {
    try select {
      Receive(from: a, whenClosed: { drop(&a) }) { values.append($0) }
      Receive(from: b, whenClosed: { drop(&b) }) { values.append($0) }
    }
  }
  return values
}

try runBlocking {
  let (odd, even) = (Channel<Int>(), Channel<Int>())
  launch {
    defer { odd.close() }
    for n in [1, 3, 5] { try odd.send(n) }
  }
  launch {
    defer { even.close() }
    for n in [2, 4] { try even.send(n) }
  }
  print(try merge(odd, even).sorted())  // prints [1, 2, 3, 4, 5]
}
