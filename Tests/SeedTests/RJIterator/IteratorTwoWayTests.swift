// SPDX-License-Identifier: Apache-2.0

import CoroutineTestSupport
import Coroutines
import Testing

/// "RJIterator", section "Generators and iterators": the same samples in this library's words.
@Suite(.timeLimit(.minutes(30))) struct IteratorTwoWayTests {
  @Test func `numbers is a sequence`() {
    let numbers = Generator<Int> { yield in
      try yield(1)
      try yield(2)
      try yield(3)
    }
    #expect(Array(numbers) == [1, 2, 3])
  }

  @Test func `hello takes values in, with their types`() throws {
    let log = Log()
    let hello = TwoWayGenerator<String, String, Void> { yield in
      let age = try yield("want age")
      let name = try yield("want name")
      log("Hello, my age: \(age ?? "undefined"), name:\(name ?? "undefined")")
    }
    guard case .yielded("want age") = try hello.next() else {
      Issue.record("no age wanted")
      return
    }
    guard case .yielded("want name") = try hello.next("28") else {
      Issue.record("no name wanted")
      return
    }
    #expect(try hello.next("LiLei").isDone)
    #expect(log.entries == ["Hello, my age: 28, name:LiLei"])
  }
}
