// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting

/// A channel of numbers, one operation at a time.
struct ChannelSpecification: SequentialSpecification {
  enum Operation: Hashable {
    case send(Int)
    case sendIfReady(Int)
    case receive
    case receiveIfReady
    case close
    case count
    case isClosed
  }

  enum Outcome: Hashable {
    case sent, full, closed, empty
    case received(Int)
    case number(Int)
    case truth(Bool)
    case done
  }

  /// What happens to a value that does not fit.
  enum Overflow: Hashable {
    case wait, dropOldest, dropNewest
  }

  struct Sender: Hashable {
    let caller: Int
    let value: Int
  }

  let limit: Int
  let overflow: Overflow
  var kept: [Int] = []
  var senders: [Sender] = []
  var receivers: [Int] = []
  var isClosed = false

  init(limit: Int, overflow: Overflow = .wait) {
    self.limit = limit
    self.overflow = overflow
  }

  mutating func begin(_ operation: Operation, by caller: Int) -> [Completion<Outcome>] {
    switch operation {
    case .send(let value): return send(value, by: caller, waits: true)
    case .sendIfReady(let value): return send(value, by: caller, waits: false)
    case .receive: return receive(by: caller, waits: true)
    case .receiveIfReady: return receive(by: caller, waits: false)
    case .close:
      isClosed = true
      let woken =
        senders.map { Completion($0.caller, Outcome.closed) }
        + receivers.map { Completion($0, Outcome.closed) }
      senders = []
      receivers = []
      return [Completion(caller, .done)] + woken
    case .count: return [Completion(caller, .number(kept.count))]
    case .isClosed: return [Completion(caller, .truth(isClosed))]
    }
  }

  private mutating func send(
    _ value: Int,
    by caller: Int,
    waits: Bool
  ) -> [Completion<Outcome>] {
    if isClosed { return [Completion(caller, .closed)] }
    if !receivers.isEmpty {
      return [Completion(caller, .sent), Completion(receivers.removeFirst(), .received(value))]
    }
    if kept.count < limit {
      kept.append(value)
      return [Completion(caller, .sent)]
    }
    switch overflow {
    case .wait where waits:
      senders.append(Sender(caller: caller, value: value))
      return []
    case .wait: return [Completion(caller, .full)]
    case .dropOldest:
      kept.removeFirst()
      kept.append(value)
      return [Completion(caller, .sent)]
    case .dropNewest: return [Completion(caller, waits ? .sent : .full)]
    }
  }

  private mutating func receive(by caller: Int, waits: Bool) -> [Completion<Outcome>] {
    if !kept.isEmpty {
      let value = kept.removeFirst()
      guard !senders.isEmpty else { return [Completion(caller, .received(value))] }
      let sender = senders.removeFirst()
      kept.append(sender.value)
      return [Completion(caller, .received(value)), Completion(sender.caller, .sent)]
    }
    if !senders.isEmpty {
      let sender = senders.removeFirst()
      return [Completion(caller, .received(sender.value)), Completion(sender.caller, .sent)]
    }
    if isClosed { return [Completion(caller, .closed)] }
    guard waits else { return [Completion(caller, .empty)] }
    receivers.append(caller)
    return []
  }
}

extension Channel<Int> {
  /// Does an operation of the specification.
  func perform(
    _ operation: ChannelSpecification.Operation
  ) throws -> ChannelSpecification.Outcome {
    do {
      switch operation {
      case .send(let value):
        try send(value)
        return .sent
      case .sendIfReady(let value):
        return switch sendIfReady(value) {
        case .sent: .sent
        case .full: .full
        case .closed: .closed
        }
      case .receive: return .received(try receive())
      case .receiveIfReady:
        return switch receiveIfReady() {
        case .received(let value): .received(value)
        case .empty: .empty
        case .closed: .closed
        }
      case .close:
        close()
        return .done
      case .count: return .number(count)
      case .isClosed: return .truth(isClosed)
      }
    } catch ChannelError.closed {
      return .closed
    }
  }
}
