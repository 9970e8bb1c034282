// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Sending values in: `next` of ECMAScript's generator objects.
@Suite struct TwoWayGeneratorTests {
  @Test func `66, it yields its values, returns once, and stays finished`() throws {
    let generator = TwoWayGenerator<Int, Never, String> { yield in
      for value in 1...3 { try yield(value) }
      return "end"
    }
    for value in 1...3 { try #expect(generator.next() == .yielded(value)) }
    #expect(!generator.isFinished)
    try #expect(generator.next() == .returned("end"))
    #expect(generator.isFinished)
    for _ in 0..<3 { try #expect(generator.next() == .returned(nil)) }
  }

  @Test func `67, a conversation`() throws {
    let steps = Steps<String>()
    let generator = TwoWayGenerator<String, String, Void> { yield in
      let age = try yield("want age")
      let name = try yield("want name")
      steps.add("Hello, my age: \(age ?? "?"), name:\(name ?? "?")")
    }
    try #expect(generator.next().yielded == "want age")
    try #expect(generator.next("28").yielded == "want name")
    try #expect(generator.next("LiLei").isDone)
    #expect(steps.entries == ["Hello, my age: 28, name:LiLei"])
  }

  @Test func `68, a yield returns what the waking next sends, or nil`() throws {
    var sent: [Int?] = []
    let generator = TwoWayGenerator<Int, Int, Void> { yield in
      for value in 0..<4 { sent.append(try yield(value)) }
    }
    _ = try generator.next()
    _ = try generator.next(10)
    _ = try generator.next()
    _ = try generator.next(30)
    #expect(sent == [10, nil, 30])
  }

  @Test func `the value of the first next is dropped`() throws {
    let census = Census()
    var sent: [Int?] = []
    let generator = TwoWayGenerator<Int, Counted, Void> { yield in
      sent.append(try yield(1)?.number)
    }
    _ = try generator.next(Counted(99, census))
    #expect(census.alive == 0)
    _ = try generator.next(Counted(5, census))
    #expect(sent == [5])
    #expect(census.alive == 0)
  }

  @Test func `69, nothing of the body runs before the first next (rule 10)`() throws {
    let steps = Steps<Int>()
    let generator = TwoWayGenerator<Int, Int, Void> { yield in
      steps.add(1)
      try yield(1)
      steps.add(2)
    }
    #expect(steps.entries == [])
    _ = try generator.next()
    #expect(steps.entries == [1])
  }

  @Test func `70 and 71, an executor drives asynchronous steps in order`() throws {
    try runBlocking {
      let steps = Steps<String>()
      let script = TwoWayGenerator<Promise<Int>, Result<Int, any Error>, Int> { yield in
        var sum = 0
        for index in 1...3 {
          let result = try yield(
            Promise {
              steps.add("begin \(index)")
              try Coroutine.yield()
              if index == 2 { throw Failure(20) }
              return index
            }
          )
          steps.add("end \(index)")
          sum += (try? result?.get()) ?? 100
        }
        return sum
      }
      var step = try script.next()
      while case .yielded(let promise) = step { step = try script.next(promise.settled()) }
      guard case .returned(let sum) = step else { return }
      #expect(sum == 104)
      #expect(
        steps.entries == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]
      )
    }
  }

  @Test func `72, the end gives back the stack but not the generator`() throws {
    let census = Census()
    let generator = TwoWayGenerator<Int, Int, Counted> { _ in Counted(1, census) }
    do {
      guard case .returned(let value?) = try generator.next() else {
        Issue.record("it did not return")
        return
      }
      #expect(value.number == 1)
    }
    #expect(census.alive == 0)
    #expect(generator.isFinished)
  }

  @Test func `an error of the body comes out of next, once`() throws {
    let generator = TwoWayGenerator<Int, Int, Int> { yield in
      try yield(1)
      throw Failure(6)
    }
    _ = try generator.next()
    #expect(throws: Failure(6)) { try generator.next() }
    #expect(generator.isFinished)
    try #expect(generator.next() == .returned(nil))
  }

  @Test func `dropping and cancelling unwind the body (rule 10)`() throws {
    let steps = Steps<String>()
    func make(_ name: String) -> TwoWayGenerator<Int, Int, Void> {
      TwoWayGenerator { yield in
        defer { steps.add(name) }
        do {
          try yield(1)
        } catch {
          steps.add("\(error is CancellationError)")
          throw error
        }
      }
    }
    do { _ = try make("dropped").next() }
    let cancelled = make("cancelled")
    _ = try cancelled.next()
    cancelled.cancel()
    #expect(cancelled.isFinished)
    make("fresh").cancel()
    #expect(steps.entries == ["true", "dropped", "true", "cancelled"])
  }

  @Test func `its body may park in a coroutine`() throws {
    try runBlocking {
      let channel = Channel<Int>()
      let generator = TwoWayGenerator<Int, Int, Void> { yield in
        while true {
          guard let factor = try yield(0) else { return }
          try yield(channel.receive() * factor)
        }
      }
      launch { for value in 1...3 { try channel.send(value) } }
      var products: [Int] = []
      for factor in [5, 6, 7] {
        _ = try generator.next()
        if case .yielded(let product) = try generator.next(factor) { products.append(product) }
      }
      #expect(products == [5, 12, 21])
    }
  }
}

extension GeneratorStep {
  /// What was yielded, if anything was.
  var yielded: Yielded? {
    if case .yielded(let value) = self { value } else { nil }
  }
}
