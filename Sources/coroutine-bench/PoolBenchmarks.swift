// SPDX-License-Identifier: Apache-2.0

import Coroutines

/// What runs on several threads.
extension Benchmarks {
  /// A tree of launches, ten under each, that adds up the numbers of its leaves.
  ///
  /// Skynet, by A. Temerev.
  func skynet(_ leaves: Int, threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    @Sendable func sum(_ first: Int, _ count: Int) throws -> Int {
      if count <= 1 { return first }
      let part = count / 10
      let children = (0..<10).map { index in
        launch(on: pool, stackSize: .small) { try sum(first + index * part, part) }
      }
      return try children.reduce(0) { try $0 + $1.value() }
    }
    let size = sequence(first: 1) { $0 * 10 }.prefix { $0 <= leaves }.reduce(1, max)
    let total = try runBlocking { try launch(on: pool) { try sum(0, size) }.value() }
    check(total == size * (size - 1) / 2)
  }

  /// A pair that talks on a pool of two threads.
  func pairOnPool(_ count: Int) throws {
    let pool = PoolScheduler(threads: 2)
    let total = try runBlocking {
      try launch(on: pool) {
        let numbers = Channel<Int>()
        launch {
          for number in 0..<count { try numbers.send(number) }
          numbers.close()
        }
        var sum = 0
        for number in numbers { sum += number }
        return sum
      }.value()
    }
    check(total == count * (count - 1) / 2)
  }

  /// Four producers and four consumers of one channel, two threads.
  func fourByFour(_ count: Int) throws {
    let pool = PoolScheduler(threads: 2)
    let total = try runBlocking {
      let numbers = Channel<Int>(capacity: 128)
      let part = count / 4
      let producers = (0..<4).map { index in
        launch(on: pool) {
          for number in 0..<part { try numbers.send(index * part + number) }
        }
      }
      let consumers = (0..<4).map { _ in
        launch(on: pool) {
          var sum = 0
          for number in numbers { sum += number }
          return sum
        }
      }
      for producer in producers { try producer.value() }
      numbers.close()
      return try consumers.reduce(0) { try $0 + $1.value() }
    }
    check(total == count / 4 * 4 * (count / 4 * 4 - 1) / 2)
  }

  /// Independent work of some microseconds a piece, launched by a coroutine of the pool that then waits for all.
  func pieces(_ count: Int, threads: Int) throws {
    let pool = PoolScheduler(threads: threads)
    try runBlocking {
      let sum = try launch(on: pool) {
        let works = (0..<count).map { seed in
          launch(on: pool) {
            var value = UInt32(truncatingIfNeeded: seed) | 1
            for _ in 0..<10_000 {
              value ^= value << 13
              value ^= value >> 17
              value ^= value << 5
            }
            return UInt64(value)
          }
        }
        return try works.reduce(0) { try $0 &+ $1.value() }
      }.value()
      check(sum != 0)
    }
  }
}
