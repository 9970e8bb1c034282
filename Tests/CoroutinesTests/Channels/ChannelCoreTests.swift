// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Testing

@testable import Coroutines

/// The pure decisions of a channel against a model of a few lines, without any coroutine.
@Suite struct ChannelCoreTests {
  static let limits: [ChannelCapacity] = [
    0, 1, 2, 3, 64, .unbounded, .droppingOldest(1), .droppingOldest(3), .droppingNewest(1),
    .droppingNewest(3),
  ]

  @Test(arguments: limits, [1, 2, 3, 4] as [UInt64])
  func `every decision is the model's`(capacity: ChannelCapacity, seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let bench = CoreBench(capacity)
    for step in 0..<2_000 {
      let operation = CoreBench.Operation.random(&random, step)
      let (real, expected) = bench.perform(operation, &random)
      #expect(real == expected, "step \(step), \(operation), seed \(seed)")
      if real != expected { return }
    }
  }

  @Test(arguments: limits, [5, 6] as [UInt64])
  func `after closing, what is kept drains and nothing waits`(
    capacity: ChannelCapacity,
    seed: UInt64
  ) {
    var random = SeededRandom(seed: seed)
    let bench = CoreBench(capacity)
    for step in 0..<200 { _ = bench.perform(.random(&random, step), &random) }
    #expect(bench.close() == bench.model.close())
    for step in 0..<100 {
      let (real, expected) = bench.perform(step % 3 == 0 ? .send(step) : .receive, &random)
      #expect(real == expected)
    }
    #expect(bench.perform(.receive, &random).real == "closed")
    #expect(bench.perform(.send(1), &random).real == "closed")
    #expect(bench.close() == nil)
  }

  @Test func `a ring that grows keeps its order`() {
    var random = SeededRandom(seed: 7)
    let bench = CoreBench(.bounded(5_000))
    for value in 0..<10 { _ = bench.perform(.send(value), &random) }
    for _ in 0..<7 { _ = bench.perform(.receive, &random) }
    for value in 10..<4_000 { _ = bench.perform(.send(value), &random) }
    for value in 7..<4_000 {
      #expect(bench.perform(.receive, &random).real == "received \(value)")
    }
  }
}

/// The rules of a channel, as plainly as they can be put.
struct ChannelModel {
  let capacity: ChannelCapacity
  var kept: [Int] = []
  var senders: [Int] = []
  var receivers: [Int] = []
  var isClosed = false

  mutating func send(_ value: Int, waits: Bool) -> String {
    if isClosed { return "closed" }
    if !receivers.isEmpty { return "handed to \(receivers.removeFirst())" }
    if kept.count < capacity.limit {
      kept.append(value)
      return "kept"
    }
    switch capacity.overflow {
    case .dropNewest: return "dropped \(value)"
    case .dropOldest:
      kept.append(value)
      return "dropped \(kept.removeFirst())"
    case .wait:
      if waits { senders.append(value) }
      return "waits"
    }
  }

  mutating func receive(_ name: Int, waits: Bool) -> String {
    if !kept.isEmpty {
      let value = kept.removeFirst()
      if senders.isEmpty { return "received \(value)" }
      let sender = senders.removeFirst()
      kept.append(sender)
      return "received \(value), woke \(sender)"
    }
    if !senders.isEmpty {
      let sender = senders.removeFirst()
      return "received \(sender), woke \(sender)"
    }
    if isClosed { return "closed" }
    if waits { receivers.append(name) }
    return "waits"
  }

  mutating func withdraw(_ name: Int) {
    senders.removeAll { $0 == name }
    receivers.removeAll { $0 == name }
  }

  mutating func close() -> [Int]? {
    if isClosed { return nil }
    isClosed = true
    defer { (senders, receivers) = ([], []) }
    return receivers + senders
  }
}

/// A real core, its model, and nodes in place of parked coroutines; a node's number is its name.
final class CoreBench {
  enum Operation {
    case send(Int)
    case sendIfReady(Int)
    case receive
    case receiveIfReady
    case withdraw

    static func random(_ random: inout SeededRandom, _ step: Int) -> Operation {
      switch Int.random(in: 0..<9, using: &random) {
      case 0...2: .send(step)
      case 3: .sendIfReady(step)
      case 4...6: .receive
      case 7: .receiveIfReady
      default: .withdraw
      }
    }
  }

  private struct Node {
    let waiter: UnsafeMutablePointer<Waiter>
    let slot: UnsafeMutablePointer<Int>
  }

