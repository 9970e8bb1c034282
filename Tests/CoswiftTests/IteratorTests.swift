// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import coswift

/// What a result says, in short.
private func words(_ result: RJResult) -> String {
  let value = result.value.map { "\($0)" } ?? "nil"
  return "\(value)\(result.done ? " done" : "")\(result.error.map { " error \($0)" } ?? "")"
}

@Suite(.timeLimit(.minutes(30)))
struct IteratorTests {
  @Test func `numbers come one by one, then the end for ever (2.1-66)`() {
    let numbers = RJIterator(standardBlock: { for number in 1...3 { try rj_yield(number) } })
    let results = (0..<6).map { _ in words(numbers.next()) }
    #expect(results == ["1", "2", "3", "nil done", "nil done", "nil done"])
    let returning = RJIterator(
      block: { _ in
        try rj_yield(1)
        return "end"
      },
      arg: nil
    )
    #expect((0..<3).map { _ in words(returning.next()) } == ["1", "end done", "end done"])
  }

  @Test func `values are sent in (2.1-67)`() {
    let log = Log()
    let hello = RJIterator(standardBlock: {
      let age = try rj_yield("want age")
      let name = try rj_yield("want name")
      log("Hello, my age: \(age ?? "?"), name:\(name ?? "?")")
    })
    #expect(words(hello.next("dropped")) == "want age")
    #expect(words(hello.next(28)) == "want name")
    #expect(words(hello.next("LiLei")) == "nil done")
    #expect(log.entries == ["Hello, my age: 28, name:LiLei"])
  }

  @Test func `a yield returns what was sent, or what it yielded (2.1-68)`() {
    let log = Log()
    let iterator = RJIterator(standardBlock: {
      for word in ["a", "b", "c"] {
        log(try rj_yield(word).map { "\($0)" } ?? "nil")
      }
    })
    iterator.next()
    iterator.next("sent")
    iterator.next()
    iterator.next(nil)
    #expect(log.entries == ["sent", "b", "nil"])
  }

  @Test func `nothing runs before the first next (2.1-69)`() {
    let log = Log()
    let iterator = RJIterator(
      block: { argument in
        log("\(argument ?? "?")")
        return nil
      },
      arg: "argument"
    )
    #expect(log.entries.isEmpty)
    iterator.next()
    #expect(log.entries == ["argument"])
  }

  @Test func `functions, Swift's and C's, are iterated over (2.1-72)`() {
    func count(_ limit: Any?) throws -> Any? {
      for number in 0..<(limit as? Int ?? 0) { try rj_yield(number) }
      return "counted"
    }
    let iterator = RJIterator(withFunc: count, arg: 2)
    #expect((0..<3).map { _ in words(iterator.next()) } == ["0", "1", "counted done"])

    let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    number.initialize(to: 3)
    defer { number.deallocate() }
    let ofC = RJIterator(
      withCFunction: { pointer in
        for number in 0..<(pointer?.load(as: Int.self) ?? 0) { _ = try? rj_yield(number) }
        return pointer
      },
      arg: UnsafeMutableRawPointer(number)
    )
    #expect((0..<3).map { _ in words(ofC.next()) } == ["0", "1", "2"])
    #expect(ofC.next().value as? UnsafeMutableRawPointer == UnsafeMutableRawPointer(number))
    #expect(ofC.next().done)
  }

  @Test func `functions below the body yield, through frames that know nothing (2.1-73, 3.5-r5)`() {
    func visit(_ depth: Int) throws {
      try [1, 2].forEach { number in
        if depth > 0 { try visit(depth - 1) } else { try rj_yield(number) }
      }
    }
    let iterator = RJIterator(standardBlock: { try visit(2) })
    var values: [Int] = []
    while true {
      let result = iterator.next()
      if result.done { break }
      values.append(result.value as? Int ?? 0)
    }
    #expect(values == [1, 2, 1, 2, 1, 2, 1, 2])
  }

