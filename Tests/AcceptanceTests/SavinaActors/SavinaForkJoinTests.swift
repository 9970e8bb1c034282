// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Fork Join (throughput), Fork Join (create), Fibonacci: many actors, each with little to do.
@Suite(.timeLimit(.minutes(30))) struct SavinaForkJoinTests {
  // MARK: - Fork Join (throughput)

  private enum Work {
    case number(Int)
    case handled(Reply<[Int]>)
  }

  @Test(arguments: SavinaPlace.all)
  func `fork join, throughput: each actor gets all its messages, in order`(
    place: SavinaPlace
  ) throws {
    let (actors, messages) = (20, 60)
    let handled = try SavinaStage.run(place) { stage in
      let workers = (0..<actors).map { number in
        stage.actor("worker \(number)", of: Work.self) { mailbox in
          var handled: [Int] = []
          for message in mailbox {
            switch message {
            case .number(let number): handled.append(number)
            case .handled(let reply): reply(handled)
            }
          }
        }
      }
      for number in 0..<messages {
        for (worker, actor) in workers.enumerated() { try actor.tell(.number(number + worker)) }
      }
      defer { for worker in workers { worker.stop() } }
      return try workers.map { worker in try worker.ask { .handled($0) }.await() }
    }
    for worker in 0..<actors {
      #expect(handled[worker] == Array(worker..<(worker + messages)))
    }
  }

  // MARK: - Fork Join (create)

  private struct Square {
    let number: Int
    let reply: Reply<Int>
  }

  @Test(arguments: SavinaPlace.all)
  func `fork join, create: a thousand actors handle one message each and end`(
    place: SavinaPlace
  ) throws {
    let count = 1000
    let (sum, made) = try SavinaStage.run(place) { stage in
      let squares = (1...count).map { number in
        stage.actor("square \(number)", of: Square.self) { mailbox in
          let message = try mailbox.receive()
          message.reply(message.number * message.number)
        }
        .ask { Square(number: number, reply: $0) }
      }
      return (try squares.map { try $0.await() }.reduce(0, +), stage.actorCount)
    }
    #expect(sum == count * (count + 1) * (2 * count + 1) / 6)
    #expect(made == count)
  }

  // MARK: - Fibonacci

  private struct Fibonacci {
    let number: Int
    let reply: Reply<Int>
  }

  private static func fibonacci(_ stage: SavinaStage, _ number: Int) -> Promise<Int> {
    stage.actor("fibonacci \(number)", of: Fibonacci.self) { mailbox in
      let message = try mailbox.receive()
      guard message.number > 2 else {
        message.reply(1)
        return
      }
      let one = fibonacci(stage, message.number - 1)
      let other = fibonacci(stage, message.number - 2)
      message.reply(try one.await() + other.await())
    }
    .ask { Fibonacci(number: number, reply: $0) }
  }

  @Test(arguments: SavinaPlace.all)
  func `fibonacci: a tree of actors, one for each call, adds up`(place: SavinaPlace) throws {
    let number = 14
    let (value, made) = try SavinaStage.run(place) { stage in
      (try Self.fibonacci(stage, number).await(), stage.actorCount)
    }
    var (last, next) = (0, 1)
    for _ in 0..<number { (last, next) = (next, last + next) }
    #expect(value == last)
    // A call for each leaf, which counts one, and one less that add.
    #expect(made == 2 * last - 1)
  }

  @Test func `fibonacci: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      try SavinaFailure.unless(Self.fibonacci(stage, 5).await() == 5, "not the fifth")
    }
  }
}
