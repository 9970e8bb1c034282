// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// Logistic Map and Bank Transaction: actors that need another one's answer before they can go on.
@Suite(.timeLimit(.minutes(30))) struct SavinaTransactionTests {
  // MARK: - Logistic Map

  private struct Term {
    let value: Double
    let next: Reply<Double>
  }

  private enum Series {
    case advance
    case value(Reply<Double>)
  }

  private static func rate(_ series: Int) -> Double { 3.46 + 0.0025 * Double(series) }
  private static func start(_ series: Int) -> Double { 0.0025 * Double(series + 1) }

  /// The last term of each series.
  private static func logisticMap(
    _ stage: SavinaStage,
    series: Int,
    terms: Int
  ) throws -> [Double] {
    let workers = (0..<series).map { number in
      let computer = stage.actor("rate \(number)", of: Term.self) { mailbox in
        let rate = Self.rate(number)
        for term in mailbox { term.next(rate * term.value * (1 - term.value)) }
      }
      return stage.actor("series \(number)", of: Series.self) { mailbox in
        var value = Self.start(number)
        for message in mailbox {
          switch message {
          // What comes meanwhile stays in the mailbox.
          case .advance: value = try computer.ask { Term(value: value, next: $0) }.await()
          case .value(let reply): reply(value)
          }
        }
        computer.stop()
      }
    }
    for _ in 0..<terms { for worker in workers { try worker.tell(.advance) } }
    defer { for worker in workers { worker.stop() } }
    return
      try workers
      .map { worker in worker.ask { .value($0) } }
      .map { promise in try promise.await() }
  }

  private static func expectedTerm(_ series: Int, terms: Int) -> Double {
    (0..<terms).reduce(start(series)) { value, _ in rate(series) * value * (1 - value) }
  }

  @Test(arguments: SavinaPlace.all)
  func `logistic map: what comes while a series waits for its next term waits too`(
    place: SavinaPlace
  ) throws {
    let terms = try SavinaStage.run(place) { stage in
      try Self.logisticMap(stage, series: 6, terms: 80)
    }
    #expect(terms == (0..<6).map { Self.expectedTerm($0, terms: 80) })
  }

  @Test func `logistic map: in many orders`() throws {
    let expected = (0..<2).map { Self.expectedTerm($0, terms: 3) }
    try SavinaStage.exploreOrders { stage in
      let terms = try Self.logisticMap(stage, series: 2, terms: 3)
      try SavinaFailure.unless(terms == expected, "\(terms)")
    }
  }

  // MARK: - Bank Transaction

  private enum Account {
    /// Answered when the amount is on the other account.
    case transfer(Int, to: MessageActor<Account>, Reply<Void>)
    case deposit(Int, Reply<Void>)
    case balance(Reply<Int>)
  }

  private struct Transfer: Sendable {
    let source: Int
    let destination: Int
    let amount: Int
  }

  /// What an account does until the other one has the amount.
  enum Manner: Sendable, CaseIterable {
    /// Takes no message.
    case waiting
    /// Goes on: a coroutine of its own waits.
    case launching
  }

  private static let initialBalance = 1000

  private static func account(
    _ stage: SavinaStage,
    _ number: Int,
    _ manner: Manner
  ) -> MessageActor<Account> {
    stage.actor("account \(number)") { mailbox in
      var balance = initialBalance
      for message in mailbox {
        switch message {
        case .transfer(let amount, let other, let reply):
          balance -= amount
          let deposit = other.ask { .deposit(amount, $0) }
          switch manner {
          case .waiting:
            try deposit.await()
            reply()
          case .launching:
            launch {
              try deposit.await()
              reply()
            }
          }
        case .deposit(let amount, let reply):
          balance += amount
          reply()
        case .balance(let reply): reply(balance)
        }
      }
    }
  }

  /// The balances after all transfers.
  private static func bank(
    _ stage: SavinaStage,
    _ manner: Manner,
    accounts count: Int,
    _ transfers: [Transfer]
  ) throws -> [Int] {
    let accounts = (0..<count).map { account(stage, $0, manner) }
    let ends = transfers.map { transfer in
      accounts[transfer.source].ask {
        .transfer(transfer.amount, to: accounts[transfer.destination], $0)
      }
    }
    for end in ends { try end.await() }
    defer { for account in accounts { account.stop() } }
    return try accounts.map { account in try account.ask { .balance($0) }.await() }
  }

  private static func transfers(
    accounts: Int,
    count: Int,
    upwardsOnly: Bool
  ) -> [Transfer] {
    var random = SavinaRandom(seed: 123)
    return (0..<count).map { _ in
      let source = Int.random(in: 0..<(accounts - 1), using: &random)
      let destination = Int.random(in: (source + 1)..<accounts, using: &random)
      let isTurned = !upwardsOnly && Bool.random(using: &random)
      return Transfer(
        source: isTurned ? destination : source,
        destination: isTurned ? source : destination,
        amount: Int.random(in: 1...50, using: &random)
      )
    }
  }

  private static func balances(after transfers: [Transfer], accounts: Int) -> [Int] {
    (0..<accounts).map { account in
      transfers.reduce(initialBalance) { balance, transfer in
        balance + (transfer.destination == account ? transfer.amount : 0)
          - (transfer.source == account ? transfer.amount : 0)
      }
    }
  }

  @Test(arguments: SavinaPlace.all, Manner.allCases)
  func `bank: transfers neither make nor lose money`(place: SavinaPlace, manner: Manner) throws {
    // Who waits for another must not be waited for by it: then all transfers go upwards.
    let transfers = Self.transfers(accounts: 10, count: 200, upwardsOnly: manner == .waiting)
    let balances = try SavinaStage.run(place) { stage in
      try Self.bank(stage, manner, accounts: 10, transfers)
    }
    #expect(balances == Self.balances(after: transfers, accounts: 10))
    #expect(balances.reduce(0, +) == 10 * Self.initialBalance)
  }

  private static let crossing = [
    Transfer(source: 0, destination: 1, amount: 3), Transfer(source: 1, destination: 0, amount: 5),
  ]

  @Test func `bank: transfers that cross end in every order if no account waits`() throws {
    try SavinaStage.exploreOrders { stage in
      let balances = try Self.bank(stage, .launching, accounts: 2, Self.crossing)
      try SavinaFailure.unless(balances == [1002, 998], "\(balances)")
    }
  }

  @Test func `bank: transfers that cross are found as a deadlock if the accounts wait`() throws {
    let failure = try #require(throws: ExplorationFailure.self) {
      try SavinaStage.exploreOrders { stage in
        _ = try Self.bank(stage, .waiting, accounts: 2, Self.crossing)
      }
    }
    #expect(failure.error is Deadlock)
  }
}
