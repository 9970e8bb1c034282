// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// Radix Sort, Bitonic Sort, Quicksort: a chain, a network and a tree of actors that sort.
@Suite(.timeLimit(.minutes(30))) struct SavinaSortingTests {
  private static func numbers(_ count: Int, seed: UInt64, below limit: Int = 1 << 12) -> [Int] {
    var random = SavinaRandom(seed: seed)
    return (0..<count).map { _ in Int.random(in: 0..<limit, using: &random) }
  }

  // MARK: - Radix Sort

  /// Sorts by a chain of actors, each of which looks at one bit; the lowest first.
  private static func radixSort(
    _ stage: SavinaStage,
    _ numbers: [Int],
    bits: Int
  ) throws -> [Int] {
    let sorted = SavinaGuarded<[Int]>([])
    let last = stage.actor("validation", of: Int.self) { mailbox in
      for number in mailbox { sorted.withLock { $0.append(number) } }
    }
    var next = last
    for bit in (0..<bits).reversed() {
      let target = next
      next = stage.actor("bit \(bit)", capacity: 16) { mailbox in
        var ones: [Int] = []
        for number in mailbox {
          if number >> bit & 1 == 0 { try target.tell(number) } else { ones.append(number) }
        }
        for number in ones { try target.tell(number) }
        target.stop()
      }
    }
    for number in numbers { try next.tell(number) }
    next.stop()
    try last.join()
    return sorted.withLock { $0 }
  }

  @Test(arguments: SavinaPlace.all)
  func `radix sort: a chain of actors, one for each bit, sorts`(place: SavinaPlace) throws {
    let numbers = Self.numbers(150, seed: 1)
    let sorted = try SavinaStage.run(place) { stage in
      try Self.radixSort(stage, numbers, bits: 12)
    }
    #expect(sorted == numbers.sorted())
  }

  @Test func `radix sort: in many orders`() throws {
    try SavinaStage.exploreOrders { stage in
      let sorted = try Self.radixSort(stage, [3, 0, 2, 1, 3], bits: 2)
      try SavinaFailure.unless(sorted == [0, 1, 2, 3, 3], "\(sorted)")
    }
  }

  // MARK: - Bitonic Sort

  private struct Key: Sendable {
    let wire: Int
    let value: Int
  }

  private struct Comparator: Sendable {
    let low: Int
    let high: Int
    let isAscending: Bool
  }

  /// The steps of the network; in each, every wire has one comparator.
  private static func bitonicSteps(wires: Int) -> [[Comparator]] {
    var steps: [[Comparator]] = []
    var length = 2
    while length <= wires {
      var distance = length / 2
      while distance >= 1 {
        steps.append(
          (0..<wires).filter { $0 & distance == 0 }.map { wire in
            Comparator(low: wire, high: wire | distance, isAscending: wire & length == 0)
          }
        )
        distance /= 2
      }
      length *= 2
    }
    return steps
  }

  /// Sorts several rows, one behind the other in the same network.
  private static func bitonicSort(_ stage: SavinaStage, _ rows: [[Int]]) throws -> [[Int]] {
    let wires = rows.first?.count ?? 0
    let collector = stage.actor("collector", of: (Key?, Reply<[[Int]]>?).self) { mailbox in
      var columns: [[Int]] = Array(repeating: [], count: wires)
      var result: Reply<[[Int]]>?
      var keysLeft = wires * rows.count
      while keysLeft > 0 || result == nil {
        let (key, reply) = try mailbox.receive()
        if let reply { result = reply }
        guard let key else { continue }
        columns[key.wire].append(key.value)
        keysLeft -= 1
      }
      let sorted = rows.indices.map { row in columns.map { $0[row] } }
      result?(sorted)
    }
    let output = stage.actor("output", of: Key.self) { mailbox in
      for _ in 0..<(wires * rows.count) { try collector.tell((try mailbox.receive(), nil)) }
    }
    var targets = Array(repeating: output, count: wires)
    for step in bitonicSteps(wires: wires).reversed() {
      let next = targets
      for comparator in step {
        let (low, high) = (comparator.low, comparator.high)
        let actor = stage.actor("compare \(low) \(high)", of: Key.self) { mailbox in
          // A row may come on one wire before the row ahead of it has come on the other.
          var (lows, highs): ([Int], [Int]) = ([], [])
          for _ in rows {
            while lows.isEmpty || highs.isEmpty {
              let key = try mailbox.receive()
              if key.wire == low { lows.append(key.value) } else { highs.append(key.value) }
            }
            let (one, other) = (lows.removeFirst(), highs.removeFirst())
            let isInOrder = (one <= other) == comparator.isAscending
            try next[low].tell(Key(wire: low, value: isInOrder ? one : other))
            try next[high].tell(Key(wire: high, value: isInOrder ? other : one))
          }
        }
        (targets[low], targets[high]) = (actor, actor)
      }
    }
    for row in rows {
      for (wire, value) in row.enumerated() {
        try targets[wire].tell(Key(wire: wire, value: value))
      }
    }
    return try collector.ask { (nil, $0) }.await()
  }

  @Test(arguments: SavinaPlace.all)
  func `bitonic sort: a network of comparing actors sorts row after row`(
    place: SavinaPlace
  ) throws {
    let rows = (0..<4).map { Self.numbers(16, seed: UInt64(10 + $0), below: 30) }
    let sorted = try SavinaStage.run(place) { stage in try Self.bitonicSort(stage, rows) }
    #expect(sorted == rows.map { $0.sorted() })
  }

  @Test func `bitonic sort: in many orders`() throws {
    let rows = [[3, 1, 2, 0], [1, 1, 0, 2]]
    try SavinaStage.exploreOrders { stage in
      let sorted = try Self.bitonicSort(stage, rows)
      try SavinaFailure.unless(sorted == rows.map { $0.sorted() }, "\(sorted)")
    }
  }

  // MARK: - Quicksort

  private struct Unsorted {
    let numbers: [Int]
    let reply: Reply<[Int]>
  }

  /// Below this many numbers an actor sorts by itself.
  private static let alone = 24

  private static func quicksort(
    _ stage: SavinaStage,
    _ numbers: [Int]
  ) -> Promise<[Int]> {
    stage.actor("sort \(numbers.count)", of: Unsorted.self) { mailbox in
      let message = try mailbox.receive()
      let numbers = message.numbers
      guard numbers.count >= alone else {
        message.reply(inserted(numbers))
        return
      }
      let pivot = numbers[numbers.count / 2]
      let less = quicksort(stage, numbers.filter { $0 < pivot })
      let more = quicksort(stage, numbers.filter { $0 > pivot })
      message.reply(try less.await() + numbers.filter { $0 == pivot } + more.await())
    }
    .ask { Unsorted(numbers: numbers, reply: $0) }
  }

  private static func inserted(_ numbers: [Int]) -> [Int] {
    numbers.reduce(into: []) { sorted, number in
      sorted.insert(number, at: sorted.firstIndex { $0 > number } ?? sorted.endIndex)
    }
  }

  @Test(arguments: SavinaPlace.all)
  func `quicksort: a tree of actors sorts`(place: SavinaPlace) throws {
    let numbers = Self.numbers(1500, seed: 3, below: 1000)
    let (sorted, made) = try SavinaStage.run(place) { stage in
      (try Self.quicksort(stage, numbers).await(), stage.actorCount)
    }
    #expect(sorted == numbers.sorted())
    // Each one either sorts by itself or has two others do it.
    #expect(made > 1500 / Self.alone && !made.isMultiple(of: 2))
  }
}
