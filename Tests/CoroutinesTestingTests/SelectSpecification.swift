// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// Two channels, and selects over both, one operation at a time.
///
/// A select among ready clauses may take any of them, so some operations have several possibilities. One that
/// waits stands in several lines, and leaves all of them when its turn comes in one.
struct TwoChannelSpecification: SequentialSpecification {
  enum Operation: Hashable {
    case send(Int, to: Int)
    case receive(from: Int)
    case close(Int)
    /// Receives from whichever has something.
    case receiveFromEither
    /// Sends the first to channel 0, or the second to channel 1.
    case sendToEither(Int, Int)
    /// Sends to channel 0, or receives from channel 1.
    case exchange(Int)
    /// Receives from whichever has something now.
    case receiveFromEitherIfReady
  }

  enum Outcome: Hashable {
    case sent(to: Int)
    case received(Int, from: Int)
    case closed, nothing, done
  }

  private struct Sender: Hashable {
    let caller: Int
    let value: Int
  }

  private struct Line: Hashable {
    let limit: Int
    var kept: [Int] = []
    var senders: [Sender] = []
    var receivers: [Int] = []
    var isClosed = false

    init(limit: Int) { self.limit = limit }
  }

  private enum Clause {
    case send(Int, to: Int)
    case receive(from: Int)
  }

  private var lines: [Line]

  init(limits: [Int]) { lines = limits.map(Line.init(limit:)) }

  func possibilities(
    of operation: Operation,
    by caller: Int,
    in worker: Int
  ) -> [(after: TwoChannelSpecification, ended: [Completion<Outcome>])] {
    let clauses: [Clause]
    switch operation {
    case .close(let index):
      var after = self
      let ended = after.close(index)
      return [(after, [Completion(caller, .done)] + ended)]
    case .send(let value, let index): clauses = [.send(value, to: index)]
    case .receive(let index): clauses = [.receive(from: index)]
    case .receiveFromEither, .receiveFromEitherIfReady:
      clauses = [.receive(from: 0), .receive(from: 1)]
    case .sendToEither(let one, let other): clauses = [.send(one, to: 0), .send(other, to: 1)]
    case .exchange(let value): clauses = [.send(value, to: 0), .receive(from: 1)]
    }
    let now = clauses.compactMap { clause -> (TwoChannelSpecification, [Completion<Outcome>])? in
      var after = self
      guard let ended = after.carryOut(clause, caller) else { return nil }
      return (after, ended)
    }
    if !now.isEmpty { return now }
    if operation == .receiveFromEitherIfReady { return [(self, [Completion(caller, .nothing)])] }
    var after = self
    for clause in clauses {
      switch clause {
      case .send(let value, let index):
        after.lines[index].senders.append(Sender(caller: caller, value: value))
      case .receive(let index): after.lines[index].receivers.append(caller)
      }
    }
    return [(after, [])]
  }

  /// A clause that is ready; nil if it would wait.
  private mutating func carryOut(_ clause: Clause, _ caller: Int) -> [Completion<Outcome>]? {
    switch clause {
    case .send(let value, let index):
      if lines[index].isClosed { return [Completion(caller, .closed)] }
      if let receiver = lines[index].receivers.first {
        leaveAllLines(receiver)
        return [
          Completion(caller, .sent(to: index)), Completion(receiver, .received(value, from: index)),
        ]
      }
      guard lines[index].kept.count < lines[index].limit else { return nil }
      lines[index].kept.append(value)
      return [Completion(caller, .sent(to: index))]
    case .receive(let index):
      let sender = lines[index].senders.first
      if let sender { leaveAllLines(sender.caller) }
      let woken = sender.map { [Completion($0.caller, Outcome.sent(to: index))] } ?? []
      if !lines[index].kept.isEmpty {
        let value = lines[index].kept.removeFirst()
        if let sender { lines[index].kept.append(sender.value) }
        return [Completion(caller, .received(value, from: index))] + woken
      }
      if let sender { return [Completion(caller, .received(sender.value, from: index))] + woken }
      return lines[index].isClosed ? [Completion(caller, .closed)] : nil
    }
  }

  private mutating func close(_ index: Int) -> [Completion<Outcome>] {
    lines[index].isClosed = true
    let waiting = lines[index].receivers + lines[index].senders.map(\.caller)
    for caller in waiting { leaveAllLines(caller) }
    return waiting.map { Completion($0, .closed) }
  }

  private mutating func leaveAllLines(_ caller: Int) {
    for index in lines.indices {
      lines[index].senders.removeAll { $0.caller == caller }
      lines[index].receivers.removeAll { $0 == caller }
    }
  }
}

/// The two channels.
final class TwoChannels {
  let channels: [Channel<Int>]

  init(limits: [Int]) { channels = limits.map { Channel(capacity: $0) } }

  func perform(
    _ operation: TwoChannelSpecification.Operation
  ) throws -> TwoChannelSpecification.Outcome {
    typealias Outcome = TwoChannelSpecification.Outcome
    do {
      switch operation {
      case .send(let value, let index):
        try channels[index].send(value)
        return .sent(to: index)
      case .receive(let index): return .received(try channels[index].receive(), from: index)
      case .close(let index):
        channels[index].close()
        return .done
      case .receiveFromEither:
        return try select {
          Receive(from: channels[0]) { Outcome.received($0, from: 0) }
          Receive(from: channels[1]) { Outcome.received($0, from: 1) }
        }
      case .receiveFromEitherIfReady:
        return try select {
          Receive(from: channels[0]) { Outcome.received($0, from: 0) }
          Receive(from: channels[1]) { Outcome.received($0, from: 1) }
          Default { Outcome.nothing }
        }
      case .sendToEither(let one, let other):
        return try select {
          Send(one, to: channels[0]) { Outcome.sent(to: 0) }
          Send(other, to: channels[1]) { Outcome.sent(to: 1) }
        }
      case .exchange(let value):
        return try select {
          Send(value, to: channels[0]) { Outcome.sent(to: 0) }
          Receive(from: channels[1]) { Outcome.received($0, from: 1) }
        }
      }
    } catch ChannelError.closed {
      return .closed
    }
  }
}
