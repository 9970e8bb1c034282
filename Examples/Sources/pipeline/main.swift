// SPDX-License-Identifier: Apache-2.0

// Shows: back-pressure. A fast producer is held by a slow consumer, through all the stages between them.
//
// Three stages, joined by channels with room for few elements. `send` parks while the channel is full, so a slow
// stage slows down everything before it, and what is under way stays small however long the input is. Without a
// limit on the channels nothing holds the producer, and all of the input lies in memory.
//
// Output:
//
//   channels of 4: 1000 orders delivered, never more than 11 under way
//     2 channels of 4, and one order in the hands of each of 3 stages
//   channels without limit: 1000 orders delivered, never more than 1000 under way

import Coroutines

/// How many orders have been begun and not been delivered: now, and at the worst moment.
struct Load {
  private(set) var now = 0
  private(set) var greatest = 0

  mutating func begin() {
    now += 1
    greatest = max(greatest, now)
  }

  mutating func end() { now -= 1 }
}

/// Takes, packs and delivers so many orders.
func run(orders: Int, capacity: ChannelCapacity) throws -> (delivered: Int, greatest: Int) {
  var load = Load()
  var delivered = 0
  try withCoroutineScope { scope in
    let taken = Channel<Int>(capacity: capacity, name: "taken")
    let packed = Channel<String>(capacity: capacity, name: "packed")

    scope.launch(name: "take") {
      defer { taken.close() }
      for order in 1...orders {
        load.begin()
        try taken.send(order)  // parks while nobody has room for one more
      }
    }
    scope.launch(name: "pack") {
      defer { packed.close() }
      for order in taken { try packed.send("parcel \(order)") }
    }
    scope.launch(name: "deliver") {
      for _ in packed {
        // Slow: everybody else could run many times.
        for _ in 1...10 { try Coroutine.yield() }
        load.end()
        delivered += 1
      }
    }
  }
  return (delivered, load.greatest)
}

try runBlocking {
  let held = try run(orders: 1000, capacity: 4)
  print("channels of 4: \(held.delivered) orders delivered,", terminator: " ")
  print("never more than \(held.greatest) under way")
  print("  2 channels of 4, and one order in the hands of each of 3 stages")
  let free = try run(orders: 1000, capacity: .unbounded)
  print("channels without limit: \(free.delivered) orders delivered,", terminator: " ")
  print("never more than \(free.greatest) under way")
}
