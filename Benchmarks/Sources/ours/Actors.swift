// SPDX-License-Identifier: Apache-2.0

import Coroutines
import harness

let actors = [Row("ask", ask), Row("big", big)]

private enum Counter {
  case add(Int, Reply<Int>)
}

private func ask(_ count: Int) throws -> Int {
  try runBlocking {
    let counter = MessageActor<Counter> { mailbox in
      var total = 0
      for case .add(let number, let reply) in mailbox {
        total += number
        reply(total)
      }
    }
    var last = 0
    for _ in 0..<count { last = try counter.ask { .add(1, $0) }.await() }
    counter.stop()
    return last
  }
}

private enum Ball {
  case start([MessageActor<Ball>], pings: Int)
  case ping(from: Int)
  case pong
}

/// A hundred actors, each of which pings another one chosen at random, and again when the pong comes.
private func big(_ count: Int) throws -> Int {
  try runBlocking {
    let ended = CoroutineWaitGroup(count: Shape.bigActors)
    var handled = 0
    let players = (0..<Shape.bigActors).map { number in
      MessageActor<Ball> { mailbox in
        var others: [MessageActor<Ball>] = []
        var left = 0
        var random = Xorshift(seed: number)
        func pingNext() throws {
          if left == 0 { return ended.done() }
          left -= 1
          let target = Int(random.next() % UInt64(Shape.bigActors))
          try others[target].tell(.ping(from: number))
        }
        for message in mailbox {
          switch message {
          case .start(let players, let pings):
            others = players
            left = pings
            try pingNext()
          case .ping(let sender):
            handled += 1
            try others[sender].tell(.pong)
          case .pong: try pingNext()
          }
        }
      }
    }
    for (number, player) in players.enumerated() {
      let pings = count / Shape.bigActors + (number < count % Shape.bigActors ? 1 : 0)
      try player.tell(.start(players, pings: pings))
    }
    try ended.wait()
    for player in players { player.stop() }
    return handled
  }
}