  @Test
  func `a nested iterator's values and return value come out, sent values stay out (3.5-r12)`() {
    let log = Log()
    let inner = RJIterator(
      block: { _ in
        log("inner got \(try rj_yield("a") ?? "nil")")
        return "inner end"
      },
      arg: nil
    )
    let outer = RJIterator(
      block: { _ in
        log("yield gave \(try rj_yield(inner) ?? "nil")")
        try rj_yield("b")
        return "outer end"
      },
      arg: nil
    )
    #expect(words(outer.next()) == "a")
    #expect(words(outer.next("sent")) == "inner end")
    #expect(words(outer.next("woken with")) == "b")
    #expect(words(outer.next()) == "outer end done")
    #expect(log.entries == ["inner got a", "yield gave woken with"])
  }

  @Test func `a nested iterator without a return value adds none (3.5-r13)`() {
    let outer = RJIterator(standardBlock: {
      try rj_yield(RJIterator(standardBlock: { try rj_yield(1) }))
      try rj_yield(2)
    })
    #expect((0..<3).map { _ in words(outer.next()) } == ["1", "2", "nil done"])
  }

  @Test func `an error of the body is in the result, once`() {
    let iterator = RJIterator(standardBlock: {
      try rj_yield(1)
      throw Problem(1)
    })
    iterator.next()
    let result = iterator.next()
    #expect(result.done && result.error as? Problem == Problem(1))
    #expect(words(iterator.next()) == "nil done")
  }

  @Test func `throw and return end an iterator that has not started`() {
    let one = RJIterator(standardBlock: { Issue.record("ran") })
    #expect(words(one.return("r")) == "r done")
    #expect(one.next().done)
    let other = RJIterator(standardBlock: { Issue.record("ran") })
    let thrown = other.throw(Problem(1))
    #expect(thrown.done && thrown.error as? Problem == Problem(1))
    #expect(words(other.next()) == "nil done")
  }

  @Test func `throw is thrown where the body stands, which may catch it`() {
    let iterator = RJIterator(
      block: { _ in
        do {
          try rj_yield(1)
        } catch let problem as Problem {
          try rj_yield("caught \(problem.number)")
        }
        try rj_yield(2)
        return nil
      },
      arg: nil
    )
    iterator.next()
    #expect(words(iterator.throw(Problem(5))) == "caught 5")
    #expect(words(iterator.next()) == "2")
    let result = iterator.throw(Problem(6))
    #expect(result.done && result.error as? Problem == Problem(6))
    let late = iterator.throw(Problem(7))
    #expect(late.done && late.error as? Problem == Problem(7))
  }

  @Test func `return runs the defer blocks, and a body may yield in them`() {
    let log = Log()
    let iterator = RJIterator(standardBlock: {
      defer { log("deferred") }
      try rj_yield(1)
      log("not reached")
    })
    iterator.next()
    #expect(words(iterator.return("r")) == "r done")
    #expect(log.entries == ["deferred"])
    #expect(words(iterator.next()) == "r done")
    #expect(words(iterator.return("s")) == "s done")
    let stubborn = RJIterator(standardBlock: {
      do { try rj_yield(1) } catch { try rj_yield("not yet") }
    })
    stubborn.next()
    #expect(words(stubborn.return("r")) == "not yet")
    #expect(words(stubborn.next()) == "nil done")
  }

