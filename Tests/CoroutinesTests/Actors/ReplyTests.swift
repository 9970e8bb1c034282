// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

@Suite(.timeLimit(.minutes(30))) struct ReplyTests {
  @Test func `a reply that is dropped rejects the ask and names its line (rule 9)`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(count)
      let line: UInt = #line + 1
      let answer = actor.ask { .forget($0) }
      #expect(throws: PromiseError.abandoned) { try answer.await() }
      #expect("\(answer.error as Any)".contains("ReplyTests.swift:\(line)"))
      try #expect(actor.ask { .total($0) }.await() == 0, "the actor goes on")
    }
  }

  @Test func `the first answer counts`() throws {
    try runBlocking {
      let actor = MessageActor<Reply<Int>> { mailbox in
        for reply in mailbox {
          #expect(reply.isPending)
          #expect(reply(1))
          #expect(!reply.isPending)
          #expect(!reply(2))
          #expect(!reply.fail(Failure(1)))
        }
      }
      try #expect(actor.ask { $0 }.await() == 1)
    }
  }

  @Test func `a handler answers with an error and goes on`() throws {
    try runBlocking {
      let actor = MessageActor<(Int, Reply<Int>)> { mailbox in
        for (number, reply) in mailbox {
          reply.answer {
            try Coroutine.yield()
            if number < 0 { throw Failure(number) }
            return number * 2
          }
        }
      }
      #expect(throws: Failure(-1)) { try actor.ask { (-1, $0) }.await() }
      try #expect(actor.ask { (2, $0) }.await() == 4)
    }
  }

  @Test func `a reply may be kept and answered later, by anybody`() throws {
    try runBlocking {
      let kept = Cell<Reply<String>>()
      let actor = MessageActor<Reply<String>> { mailbox in
        for reply in mailbox { kept.value = reply }
      }
      let answer = actor.ask { $0 }
      try letOthersRun()
      try actor.stopAndJoin()
      #expect(answer.isPending, "the actor's end is not the reply's")
      startThread {
        kept.value?("late")
        kept.value = nil
      }
      try #expect(answer.await() == "late")
    }
  }

  @Test func `a reply that is kept stays with its own ask (rule 9)`() throws {
    try runBlocking {
      let kept = Cell<[(Int, Reply<Int>)]>()
      kept.value = []
      let actor = MessageActor<(Int, Reply<Int>)> { mailbox in
        for (number, reply) in mailbox {
          switch number % 3 {
          case 0: reply(number)
          case 1: kept.value?.append((number, reply))
          default: break
          }
        }
      }
      var later: [(Int, Promise<Int>)] = []
      for number in 0..<300 {
        let answer = actor.ask { (number, $0) }
        switch number % 3 {
        case 0: try #expect(answer.await() == number)
        case 1: later.append((number, answer))
        default: #expect(throws: PromiseError.abandoned) { try answer.await() }
        }
      }
      for (number, reply) in (kept.value ?? []).reversed() {
        #expect(reply.isPending)
        reply(number)
      }
      for (number, answer) in later { try #expect(answer.await() == number) }
    }
  }

  @Test func `a promise that somebody holds is not used for the next ask (rule 9)`() throws {
    try runBlocking {
      let actor = MessageActor<(Int, Reply<Int>)> { mailbox in
        for (number, reply) in mailbox { reply(number) }
      }
      var held: [Promise<Int>] = []
      weak var weakly: Promise<Int>?
      unowned var unownedly = Promise<Int>.fulfilled(0)
      for number in 0..<300 {
        let answer = actor.ask { (number, $0) }
        switch number % 4 {
        case 0: held.append(answer)
        case 1: weakly = answer
        case 2: unownedly = answer
        default: break
        }
        try #expect(answer.await() == number)
        #expect(answer.value == number)
        if number % 4 == 2 { #expect(unownedly === answer) }
      }
      #expect(weakly == nil)
      for (number, answer) in held.enumerated() { try #expect(answer.await() == 4 * number) }
    }
  }

  @Test func `an ask begins anew, whatever became of the one before (rule 9)`() throws {
    try runBlocking {
      let actor = MessageActor<Reply<Int>> { mailbox in
        for reply in mailbox {
          try Coroutine.yield()
          reply(1)
        }
      }
      for round in 0..<20 {
        let line: UInt = #line + 1
        let first = actor.ask { $0 }
        #expect(first.isPending)
        #expect("\(first.creationSite)".hasSuffix("ReplyTests.swift:\(line)"))
        let observed = Tally()
        let cancelled = Tally()
        first.then { _ in observed.add() }
        first.onCancel { _ in cancelled.add() }
        if round % 2 == 0 {
          try #expect(first.await() == 1)
        } else {
          first.cancel()
          #expect(throws: PromiseError.cancelled) { try first.await() }
          try letOthersRun()
        }
        #expect(observed.value == (round % 2 == 0 ? 1 : 0))
        #expect(cancelled.value == round % 2)
        // Another one, of another place, with no hooks left over.
        let secondLine: UInt = #line + 1
        let second: Promise<Int> = actor.ask { $0 }
        #expect("\(second.creationSite)".hasSuffix("ReplyTests.swift:\(secondLine)"))
        try #expect(second.await() == 1)
        second.cancel()
        #expect(observed.value == (round % 2 == 0 ? 1 : 0))
        #expect(cancelled.value == round % 2)
      }
    }
  }

  @Test func `an answer lives no longer than its promise`() throws {
    final class Answer {}
    try runBlocking {
      let actor = MessageActor<Reply<Answer>> { mailbox in
        for reply in mailbox {
          // SAFETY: the answer is new, and nobody else knows it.
          nonisolated(unsafe) let answer = Answer()
          reply(answer)
        }
      }
      weak var answer: Answer?
      do {
        let promise = actor.ask { $0 }
        answer = try promise.await()
        #expect(answer != nil)
      }
      #expect(answer == nil)
    }
  }

  @Test func `one actor answers asks for values of several types`() throws {
    enum Question {
      case number(Reply<Int>)
      case truth(Reply<Bool>)
      case text(Reply<String>)
      case much(Reply<SIMD8<Double>>)
    }
    try runBlocking {
      let actor = MessageActor<Question> { mailbox in
        for question in mailbox {
          switch question {
          case .number(let reply): reply(7)
          case .truth(let reply): reply(true)
          case .text(let reply): reply("seven")
          case .much(let reply): reply(SIMD8(repeating: 7))
          }
        }
      }
      for _ in 0..<20 {
        try #expect(actor.ask { .number($0) }.await() == 7)
        try #expect(actor.ask { .truth($0) }.await())
        try #expect(actor.ask { .text($0) }.await() == "seven")
        try #expect(actor.ask { .much($0) }.await() == SIMD8(repeating: 7))
      }
    }
  }

  @Test func `the observer of an ask that was dropped may ask the actor again`() throws {
    try runBlocking {
      let actor = MessageActor<Counting>(count)
      let again = Cell<Promise<Int>>()
      let dropped: Promise<Int> = actor.ask { .forget($0) }
      dropped.catch { _ in again.value = actor.ask { .total($0) } }
      let answer = actor.ask { .total($0) }
      try #expect(answer.await() == 0)
      try #expect(#require(again.value).await() == 0)
      try #expect(actor.ask { .total($0) }.await() == 0)
    }
  }

  @Test func `cancelling the promise tells who works on it`() throws {
    try runBlocking {
      let stopped = Tally()
      let actor = MessageActor<Reply<Int>> { mailbox in
        for reply in mailbox {
          reply.onCancel { stopped.add() }
          while reply.isPending { try Coroutine.yield() }
        }
      }
      let asker = launch { try actor.ask { $0 }.await(onCancellation: .cancelPromise) }
      try letOthersRun()
      try asker.cancelAndJoin()
      #expect(stopped.value == 1)
      try actor.stopAndJoin()
    }
  }

  @Test(arguments: Elsewhere.allCases)
  func `asks go to and fro between actors of several threads`(place: Elsewhere) throws {
    try runBlocking {
      let schedulers = place.schedulers(2)
      let doubler = MessageActor<(Int, Reply<Int>)>(on: schedulers[0]) { mailbox in
        for (number, reply) in mailbox { reply(number * 2) }
      }
      let adder = MessageActor<(Int, Reply<Int>)>(on: schedulers[1]) { mailbox in
        for (number, reply) in mailbox {
          reply.answer { try doubler.ask { (number, $0) }.await() + 1 }
        }
      }
      for number in 0..<300 {
        try #expect(adder.ask { (number, $0) }.await() == number * 2 + 1)
      }
    }
  }
}
