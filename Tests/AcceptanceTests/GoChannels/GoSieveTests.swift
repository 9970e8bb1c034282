// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `sieve1` and `sieve2`: prime numbers out of coroutines.
@Suite(.timeLimit(.minutes(30))) struct GoSieveTests {
  private static let primes = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
  ]

  // MARK: - sieve1

  /// A chain of filters that grows by one for each prime.
  private static func chain(_ program: GoProgram) -> ReceiveEnd<Int> {
    let primes = Channel<Int>()
    program.go("sieve") {
      let candidates = Channel<Int>()
      program.go("candidates") { for number in 2... { try candidates.send(number) } }
      var source = candidates
      while true {
        let prime = try source.receive()
        try primes.send(prime)
        let (unfiltered, filtered) = (source, Channel<Int>())
        program.go("not by \(prime)") {
          for number in unfiltered where !number.isMultiple(of: prime) {
            try filtered.send(number)
          }
        }
        source = filtered
      }
    }
    return primes.receiveEnd
  }

  // MARK: - sieve2

  /// An endless sequence with a step, from a coroutine of its own that runs ahead.
  private static func sequence(
    _ program: GoProgram,
    from start: Int,
    by step: Int,
    ahead: Int
  ) -> Channel<Int> {
    let numbers = Channel<Int>(capacity: ahead)
    program.go {
      for number in stride(from: start, to: .max, by: step) { try numbers.send(number) }
    }
    return numbers
  }

  /// A coroutine that keeps what does not fit into `output`, so that its senders never wait for long.
  private static func endlessBuffer(
    _ program: GoProgram,
    into output: Channel<Int>
  ) -> Channel<Int> {
    let input = Channel<Int>(capacity: 10)
    program.go("buffer") {
      var kept: [Int] = []
      let nobody = nobodysChannel()
      while true {
        try select {
          Receive(from: input) { kept.append($0) }
          // Switched off while there is nothing to send.
          Send(kept.first ?? 0, to: kept.isEmpty ? nobody : output) { _ = kept.removeFirst() }
        }
      }
    }
    return input
  }

  /// Merges the odd multiples of the primes that come back from its own output.
  private static func merging(_ program: GoProgram) -> ReceiveEnd<Int> {
    let primes = Channel<Int>(capacity: 10)
    let composites = Channel<Int>(capacity: 50)
    let fedBack = Channel<Int>(capacity: 10)
    program.go("composites") {
      // Ascending by their next number.
      var heads: [(next: Int, rest: Channel<Int>)] = []
      func insert(_ rest: Channel<Int>) throws {
        let next = try rest.receive()
        heads.insert((next, rest), at: heads.firstIndex { $0.next > next } ?? heads.endIndex)
      }
      var newest = 0
      while true {
        // The next prime is needed once its square is the least number that is to come.
        while heads.isEmpty || heads[0].next >= newest {
          let prime = try fedBack.receive()
          newest = prime * prime
          try insert(sequence(program, from: newest, by: 2 * prime, ahead: 10))
        }
        let (next, rest) = heads.removeFirst()
        try composites.send(next)
        try insert(rest)
      }
    }
    program.go("primes") {
      try primes.send(2)
      let feedback = endlessBuffer(program, into: fedBack)
      let candidates = sequence(program, from: 3, by: 2, ahead: 50)
      // No composite below 9 is odd: these get the feedback going.
      var composite = 9
      while true {
        let candidate = try candidates.receive()
        while composite < candidate { composite = try composites.receive() }
        if candidate == composite { continue }
        try feedback.send(candidate)
        try primes.send(candidate)
      }
    }
    return primes.receiveEnd
  }

  /// Which sieve.
  enum Kind: CaseIterable {
    case chain
    case merging

    func start(_ program: GoProgram) -> ReceiveEnd<Int> {
      switch self {
      case .chain: GoSieveTests.chain(program)
      case .merging: GoSieveTests.merging(program)
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `a sieve of coroutines finds the primes below a hundred`(kind: Kind) throws {
    let found = try GoProgram.run { program in
      try kind.start(program).receive(count: Self.primes.count)
    }
    #expect(found == Self.primes)
  }

  @Test(arguments: Kind.allCases, 1...5)
  func `in any order of its coroutines a sieve finds the same primes`(
    kind: Kind,
    seed: UInt64
  ) throws {
    let found = try GoProgram.run(seed: seed) { program in
      try kind.start(program).receive(count: 12)
    }
    #expect(found == Array(Self.primes.prefix(12)))
  }
}