  let channel: Channel<Int>
  var model: ChannelModel
  private var nodes: [Int: Node] = [:]
  private var nextReceiver = -1

  init(_ capacity: ChannelCapacity) {
    channel = Channel(capacity: capacity)
    model = ChannelModel(capacity: capacity)
  }

  deinit {
    for name in nodes.keys { withdraw(name) }
  }

  func perform(
    _ operation: Operation,
    _ random: inout SeededRandom
  ) -> (real: String, expected: String) {
    defer { channel.core.checkInvariants() }
    switch operation {
    case .send(let value): return (send(value, waits: true), model.send(value, waits: true))
    case .sendIfReady(let value):
      return (send(value, waits: false), model.send(value, waits: false))
    case .receive, .receiveIfReady:
      nextReceiver -= 1
      let waits = if case .receive = operation { true } else { false }
      return (
        receive(nextReceiver, waits: waits), model.receive(nextReceiver, waits: waits)
      )
    case .withdraw:
      if let name = (model.senders + model.receivers).randomElement(using: &random) {
        withdraw(name)
        model.withdraw(name)
      }
      return ("", "")
    }
  }

  /// Names of those who were woken; nil if it was closed.
  func close() -> [Int]? {
    let waiting = model.receivers + model.senders
    var wakes = ResumeList()
    let isFirst = channel.core.lock.withLock { channel.core.close(&wakes) }
    wakes.resumeAll()
    channel.core.checkInvariants()
    guard isFirst else { return nil }
    let woken = waiting.filter { nodes[$0]?.waiter.pointee.outcome == .closed }
    for name in woken { drop(name) }
    return woken
  }

  private func send(_ value: Int, waits: Bool) -> String {
    channel.core.lock.withLock {
      switch channel.core.decideSend() {
      case .handOver(let receiver):
        receiver.pointee.slot?.assumingMemoryBound(to: Int.self).initialize(to: value)
        let name = Int(receiver.pointee.clause)
        #expect(nodes[name]?.slot.pointee == value)
        drop(name)
        return "handed to \(name)"
      case .keep(let slot):
        slot.assumingMemoryBound(to: Int.self).initialize(to: value)
        return "kept"
      case .replace(let slot):
        let oldest = slot.assumingMemoryBound(to: Int.self).move()
        slot.assumingMemoryBound(to: Int.self).initialize(to: value)
        return "dropped \(oldest)"
      case .discard: return "dropped \(value)"
      case .closed: return "closed"
      case .wait:
        if waits { enter(value, channel.core.senders).initialize(to: value) }
        return "waits"
      }
    }
  }

  private func receive(_ name: Int, waits: Bool) -> String {
    channel.core.lock.withLock {
      switch channel.core.decideReceive() {
      case .take(let slot, let sender, let free):
        let value = slot.assumingMemoryBound(to: Int.self).move()
        guard let sender else { return "received \(value)" }
        channel.core.move(free, sender.pointee.slot ?? slot)
        let waker = Int(sender.pointee.clause)
        drop(waker)
        return "received \(value), woke \(waker)"
      case .meet(let sender):
        let value = sender.pointee.slot?.assumingMemoryBound(to: Int.self).move() ?? .min
        drop(Int(sender.pointee.clause))
        return "received \(value), woke \(value)"
      case .closed: return "closed"
      case .wait:
        if waits { _ = enter(name, channel.core.receivers) }
        return "waits"
      }
    }
  }

  private func enter(
    _ name: Int,
    _ queue: UnsafeMutablePointer<WaitQueue>
  ) -> UnsafeMutablePointer<Int> {
    let node = Node(waiter: .allocate(capacity: 1), slot: .allocate(capacity: 1))
    node.waiter.initialize(to: Waiter(fiber: nil, slot: UnsafeMutableRawPointer(node.slot)))
    node.waiter.pointee.clause = Int32(name)
    node.waiter.pointee.lock = channel.core.lock
    node.waiter.pointee.queue = queue
    queue.pointee.append(node.waiter)
    nodes[name] = node
    return node.slot
  }

  private func withdraw(_ name: Int) {
    #expect(nodes[name]?.waiter.withdraw(.cancelled) == true)
    drop(name)
  }

  private func drop(_ name: Int) {
    guard let node = nodes.removeValue(forKey: name) else { return }
    node.waiter.deallocate()
    node.slot.deallocate()
  }
}
