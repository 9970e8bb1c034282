// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Testing
import coswift

/// "RJIterator", section "Generators and iterators": the samples in JavaScript.
@Suite(.timeLimit(.minutes(30))) struct IteratorGeneratorTests {
  // function *numbers() {}
  @Test func `a generator without a yield is done at once`() {
    let iterator = RJIterator(standardBlock: {})
    #expect("\(iterator.next())" == "{value: nil, done: true}")
  }

  // function *numbers() { yield 1; yield 2; yield 3; }
  @Test func `numbers gives 1, 2 and 3, and is done from then on`() {
    let log = Log()
    func numbers(_: Any?) throws -> Any? {
      log("begins")
      try rj_yield(1)
      try rj_yield(2)
      try rj_yield(3)
      return nil
    }
    let iterator = RJIterator(withFunc: numbers, arg: nil)
    #expect(log.entries.isEmpty)
    var result = iterator.next()
    #expect("\(result)" == "{value: 1, done: false}")
    result = iterator.next()
    #expect("\(result)" == "{value: 2, done: false}")
    result = iterator.next()
    #expect("\(result)" == "{value: 3, done: false}")
    for _ in 1...3 {
      result = iterator.next()
      #expect("\(result)" == "{value: nil, done: true}")
    }
  }

  // function *hello()
  @Test func `hello is told an age and a name through its iterator`() {
    let log = Log()
    let iterator = RJIterator(standardBlock: {
      let age = try rj_yield("want age")
      let name = try rj_yield("want name")
      log("Hello, my age: \(age ?? "undefined"), name:\(name ?? "undefined")")
    })
    var result = iterator.next()
    #expect("\(result)" == "{value: want age, done: false}")
    result = iterator.next(28)
    #expect("\(result)" == "{value: want name, done: false}")
    #expect(log.entries.isEmpty)
    result = iterator.next("LiLei")
    #expect("\(result)" == "{value: nil, done: true}")
    #expect(log.entries == ["Hello, my age: 28, name:LiLei"])
  }
}
