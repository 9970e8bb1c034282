// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// Squares what comes, so many at a time; ends when there is no more.
func squares(of numbers: ReceiveEnd<Int>, workers: Int) -> ReceiveEnd<Int> {
  let results = Channel<Int>(name: "squares")
  launch {
    defer { results.close() }
    try withCoroutineScope { scope in
      for _ in 1...workers {
        scope.launch { for number in numbers { try results.send(number * number) } }
      }
    }
  }
  return results.receiveEnd
}

try runBlocking {
  let numbers = Channel<Int>(capacity: 4)  // the producer is never more than four ahead
  launch {
    defer { numbers.close() }
    for number in 1...10 { try numbers.send(number) }
  }
  print(squares(of: numbers.receiveEnd, workers: 3).reduce(0, +))  // prints 385

  // All that is there, or so many at once.
  let words = Channel<String>(capacity: 8)
  for word in ["a", "b", "c", "d"] { words.sendIfReady(word) }
  print(try words.receive(count: 2))  // prints ["a", "b"]
  print(try words.receiveAll())  // prints ["c", "d"]

  // What could not be delivered comes back.
  let sender = launch { try words.send("x") { print("back:", $0) } }
  try sender.join()
  words.close()
  print(words.sendIfReady("late"))  // prints closed("late")
  print(try words.receive())  // prints x
  do {
    try words.send("late") { print("back:", $0) }  // prints back: late
  } catch ChannelError.closed { print("closed") }  // prints closed
}
