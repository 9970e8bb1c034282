// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Dispatch
import Testing
import coswift

/// "RJIterator", sections "The definitions of the types" and "Generators and iterators come true".
@Suite(.timeLimit(.minutes(30))) struct IteratorTypesTests {
  /// Has a method that is a generator: `- (void)generator`.
  private final class Object: Sendable {
    let name: String

    init(_ name: String) {
      self.name = name
    }

    func generator(_ argument: Any?) throws -> Any? {
      try rj_yield(name)
      try rj_yield(argument)
      return nil
    }
  }

  // void generator() { yield(value); yield(value); }, the method, the block; initWithFunc:,
  // initWithTarget:selector: (a method reference, in Swift), initWithBlock:
  @Test func `functions, methods and blocks are generators`() {
    func generator(_ argument: Any?) throws -> Any? {
      try rj_yield("function")
      try rj_yield(argument)
      return nil
    }
    let object = Object("method")
    let iterators = [
      RJIterator(withFunc: generator, arg: 1),
      RJIterator(withFunc: object.generator, arg: 1),
      RJIterator(
        block: { argument in
          try rj_yield("block")
          try rj_yield(argument)
          return nil
        },
        arg: 1
      ),
      RJIterator(standardBlock: {
        try rj_yield("standard block")
        try rj_yield(1)
      }),
    ]
    let names = ["function", "method", "block", "standard block"]
    for (iterator, name) in zip(iterators, names) {
      #expect(iterator.next().value as? String == name)
      #expect(iterator.next().value as? Int == 1)
      #expect(iterator.next().done)
    }
  }

  // Iterator *iterator = [[Iterator alloc] initWithFunc: generator], for a function of C
  @Test func `a function of C is a generator`() {
    let log = Log()
    withExtendedLifetime(log) {
      let iterator = RJIterator(
        withCFunction: { argument in
          // What C calls may yield; C itself is not unwound, so it must be run to its end.
          guard let argument else { return nil }
          let log = Unmanaged<Log>.fromOpaque(argument).takeUnretainedValue()
          for number in 1...2 {
            let sent = try? rj_yield(number)
            log("\(sent ?? "nothing")")
          }
          return argument
        },
        arg: Unmanaged.passUnretained(log).toOpaque()
      )
      #expect(iterator.next().value as? Int == 1)
      #expect(iterator.next("a").value as? Int == 2)
      let last = iterator.next("b")
      #expect(last.done)
      #expect(last.value is UnsafeMutableRawPointer)
    }
    #expect(log.entries == ["a", "b"])
  }

  // id yield(id value); - (Result *)next; - (Result *)next:(id)value
  @Test func `a yield gives what the iterator sets, or its own value`() {
    let log = Log()
    let iterator = RJIterator(standardBlock: {
      log("\(try rj_yield("first") ?? "nil")")
      log("\(try rj_yield("second") ?? "nil")")
    })
    let result = iterator.next()
    #expect(result.value as? String == "first")
    #expect(!result.done)
    iterator.next("set")
    iterator.next()
    #expect(log.entries == ["set", "second"])
  }

  // DEFAULT_STACK_SIZE is 256 KiB there and here (C8): the frames of a generator outlive the call of next.
  @Test func `a generator keeps its frames on a stack of its own`() {
    func dig(_ depth: Int) throws -> Int {
      if depth == 0 { try rj_yield("bottom") }
      let sum = depth == 0 ? 0 : try depth + dig(depth - 1)
      if depth == 50 { try rj_yield(sum) }
      return sum
    }
    func overwriteTheCallersStack(_ depth: Int) -> Int {
      depth == 0 ? 0 : depth + overwriteTheCallersStack(depth - 1)
    }
    let iterator = RJIterator(block: { _ in try dig(100) }, arg: nil)
    #expect(iterator.next().value as? String == "bottom")
    #expect(overwriteTheCallersStack(100) == 5050)
    #expect(iterator.next().value as? Int == 1275)
    #expect(overwriteTheCallersStack(100) == 5050)
    let last = iterator.next()
    #expect(last.done)
    #expect(last.value as? Int == 5050)
  }

  // `if (_done) return [Result resultWithValue:_value …]`, and the wrapper that notices the end. The document's
  // wrapper sets the value to nil; its library, and this one, keep what the generator returns (C12).
  @Test func `after the end every next gives the last result`() {
    let iterator = RJIterator(
      block: { _ in
        try rj_yield(1)
        return "end"
      },
      arg: nil
    )
    #expect("\(iterator.next())" == "{value: 1, done: false}")
    for _ in 1...3 { #expect("\(iterator.next("ignored"))" == "{value: end, done: true}") }
  }

  // [IteratorStack top]: the iterator whose generator runs is found from anywhere below it.
  @Test func `a yield finds the innermost iterator that runs`() {
    func yieldTwice(_ name: String) throws {
      try rj_yield("\(name) 1")
      try rj_yield("\(name) 2")
    }
    let inner = RJIterator(standardBlock: { try yieldTwice("inner") })
    let outer = RJIterator(standardBlock: {
      try yieldTwice("outer")
      // An iterator that is asked inside of another one.
      try rj_yield("outer got \(inner.next().value ?? "nil")")
      try yieldTwice("outer again")
    })
    var values: [String] = []
    while true {
      let result = outer.next()
      if result.done { break }
      values.append(result.value as? String ?? "?")
    }
    #expect(
      values == ["outer 1", "outer 2", "outer got inner 1", "outer again 1", "outer again 2"]
    )
    #expect(inner.next().value as? String == "inner 2")
    #expect(inner.next().done)
    #expect(throws: RJError.outsideIterator) { try rj_yield(1) }
  }

  // "Thread-local": iterators on several threads do not meet.
  @Test func `iterators of several threads do not see one another`() {
    let sums = Bag<Int>()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let iterator = RJIterator(standardBlock: {
        for number in 1...100 { try rj_yield(thread * 1000 + number) }
      })
      var sum = 0
      while true {
        let result = iterator.next()
        if result.done { break }
        sum += result.value as? Int ?? 0
      }
      sums.add(sum)
    }
    #expect(Set(sums.contents) == Set((0..<8).map { $0 * 100_000 + 5050 }))
  }
}