  @Test func `dropping an unfinished iterator unwinds it and releases all (3.5-r1)`() {
    let log = Log()
    var iterator: RJIterator? = RJIterator(
      block: { [probe = Probe { log("block released") }] argument in
        defer { log("unwound") }
        let local = Probe { log("local released") }
        let thrown = cancellation { while true { try rj_yield(argument) } }
        #expect(thrown == .generatorCancelled)
        withExtendedLifetime((local, probe)) {}
        return nil
      },
      arg: Probe { log("argument released") }
    )
    iterator?.next()
    iterator = nil
    #expect(log.entries.contains("unwound"))
    #expect(
      Set(log.entries)
        == ["unwound", "local released", "block released", "argument released"]
    )
    var fresh: RJIterator? = RJIterator(
      block: { _ in nil },
      arg: Probe { log("fresh argument released") }
    )
    withExtendedLifetime(fresh) {}
    fresh = nil
    #expect(log.entries.last == "fresh argument released")
  }

  @Test func `dropping an outer iterator unwinds the inner one`() {
    let log = Log()
    var outer: RJIterator? = RJIterator(standardBlock: {
      defer { log("outer") }
      try rj_yield(
        RJIterator(standardBlock: {
          defer { log("inner") }
          try rj_yield(1)
        })
      )
    })
    outer?.next()
    outer = nil
    #expect(log.entries == ["inner", "outer"])
  }

  @Test func `rj_yield and rj_await outside an iterator throw (3.5-r6)`() throws {
    #expect(throws: RJError.outsideIterator) { try rj_yield(1) }
    #expect(throws: RJError.outsideIterator) { try rj_await(1) }
    let iterator = RJIterator(standardBlock: { try rj_yield(1) })
    iterator.next()
    // The iterator is suspended, so it is not the running one.
    #expect(throws: RJError.outsideIterator) { try rj_yield(2) }
    #expect(words(iterator.next()) == "nil done")
  }

  @Test func `an iterator that asks itself gets an error and goes on (3.5-r7)`() {
    let own = Cell<RJIterator?>(nil)
    let iterator = RJIterator(standardBlock: {
      let result = own.value?.next()
      #expect(result?.error as? RJError == .alreadyRunning && result?.done == false)
      try rj_yield(1)
    })
    own.value = iterator
    #expect(words(iterator.next()) == "1")
    own.value = nil
  }

  @Test func `iterators are interleaved, and one uses another within its body`() {
    func numbers(_ name: String) -> RJIterator {
      RJIterator(standardBlock: { for number in 0..<3 { try rj_yield("\(name)\(number)") } })
    }
    let (a, b) = (numbers("a"), numbers("b"))
    let both = RJIterator(standardBlock: {
      while true {
        let (one, other) = (a.next(), b.next())
        if one.done { return }
        try rj_yield("\(one.value ?? "") \(other.value ?? "")")
      }
    })
    #expect((0..<4).map { _ in words(both.next()) } == ["a0 b0", "a1 b1", "a2 b2", "nil done"])
  }

  @Test func `in a coroutine the body may wait, and yields after it`() throws {
    try inCoroutine { () throws in
      let iterator = RJIterator(standardBlock: {
        for number in 0..<3 {
          try co_delay(0.001)
          try rj_yield(number)
        }
      })
      let other = co_launch_now {
        let mine = RJIterator(standardBlock: {
          for number in 10..<13 {
            try rj_yield(number)
            try co_delay(0.001)
          }
        })
        #expect((0..<4).map { _ in words(mine.next()) } == ["10", "11", "12", "nil done"])
      }
      #expect((0..<4).map { _ in words(iterator.next()) } == ["0", "1", "2", "nil done"])
      other.join()
      #expect(other.lastError == nil)
    }
  }

  @Test func `an executor can be written by hand, rj_await is a yield (2.1-71)`() {
    let log = Log()
    let iterator = RJIterator(standardBlock: {
      log("\(try rj_await("task 1").value ?? "nil")")
      log("\(try rj_await("task 2").error ?? "nil")")
    })
    #expect(words(iterator.next()) == "task 1")
    #expect(words(iterator.next("value")) == "task 2")
    iterator.next(RJResult(value: nil, error: "error", done: false))
    #expect(log.entries == ["value", "error"])
  }

  @Test func `thousands of iterators live at a time, on threads that come and go`() throws {
    let iterators = (0..<2000).map { start in
      RJIterator(
        block: { argument in
          var number = argument as? Int ?? 0
          while true {
            try rj_yield(number)
            number += 1
          }
        },
        arg: start
      )
    }
    for iterator in iterators { iterator.next() }
    let sums = Cell(0)
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      for iterator in iterators { sums.update { $0 += iterator.next().value as? Int ?? 0 } }
      finished.signal()
    }
    finished.wait()
    #expect(sums.value == (1...2000).reduce(0, +))
  }
}
