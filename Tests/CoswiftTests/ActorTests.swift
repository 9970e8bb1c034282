// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct ActorTests {
  @Test func `typed accessors give nil for other types (3.4-16)`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in
        for message in messages {
          message.complete(
            [
              message.stringType as Any?, message.intType, message.uintType, message.doubleType,
              message.floatType, message.dictType?.count, message.arrayType?.count,
            ]
            .map { $0.map { "\($0)" } ?? "nil" }
            .joined(separator: " ")
          )
        }
      }
      func read(_ message: Any?) throws -> String {
        try co_await(promise: actor.send(message)).get() as? String ?? "no answer"
      }
      #expect(try read("text") == "text nil nil nil nil nil nil")
      #expect(try read(5) == "5 5 5 5.0 5.0 nil nil")
      #expect(try read(-5) == "-5 -5 nil -5.0 -5.0 nil nil")
      #expect(try read(2.75) == "2.75 2 2 2.75 2.75 nil nil")
      #expect(try read(Float(0.5)) == "0.5 0 0 0.5 0.5 nil nil")
      #expect(try read(UInt8(200)) == "200 200 200 200.0 200.0 nil nil")
      #expect(try read(NSNumber(value: 2.75)) == "2.75 2 2 2.75 2.75 nil nil")
      #expect(try read(NSNumber(value: -3)) == "-3 -3 nil -3.0 -3.0 nil nil")
      #expect(try read(Double.infinity).contains(" nil nil inf inf"))
      #expect(try read(["a": 1]) == "nil nil nil nil nil 1 nil")
      #expect(try read([1, 2]) == "nil nil nil nil nil nil 2")
      #expect(try read(nil) == "nil nil nil nil nil nil nil")
      #expect(try read(Problem(1)) == "nil nil nil nil nil nil nil")
    }
  }

  @Test func `many senders on many queues are all heard (3.4-14)`() throws {
    try inCoroutine { () throws in
      let actor = co_actor_onqueue(DispatchQueue(label: "actor", attributes: .concurrent)) {
        messages in
        var count = 0
        for message in messages {
          count += 1
          message.complete(count)
        }
      }
      let senders = (0..<4).map { _ in
        co_launch(queue: .global()) { for _ in 0..<100 { actor.sendMessage(nil) } }
      }
      for sender in senders { sender.join() }
      #expect(try co_await(promise: actor.send(nil)).get() as? Int == 401)
    }
  }

  @Test func `cancelling rejects what has no answer, now and later (3.4-14)`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in
        for _ in messages { try co_delay(60) }
      }
      let answers = (0..<3).map { actor.send($0) }
      try co_delay(0.001)
      actor.cancelAndJoin()
      #expect(answers.allSatisfy { $0.error as? COError == .coroutineCancelled })
      #expect(actor.send(1).error as? COError == .coroutineCancelled)
      #expect(actor.isCancelled && actor.isFinished)
    }
  }

  @Test func `an actor that is cancelled before it starts rejects its messages`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { _ in Issue.record("ran") }
      let answer = actor.send(1)
      actor.cancelAndJoin()
      #expect(answer.error as? COError == .coroutineCancelled)
    }
  }

  @Test func `a body that throws rejects its current and queued messages`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in
        for message in messages {
          guard message.intType == 0 else { throw Problem(1) }
          message.complete("zero")
        }
      }
      let answers = (0..<3).map { actor.send($0) }
      actor.join()
      #expect(answers[0].value.flatMap { $0 as? String } == "zero")
      #expect(answers[1].error as? Problem == Problem(1))
      #expect(answers[2].error as? Problem == Problem(1))
      #expect(actor.send(3).error as? Problem == Problem(1))
    }
  }

  @Test func `a body that returns rejects what is queued`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in messages.next()?.complete(1) }
      let (first, second) = (actor.send(1), actor.send(2))
      actor.join()
      #expect(first.value.flatMap { $0 as? Int } == 1)
      #expect(second.isRejected)
      #expect(actor.send(3).isRejected)
    }
  }

  @Test func `a message that is dropped without an answer is rejected`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in for _ in messages {} }
      #expect(try co_await(promise: actor.send(1)).error != nil)
    }
  }

  @Test func `the first answer counts`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in
        for message in messages {
          message.complete(1)
          message.complete(2)
          message.fail(Problem(1))
        }
      }
      #expect(try co_await(promise: actor.send(1)).get() as? Int == 1)
      let failing = co_actor { messages in
        for message in messages {
          message.fail(Problem(1))
          message.complete(2)
        }
      }
      #expect(try co_await(promise: failing.send(1)).error as? Problem == Problem(1))
    }
  }

  @Test func `complete(nil) forgets the errors of earlier messages (3.4-15)`() throws {
    try inCoroutine { () throws in
      let actor = co_actor { messages in
        for message in messages {
          if message.stringType == "fail" {
            try co_await(promise: Promise<Int> { _, reject in reject(Problem(1)) })
          }
          message.complete(nil)
        }
      }
      #expect(try co_await(promise: actor.send("fail")).error as? Problem == Problem(1))
      let answer = try co_await(promise: actor.send("good"))
      #expect(answer.error == nil)
      if case .fulfilled(let value) = answer { #expect(value == nil) }
    }
  }

  @Test func `a nested coroutine lets messages overlap`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let fastIsDone = Promise<Int>()
      let actor = co_actor { messages in
        for message in messages {
          co_launch {
            // Without an overlap the second message would never be taken.
            if message.stringType == "slow" { try co_await(promise: fastIsDone) }
            log(message.stringType ?? "")
            message.complete(nil)
            if message.stringType == "fast" { fastIsDone.fulfill(value: 1) }
          }
        }
      }
      _ = try batch_await([actor.send("slow"), actor.send("fast")])
      #expect(log.entries == ["fast", "slow"])
    }
  }

  @Test func `actors ask one another`() throws {
    try inCoroutine { () throws in
      let cache = co_actor_onqueue(DispatchQueue(label: "cache")) { messages in
        var content: [String: Int] = [:]
        for message in messages {
          if let pair = message.arrayType, let key = pair[0] as? String {
            content[key] = pair[1] as? Int
            message.complete(true)
          } else {
            message.complete(message.stringType.flatMap { content[$0] })
          }
        }
      }
      let service = co_actor_onqueue(DispatchQueue(label: "service")) { messages in
        for message in messages {
          guard let key = message.stringType else { continue }
          if let known = try co_await(promise: cache.send(key)).get() as? Int {
            message.complete("cached \(known)")
          } else {
            try co_await(promise: cache.send([key, 7] as [Any]))
            message.complete("made 7")
          }
        }
      }
      #expect(try co_await(promise: service.send("k")).get() as? String == "made 7")
      #expect(try co_await(promise: service.send("k")).get() as? String == "cached 7")
    }
  }

  @Test func `dropping an actor lets it answer what it has, and ends it`() throws {
    try inCoroutine { () throws in
      let log = Log()
      var actor: COActor? = co_actor { [probe = Probe { log("released") }] messages in
        defer { withExtendedLifetime(probe) {} }
        for message in messages { message.complete(message.intType) }
        log("loop ended")
      }
      let answers = (0..<3).map { actor?.send($0) ?? Promise() }
      actor = nil
      #expect(try batch_await(answers).map { try $0.get() as? Int } == [0, 1, 2])
      try co_delay(0.01)
      #expect(log.entries == ["loop ended", "released"])
    }
  }
}
