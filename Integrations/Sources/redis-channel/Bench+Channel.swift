// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesRedis

extension Bench {
  func sending(_ channel: RemoteChannel<Message>) throws -> Times {
    try .of { times in
      for number in 0..<count { try times.measure { try channel.send(Message(number: number)) } }
    }
  }

  func sendingMany(_ channel: RemoteChannel<Message>) throws -> Times {
    try .of { times in
      let all = try withCoroutineScope { scope in
        let senders = (0..<crowd).map { _ in
          scope.launch {
            var times = Times()
            for number in 0..<count / crowd {
              try times.measure { try channel.send(Message(number: number)) }
            }
            return times
          }
        }
        return try senders.flatMap { try $0.value().each }
      }
      times.each = all
    }
  }

  func receiving(_ channel: RemoteChannel<Message>) throws -> Times {
    _ = try sendingMany(channel)
    return try .of { times in
      for _ in 0..<count / crowd * crowd { try times.measure { try channel.receive { _ in } } }
    }
  }

  func receivingMany(_ channel: RemoteChannel<Message>) throws -> Times {
    _ = try sendingMany(channel)
    return try .of { times in
      var left = count / crowd * crowd
      while left > 0 {
        try times.measure {
          let deliveries = try channel.receive(upTo: 100)
          left -= try channel.acknowledge(deliveries)
        }
      }
    }
  }

  /// The time from before a send until its receiver, who has been waiting, has the value.
  func handingOver(_ channel: RemoteChannel<Message>) throws -> Times {
    let arrived = Channel<ContinuousClock.Instant>()
    return try withCoroutineScope { scope in
      scope.launch {
        for _ in 0..<count {
          let delivery = try channel.receive()
          let moment = ContinuousClock.now
          try delivery.acknowledge()
          try arrived.send(moment)
        }
      }
      return try .of { times in
        for number in 0..<count {
          let start = ContinuousClock.now
          try channel.send(Message(number: number))
          times.each.append(try arrived.receive() - start)
        }
      }
    }
  }
}
