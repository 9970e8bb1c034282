// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

@Suite(.timeLimit(.minutes(30)))
struct GeneratorTests {
  /// Counts from 0 for ever.
  private func counter(queue: DispatchQueue? = nil) -> Generator<Int> {
    co_sequence(Int.self, queue: queue) {
      var number = 0
      while true {
        try yield { number }
        number += 1
      }
    }
  }

  @Test func `nothing runs before the first next (3.3-12)`() throws {
    try inCoroutine { () throws in
      var hasRun = false
      let generator = co_sequence(Int.self) {
        hasRun = true
        try yield { 1 }
      }
      try co_delay(0.01)
      #expect(!hasRun)
      #expect(try generator.next() == 1)
      #expect(hasRun)
    }
  }

  @Test func `the documents' yield_val and isPromiseCancelled are there`() throws {
    try inCoroutine { () throws in
      var made = 0
      func make() -> Int {
        made += 1
        return made
      }
      let generator: COSequence<Int> = co_sequence(Int.self) {
        while true { try yield_val(make()) }
      }
      let first = try generator.next()
      #expect(first == 1)
      #expect(made == 1)
      let promise = Promise<Int>()
      promise.cancel()
      let result = try co_await(promise: promise)
      guard case .rejected(let error) = result else {
        Issue.record("a cancelled promise was not rejected")
        return
      }
      #expect(COPromise<Int>.isPromiseCancelled(error))
      #expect(!COPromise<Int>.isPromiseCancelled(nil))
      #expect(!COPromise<Int>.isPromiseCancelled(COError.coroutineCancelled))
    }
  }

  @Test func `a value that is yielded is made when it is asked for`() throws {
    try inCoroutine { () throws in
      var made = 0
      let generator = co_sequence(Int.self) {
        while true {
          try yield {
            made += 1
            return made
          }
        }
      }
      for number in 1...5 {
        #expect(try generator.next() == number)
        try co_delay(0)
        #expect(made == number)
      }
    }
  }

