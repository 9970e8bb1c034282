// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

/// A select of so many clauses that parks, and the send that wakes it.
let growthOfSelect = [
  Row("growth-select-2") { count in
    try parked(count, of: 2) { c in
      try select {
        Receive(from: c[0]) { $0 }
        Receive(from: c[1]) { $0 }
      }
    }
  },
  Row("growth-select-4") { count in
    try parked(count, of: 4) { c in
      try select {
        Receive(from: c[0]) { $0 }
        Receive(from: c[1]) { $0 }
        Receive(from: c[2]) { $0 }
        Receive(from: c[3]) { $0 }
      }
    }
  },
  Row("growth-select-8") { count in
    try parked(count, of: 8) { c in
      try select {
        Receive(from: c[0]) { $0 }
        Receive(from: c[1]) { $0 }
        Receive(from: c[2]) { $0 }
        Receive(from: c[3]) { $0 }
        Receive(from: c[4]) { $0 }
        Receive(from: c[5]) { $0 }
        Receive(from: c[6]) { $0 }
        Receive(from: c[7]) { $0 }
      }
    }
  },
  Row("growth-select-16") { count in
    try parked(count, of: 16) { c in
      try select {
        Receive(from: c[0]) { $0 }
        Receive(from: c[1]) { $0 }
        Receive(from: c[2]) { $0 }
        Receive(from: c[3]) { $0 }
        Receive(from: c[4]) { $0 }
        Receive(from: c[5]) { $0 }
        Receive(from: c[6]) { $0 }
        Receive(from: c[7]) { $0 }
        Receive(from: c[8]) { $0 }
        Receive(from: c[9]) { $0 }
        Receive(from: c[10]) { $0 }
        Receive(from: c[11]) { $0 }
        Receive(from: c[12]) { $0 }
        Receive(from: c[13]) { $0 }
        Receive(from: c[14]) { $0 }
        Receive(from: c[15]) { $0 }
      }
    }
  },
]

/// The channels take turns to be the one that is sent to, always after the select has parked.
private func parked(
  _ count: Int,
  of clauses: Int,
  _ receive: ([Channel<Int>]) throws -> Int
) throws -> Int {
  try withoutActuallyEscaping(receive) { receive in
    try runBlocking {
      let channels = (0..<clauses).map { _ in Channel<Int>() }
      launch {
        for number in 0..<count {
          channels[number % clauses].sendIfReady(number)
          try Coroutine.yield()
        }
      }
      var sum = 0
      for _ in 0..<count { sum += try receive(channels) }
      return sum
    }
  }
}
