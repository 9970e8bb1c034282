// SPDX-License-Identifier: Apache-2.0

import Coroutines

func produce(_ lines: SendEnd<String>) throws {
  defer { lines.close() }
  for line in ["one", "two", "three"] { try lines.send(line) }
}

try runBlocking {
  let lines = Channel<String>(capacity: 2)
  launch { try produce(lines.sendEnd) }
  print(try lines.receive())  // prints one
  for line in lines { print(line) }  // prints two, then three

  let latest = Channel<Int>(capacity: .conflated)
  for n in 1...5 { latest.sendIfReady(n) }
  print(latest.receiveIfReady())  // prints received(5)
  print(latest.receiveIfReady())  // prints empty
}