  @Test func `next on a body that ends meanwhile, or has ended, throws (3.3-11)`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) { try yield { 1 } }
      #expect(try generator.next() == 1)
      #expect(cancellation { _ = try generator.next() } == .generatorClosed)
      #expect(cancellation { _ = try generator.next() } == .generatorClosed)
      generator.join()
      #expect(generator.lastError == nil)
    }
  }

  @Test func `the error of a body reaches whoever asks (3.3-11, 3.3-14)`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) {
        try yield { 1 }
        throw Problem(1)
      }
      #expect(try generator.next() == 1)
      #expect(throws: Problem(1)) { try generator.next() }
      #expect(throws: Problem(1)) { try generator.next() }
      #expect(generator.lastError as? Problem == Problem(1))
    }
  }

  @Test func `a pending next is woken when the generator is cancelled`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) {
        try co_delay(60)
        try yield { 1 }
      }
      let asker = co_launch_now {
        #expect(cancellation { _ = try generator.next() } == .generatorCancelled)
      }
      try co_delay(0)
      generator.cancel()
      asker.join()
      #expect(asker.lastError == nil)
      #expect(cancellation { _ = try generator.next() } == .generatorCancelled)
    }
  }

  @Test func `cancelling unwinds the body, whose yield throws`() throws {
    try inCoroutine { () throws in
      let log = Log()
      let generator = co_sequence(Int.self) {
        defer { log("unwound") }
        do {
          while true { try yield { 1 } }
        } catch let error as COError {
          log("\(error)")
          #expect(cancellation { try yield { 2 } } == .generatorCancelled)
          throw error
        }
      }
      _ = try generator.next()
      generator.cancelAndJoin()
      #expect(log.entries == ["generatorCancelled", "unwound"])
      #expect(generator.isCancelled && generator.isFinished)
    }
  }

  @Test func `dropping a generator unwinds its body, begun or not (3.3-18)`() throws {
    try inCoroutine { () throws in
      let log = Log()
      var begun: Generator<Int>? = co_sequence(Int.self) { [probe = Probe { log("released") }] in
        defer { log("unwound") }
        while true { try yield { withExtendedLifetime(probe) { 1 } } }
      }
      _ = try begun?.next()
      begun = nil
      try co_delay(0.01)
      #expect(log.entries == ["unwound", "released"])
      var fresh: Generator<Int>? = co_sequence(Int.self) { [probe = Probe { log("fresh") }] in
        withExtendedLifetime(probe) {}
      }
      try co_delay(0)
      withExtendedLifetime(fresh) {}
      fresh = nil
      try co_delay(0.01)
      #expect(log.entries.last == "fresh")
      // Made and never resumed.
      _ = Generator<Int>(block: { [probe = Probe { log("made") }] in _ = probe })
      _ = Coroutine(block: { [probe = Probe { log("coroutine") }] in _ = probe })
      #expect(log.entries.suffix(2) == ["made", "coroutine"])
    }
  }

  @Test func `a loop ends with the body, and may be left and taken up again`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) { for number in 0..<6 { try yield { number } } }
      var seen: [Int] = []
      for number in generator {
        seen.append(number)
        if number == 2 { break }
      }
      #expect(try generator.next() == 3)
      for number in generator { seen.append(number) }
      #expect(seen == [0, 1, 2, 4, 5])
      #expect(Array(co_sequence(Int.self) { try yield { 7 } }) == [7])
      let failing = co_sequence(Int.self) {
        try yield { 1 }
        throw Problem(1)
      }
      #expect(failing.map { $0 } == [1])
      #expect(failing.lastError as? Problem == Problem(1))
    }
  }

  @Test func `take takes one or some, and what is left`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) { for number in 0..<6 { try yield { number } } }
      #expect(try generator.take() == 0)
      #expect(try generator.take(3) == [1, 2, 3])
      #expect(try generator.take(0) == [])
      #expect(try generator.take(5) == [4, 5])
      #expect(cancellation { _ = try generator.take(1) } == .generatorClosed)
    }
  }

  @Test func `nextWithParam tells the body something`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(String.self) {
        var word = co_getYieldParam() as? String ?? "nothing"
        while true {
          try yield { word }
          word = co_getYieldParam() as? String ?? "nothing"
        }
      }
      #expect(try generator.nextWithParam("one") == "one")
      #expect(try generator.next() == "nothing")
      #expect(try generator.nextWithParam("two") == "two")
    }
  }

  @Test func `promises and channels that are yielded give their values (3.3-13)`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) {
        try yield { Promise<Int> { fulfill, _ in fulfill(1) } }
        try yield { () -> Chan<Int> in
          let channel = Chan<Int>(buffCount: 1)
          channel.send_nonblock(val: 2)
          return channel
        }
        try yield { Promise<Int> { _, reject in reject(Problem(3)) } }
      }
      #expect(try generator.next() == 1)
      #expect(try generator.next() == 2)
      #expect(throws: Problem(3)) { try generator.next() }

      let resolutions = co_sequence(Resolution<Int>.self) {
        try yield { Promise<Int> { fulfill, _ in fulfill(1) } }
      }
      #expect(try resolutions.next().get() == 1)
      let promises = co_sequence(Promise<Int>.self) {
        try yield { Promise<Int> { fulfill, _ in fulfill(4) } }
      }
      #expect(try promises.next().value == 4)
    }
  }

  @Test func `a yield elsewhere, or of another type, throws`() throws {
    try inCoroutine { () throws in
      #expect(cancellation { try yield { 1 } } == .notGenerator)
      let generator = co_sequence(Int.self) {
        #expect(cancellation { try yield { "text" } } == .notGenerator)
        let inner = co_launch { #expect(cancellation { try yield { 1 } } == .notGenerator) }
        inner.join()
        try yield { 1 }
      }
      #expect(try generator.next() == 1)
      let anything = co_sequence(Any?.self) {
        try yield { 1 }
        try yield { "text" }
      }
      #expect(try anything.next() as? Int == 1)
      #expect(try anything.next() as? String == "text")
    }
  }

  @Test func `functions that the body calls may yield`() throws {
    func leaves(_ depth: Int) throws {
      guard depth > 0 else { return try yield { depth } }
      try leaves(depth - 1)
      try leaves(depth - 1)
    }
    try inCoroutine { () throws in
      let generator = co_sequence(Int.self) { try leaves(4) }
      #expect(Array(generator).count == 16)
    }
  }

  @Test func `several coroutines ask, on several queues, and each value goes to one`() throws {
    try inCoroutine { () throws in
      let generator = self.counter(queue: DispatchQueue(label: "generator"))
      let seen = Cell<[Int]>([])
      let askers = (0..<4).map { number in
        co_launch(queue: DispatchQueue(label: "asker \(number)")) {
          for _ in 0..<100 {
            let value = try generator.next()
            seen.update { $0.append(value) }
          }
        }
      }
      for asker in askers { asker.join() }
      #expect(seen.value.sorted() == Array(0..<400))
    }
  }

  @Test func `an asker that is cancelled loses no value`() throws {
    try inCoroutine { () throws in
      let gate = Chan<Int>()
      let generator = co_sequence(Int.self) {
        while true { try yield { try gate.receive() } }
      }
      let first = co_launch_now { _ = try generator.next() }
      try co_delay(0)
      let second = co_launch_now { () throws in #expect(try generator.next() == 1) }
      try co_delay(0)
      first.cancelAndJoin()
      // The value that was being made for the first goes to the second.
      try gate.send(val: 1)
      second.join()
      #expect(second.lastError == nil)

      let third = co_launch_now { _ = try generator.next() }
      try co_delay(0)
      third.cancelAndJoin()
      try gate.send(val: 2)
      try co_delay(0)
      // Nobody asks meanwhile: it is kept for the next.
      #expect(try generator.next() == 2)
      let fourth = co_launch_now { () throws in #expect(try generator.next() == 3) }
      try gate.send(val: 3)
      fourth.join()
      #expect(fourth.lastError == nil)
    }
  }

  @Test func `nil is a value of a generator of optionals`() throws {
    try inCoroutine { () throws in
      let generator = co_sequence(Int?.self) {
        try yield { 1 }
        try yield { nil as Int? }
        try yield { 3 as Int? }
      }
      #expect(try generator.take(4) == [1, nil, 3])
    }
  }

  @Test func `a generator asks another`() throws {
    try inCoroutine { () throws in
      let numbers = self.counter()
      let squares = co_sequence(Int.self) {
        while true {
          let number = try numbers.next()
          try yield { number * number }
        }
      }
      #expect(try squares.take(5) == [0, 1, 4, 9, 16])
    }
  }

  @Test func `a generator is cancelled with the coroutine that made it`() throws {
    try inCoroutine { () throws in
      let handle = Cell<Generator<Int>?>(nil)
      let parent = co_launch_now {
        handle.value = self.counter()
        try co_delay(60)
      }
      parent.cancelAndJoin()
      let generator = try #require(handle.value)
      generator.join()
      #expect(generator.isCancelled)
      #expect(cancellation { _ = try generator.next() } == .generatorCancelled)
    }
  }
}
