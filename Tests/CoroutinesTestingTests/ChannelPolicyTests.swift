// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// A policy and its capacity, and the specification of it.
struct ChannelPolicy: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let capacity: ChannelCapacity
  let limit: Int
  let overflow: ChannelSpecification.Overflow

  private init(
    _ name: String,
    _ capacity: ChannelCapacity,
    _ limit: Int,
    _ overflow: ChannelSpecification.Overflow = .wait
  ) {
    testDescription = name
    self.capacity = capacity
    self.limit = limit
    self.overflow = overflow
  }

  static let all = [
    ChannelPolicy("rendezvous", .rendezvous, 0),
    ChannelPolicy("bounded(1)", 1, 1),
    ChannelPolicy("bounded(2)", 2, 2),
    ChannelPolicy("bounded(3)", 3, 3),
    ChannelPolicy("unbounded", .unbounded, .max),
    ChannelPolicy("droppingOldest(1)", .droppingOldest(1), 1, .dropOldest),
    ChannelPolicy("droppingOldest(2)", .droppingOldest(2), 2, .dropOldest),
    ChannelPolicy("droppingNewest(1)", .droppingNewest(1), 1, .dropNewest),
    ChannelPolicy("droppingNewest(2)", .droppingNewest(2), 2, .dropNewest),
    ChannelPolicy("conflated", .conflated, 1, .dropOldest),
  ]
}

/// Every operation of every kind of channel; `close`, `count`, `isClosed` and the calls for several values included.
@Suite(.timeLimit(.minutes(30))) struct ChannelPolicyTests {
  private static func check(
    _ policy: ChannelPolicy,
    _ operations: [ChannelSpecification.Operation],
    scenarios: Int
  ) throws -> LinearizabilityReport {
    var options = LinearizabilityOptions()
    options.scenarios = scenarios
    options.runs = 60
    options.operations = 4
    return try checkLinearizability(
      ChannelSpecification(limit: policy.limit, overflow: policy.overflow),
      of: operations,
      options: options
    ) {
      Channel<Int>(capacity: policy.capacity)
    } perform: {
      try $0.perform($1)
    }
  }

  @Test(arguments: ChannelPolicy.all)
  func `all operations are linearizable, and cancelled ones leave no trace (rules 3 and 4)`(
    policy: ChannelPolicy
  ) throws {
    let report = try Self.check(
      policy,
      [
        .send(1), .send(2), .send(3), .sendIfReady(4), .sendIfReady(5), .receive, .receive,
        .receive, .receiveIfReady, .count, .isClosed,
      ],
      scenarios: 12
    )
    #expect(report.histories > 150)
  }

  @Test(arguments: ChannelPolicy.all)
  func `closing is linearizable with all operations (rule 5)`(policy: ChannelPolicy) throws {
    _ = try Self.check(
      policy,
      [
        .send(1), .send(2), .sendIfReady(3), .receive, .receive, .receiveIfReady, .close, .close,
        .count, .isClosed,
      ],
      scenarios: 12
    )
  }

  // `receiveAll` and `receive(count:)` are several receives: others may come in between. What holds for them is
  // that each value comes to one receiver, in order, and that none is lost.

  private struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private static let lossless = ChannelPolicy.all.filter { $0.overflow == .wait }

  @Test(arguments: lossless)
  func `receive(count:) and receiveAll lose nothing, in any order of running (rule 4)`(
    policy: ChannelPolicy
  ) throws {
    try explore(.random(seed: 7), runs: 150) {
      let channel = Channel<Int>(capacity: policy.capacity)
      var chunks: [[Int]] = []
      let senders = [10, 20].map { base in
        launch { for number in 1...3 { try channel.send(base + number) } }
      }
      let counting = launch {
        do { chunks.append(try channel.receive(count: 3)) } catch let error
          as PartialReceiveError<Int>
        {
          chunks.append(error.received)
        } catch ChannelError.closed {}
      }
      let taking = launch {
        do { while true { chunks.append(try channel.receiveAll()) } } catch ChannelError.closed {}
      }
      for sender in senders { try sender.join() }
      channel.close()
      try counting.join()
      try taking.join()
      guard chunks.flatMap({ $0 }).sorted() == [11, 12, 13, 21, 22, 23] else {
        throw Broken(description: "lost or doubled: \(chunks)")
      }
      for chunk in chunks {
        // Of one sender, in order.
        for base in [10, 20] {
          let own = chunk.filter { $0 / 10 * 10 == base }
          guard own == own.sorted() else { throw Broken(description: "out of order: \(chunks)") }
        }
        guard !chunk.isEmpty else { throw Broken(description: "an empty chunk") }
      }
    }
  }

  @Test(arguments: lossless)
  func `a cancelled receive(count:) hands over what had come (rule 3)`(
    policy: ChannelPolicy
  ) throws {
    let sweep = try sweepCancellation { victim in
      let channel = Channel<Int>(capacity: policy.capacity)
      var received: [Int] = []
      let receiver = launch(name: victim) {
        do { received = try channel.receive(count: 4) } catch let error
          as PartialReceiveError<Int>
        {
          guard error.reason is CancellationError else { throw error }
          received = error.received
        }
      }
      let sender = launch {
        for number in 1...4 {
          try channel.send(number)
          try Coroutine.yield()
        }
      }
      let rest = launch {
        try receiver.join()
        if receiver.isCancelled { for number in channel { received.append(number) } }
      }
      try sender.join()
      channel.close()
      try rest.join()
      guard received == [1, 2, 3, 4] else { throw Broken(description: "\(received)") }
    }
    #expect(sweep.places > 0)
  }

  @Test(arguments: lossless)
  func `receive(count:) and receiveAll end with a close, wherever it comes (rule 5)`(
    policy: ChannelPolicy
  ) throws {
    let sweep = try sweepCloses { victim in
      let channel = victim(Channel<Int>(capacity: policy.capacity))
      var (received, kept): ([Int], [Int]) = ([], [])
      let sender = launch {
        for number in 1...5 {
          do { try channel.send(number) { kept.append($0) } } catch ChannelError.closed {}
        }
        channel.close()
      }
      do {
        received += try channel.receive(count: 2)
        while true { received += try channel.receiveAll() }
      } catch ChannelError.closed {
      } catch let error as PartialReceiveError<Int> {
        received += error.received
        for number in channel { received.append(number) }
      }
      try sender.join()
      guard received + kept == [1, 2, 3, 4, 5] else {
        throw Broken(description: "\(received) and \(kept)")
      }
    }
    #expect(sweep.places > 0)
  }
}
