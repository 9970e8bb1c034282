// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Concurrent Dictionary and Concurrent Sorted Linked List: a structure that only its actor touches.
@Suite(.timeLimit(.minutes(30))) struct SavinaSharedDataTests {
  /// An operation that was carried out: as which one, and with what answer.
  private struct Step<Operation: Sendable>: Sendable {
    let number: Int
    let operation: Operation
    let answer: Int?
  }

  private struct Request<Operation: Sendable> {
    let operation: Operation
    let reply: Reply<Step<Operation>>
  }

  /// Lets workers perform their operations on a structure, and returns what each of them saw.
  private static func perform<Operation: Sendable>(
    _ stage: SavinaStage,
    _ operations: [[Operation]],
    on makeStructure: @escaping @Sendable () -> (Operation) throws -> Int?
  ) throws -> [[Step<Operation>]] {
    let owner = stage.actor("owner", of: Request<Operation>.self) { mailbox in
      let perform = makeStructure()
      var count = 0
      for request in mailbox {
        let answer = try perform(request.operation)
        request.reply(Step(number: count, operation: request.operation, answer: answer))
        count += 1
      }
    }
    defer { owner.stop() }
    return try operations.enumerated().map { worker, operations in
      stage.actor("worker \(worker)", of: Reply<[Step<Operation>]>.self) { mailbox in
        let reply = try mailbox.receive()
        reply(
          try operations.map { operation in
            try owner.ask { Request(operation: operation, reply: $0) }.await()
          }
        )
      }
    }
    .map { worker in worker.ask { $0 } }
    .map { promise in try promise.await() }
  }

  /// One after the other, in the order in which they were carried out, the operations have the same answers.
  private static func check<Operation: Sendable>(
    _ steps: [[Step<Operation>]],
    _ model: (Operation) -> Int?
  ) throws {
    for own in steps {
      let numbers = own.map(\.number)
      try SavinaFailure.unless(numbers == numbers.sorted(), "a worker's operations out of order")
    }
    let all = steps.flatMap(\.self).sorted { $0.number < $1.number }
    try SavinaFailure.unless(all.map(\.number) == Array(0..<all.count), "lost or done twice")
    for step in all {
      let expected = model(step.operation)
      try SavinaFailure.unless(step.answer == expected, "\(step), expected \(expected ?? -1)")
    }
  }

  // MARK: - Concurrent Dictionary

  private enum DictionaryOperation: Sendable {
    /// Answered with the old value.
    case write(key: Int, value: Int)
    case read(key: Int)
    case count
  }

  private static func dictionaryOperations(
    workers: Int,
    count: Int,
    keys: Int
  ) -> [[DictionaryOperation]] {
    (0..<workers).map { worker in
      var random = SavinaRandom(seed: UInt64(worker))
      return (0..<count).map { number in
        let key = Int.random(in: 0..<keys, using: &random)
        return switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: .write(key: key, value: worker * count + number)
        case 4..<9: .read(key: key)
        default: .count
        }
      }
    }
  }

  private static func dictionary(
    _ stage: SavinaStage,
    _ operations: [[DictionaryOperation]]
  ) throws {
    let steps = try perform(stage, operations) {
      var values: [Int: Int] = [:]
      return { operation in
        switch operation {
        case .write(let key, let value): values.updateValue(value, forKey: key)
        case .read(let key): values[key]
        case .count: values.count
        }
      }
    }
    // The model knows no keys but keeps every write.
    var writes: [(key: Int, value: Int)] = []
    try check(steps) { operation in
      switch operation {
      case .write(let key, let value):
        defer { writes.append((key, value)) }
        return writes.last { $0.key == key }?.value
      case .read(let key): return writes.last { $0.key == key }?.value
      case .count: return Set(writes.map(\.key)).count
      }
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `dictionary: what workers read is what was written last`(place: SavinaPlace) throws {
    let operations = Self.dictionaryOperations(workers: 6, count: 80, keys: 20)
    try SavinaStage.run(place) { stage in try Self.dictionary(stage, operations) }
  }

  @Test func `dictionary: in many orders`() throws {
    let operations = Self.dictionaryOperations(workers: 3, count: 3, keys: 2)
    try SavinaStage.exploreOrders { stage in try Self.dictionary(stage, operations) }
  }

  // MARK: - Concurrent Sorted Linked List

  private enum ListOperation: Sendable {
    /// Answered with the place it got.
    case insert(Int)
    /// Answered with the place of the first one.
    case find(Int)
    case count
  }

  private final class Link {
    let value: Int
    var next: Link?

    init(_ value: Int, _ next: Link?) { (self.value, self.next) = (value, next) }
  }

  /// A list whose links are in ascending order.
  private static func makeList() -> (ListOperation) throws -> Int? {
    let head = Link(.min, nil)
    var count = 0
    /// The last link before the first whose value is not less.
    func before(_ value: Int) -> (Link, place: Int) {
      var (link, place) = (head, 0)
      while let next = link.next, next.value < value { (link, place) = (next, place + 1) }
      return (link, place)
    }
    return { operation in
      switch operation {
      case .insert(let value):
        let (link, place) = before(value)
        link.next = Link(value, link.next)
        count += 1
        return place
      case .find(let value):
        let (link, place) = before(value)
        return link.next?.value == value ? place : nil
      case .count:
        var (link, links) = (head, 0)
        while let next = link.next {
          try SavinaFailure.unless(link.value <= next.value, "not ascending")
          (link, links) = (next, links + 1)
        }
        try SavinaFailure.unless(links == count, "a link is missing")
        return links
      }
    }
  }

  private static func listOperations(
    workers: Int,
    count: Int,
    values: Int
  ) -> [[ListOperation]] {
    (0..<workers).map { worker in
      var random = SavinaRandom(seed: UInt64(100 + worker))
      return (0..<count).map { _ in
        let value = Int.random(in: 0..<values, using: &random)
        return switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: .insert(value)
        case 4..<9: .find(value)
        default: .count
        }
      }
    }
  }

  private static func list(_ stage: SavinaStage, _ operations: [[ListOperation]]) throws {
    let steps = try perform(stage, operations, on: makeList)
    var sorted: [Int] = []
    try check(steps) { operation in
      switch operation {
      case .insert(let value):
        sorted = (sorted + [value]).sorted()
        return sorted.firstIndex(of: value)
      case .find(let value): return sorted.firstIndex(of: value)
      case .count: return sorted.count
      }
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `sorted list: what workers find is what was inserted, in order`(place: SavinaPlace) throws {
    let operations = Self.listOperations(workers: 6, count: 80, values: 40)
    try SavinaStage.run(place) { stage in try Self.list(stage, operations) }
  }

  @Test func `sorted list: in many orders`() throws {
    let operations = Self.listOperations(workers: 3, count: 3, values: 3)
    try SavinaStage.exploreOrders { stage in try Self.list(stage, operations) }
  }
}
