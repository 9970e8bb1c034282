// SPDX-License-Identifier: Apache-2.0

import Coroutines

try runBlocking {
  let squares = Generator<Int> { yield in for n in 1... { try yield(n * n) } }
  let numbers = Channel<Int>()
  launch {
    for square in squares.prefix(3) { try numbers.send(square) }
    numbers.close()
  }
  for number in numbers { print(number) }  // prints 1, then 4, then 9
  let answer = Promise { try offload { 6 * 7 } }
  print(try answer.await())  // prints 42
  do {
    try withTimeout(.milliseconds(20)) { try Coroutine.sleep(for: .seconds(60)) }
  } catch is TimeoutError { print("too late") }  // prints too late
}
