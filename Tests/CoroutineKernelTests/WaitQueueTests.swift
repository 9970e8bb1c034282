// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Synchronization
import Testing

@Suite struct WaitQueueTests {
  private typealias Node = UnsafeMutablePointer<Waiter>

  private func makeNodes(_ count: Int) -> [Node] {
    (0..<count).map { _ in
      let node = Node.allocate(capacity: 1)
      node.initialize(to: Waiter(fiber: nil))
      return node
    }
  }

  private func free(_ nodes: [Node]) {
    for node in nodes { node.deallocate() }
  }

  private func drain(_ queue: inout WaitQueue) -> [Node] {
    var taken: [Node] = []
    while let node = queue.claimFirst() { taken.append(node) }
    return taken
  }

  /// A node is not copied, as a macro would have it.
  private func isLinked(_ node: Node) -> Bool { node.pointee.isLinked }

  @Test func `an empty queue has nobody to claim`() {
    var queue = WaitQueue()
    #expect(queue.isEmpty)
    #expect(queue.claimFirst() == nil)
    #expect(queue.firstLive() == nil)
  }

  @Test func `parties are claimed in the order of their coming`() {
    let nodes = makeNodes(10)
    defer { free(nodes) }
    var queue = WaitQueue()
    for node in nodes { queue.append(node) }
    #expect(drain(&queue) == nodes)
    #expect(queue.isEmpty)
    #expect(nodes.allSatisfy { !$0.pointee.isLinked })
  }

  @Test(arguments: [0, 1, 2, 3, 4])
  func `a party leaves from wherever it stands`(_ position: Int) {
    let nodes = makeNodes(5)
    defer { free(nodes) }
    var queue = WaitQueue()
    for node in nodes { queue.append(node) }
    queue.remove(nodes[position])
    #expect(!isLinked(nodes[position]))
    var others = nodes
    others.remove(at: position)
    #expect(drain(&queue) == others)
  }

  @Test func `who leaves and comes back stands at the end`() {
    let nodes = makeNodes(3)
    defer { free(nodes) }
    var queue = WaitQueue()
    for node in nodes { queue.append(node) }
    queue.remove(nodes[0])
    queue.append(nodes[0])
    #expect(drain(&queue) == [nodes[1], nodes[2], nodes[0]])
  }

  @Test(arguments: [7, 77, 777] as [UInt64])
  func `random comings and goings agree with an array`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let nodes = makeNodes(40)
    defer { free(nodes) }
    var queue = WaitQueue()
    var model: [Node] = []
    for _ in 0..<20_000 {
      let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
      if Int.random(in: 0..<5, using: &random) == 0 {
        let claimed = queue.claimFirst()
        #expect(claimed == model.first)
        if !model.isEmpty { model.removeFirst() }
      } else if node.pointee.isLinked {
        queue.remove(node)
        model.removeAll { $0 == node }
      } else {
        queue.append(node)
        model.append(node)
      }
      if queue.first != model.first || queue.last != model.last {
        Issue.record("the ends differ, seed \(seed)")
        return
      }
    }
    #expect(drain(&queue) == model)
  }

  @Test func `removing costs the same in a long queue as in a short one`() {
    // 200,000 removals from the middle of a queue of 200,000: with a search it would take minutes.
    let nodes = makeNodes(200_000)
    defer { free(nodes) }
    var queue = WaitQueue()
    for node in nodes { queue.append(node) }
    for node in nodes.reversed() { queue.remove(node) }
    #expect(queue.isEmpty)
    #expect(queue.last == nil)
  }

  // MARK: - Races between the clauses of a select

  private func makeRace() -> UnsafeMutablePointer<WaitRace> {
    let race = UnsafeMutablePointer<WaitRace>.allocate(capacity: 1)
    race.initialize(to: WaitRace())
    return race
  }

  @Test func `the first clause to be claimed wins and the others are passed over`() {
    let nodes = makeNodes(2)
    let bystander = makeNodes(1)
    let race = makeRace()
    defer {
      free(nodes + bystander)
      race.deallocate()
    }
    for (clause, node) in nodes.enumerated() {
      node.pointee.race = race
      node.pointee.clause = Int32(clause)
    }
    var left = WaitQueue()
    var right = WaitQueue()
    left.append(nodes[0])
    right.append(nodes[1])
    right.append(bystander[0])
    #expect(left.claimFirst() == nodes[0])
    #expect(race.pointee.winner.load(ordering: .relaxed) == 0)
    #expect(right.firstLive() == bystander[0])
    #expect(right.claimFirst() == bystander[0])
    #expect(right.isEmpty)
    #expect(!isLinked(nodes[1]))
  }

  @Test func `looking at the first live party takes nothing`() {
    let nodes = makeNodes(1)
    let race = makeRace()
    defer {
      free(nodes)
      race.deallocate()
    }
    nodes[0].pointee.race = race
    var queue = WaitQueue()
    queue.append(nodes[0])
    #expect(queue.firstLive() == nodes[0])
    #expect(isLinked(nodes[0]))
    #expect(race.pointee.winner.load(ordering: .relaxed) == -1)
    #expect(queue.claimFirst() == nodes[0])
  }

  @Test func `of four threads that claim one race exactly one wins, every time`() {
    let rounds = 5_000
    let races = (0..<rounds).map { _ in Shared(makeRace()) }
    let nodes = (0..<4).map { _ in makeNodes(rounds).map { Shared($0) } }
    for clause in 0..<4 {
      for round in 0..<rounds {
        nodes[clause][round].pointer.pointee.race = races[round].pointer
        nodes[clause][round].pointer.pointee.clause = Int32(clause)
      }
    }
    let wins = Counter()
    onThreads(4) { index in
      for node in nodes[index] where node.pointer.claim() { wins.add() }
    }
    #expect(wins.value == rounds)
    for race in races { race.pointer.deallocate() }
    for clause in nodes { free(clause.map(\.pointer)) }
  }

  // MARK: - Withdrawing

  @Test func `a wait is withdrawn once, and not after it was claimed`() {
    let nodes = makeNodes(2)
    let lock = UnsafeMutablePointer<Lock>.allocate(capacity: 1)
    let queue = UnsafeMutablePointer<WaitQueue>.allocate(capacity: 1)
    lock.initialize(to: cck_lock_make_shared())
    queue.initialize(to: WaitQueue())
    defer {
      free(nodes)
      lock.deallocate()
      queue.deallocate()
    }
    for node in nodes {
      node.pointee.lock = lock
      node.pointee.queue = queue
      queue.pointee.append(node)
    }
    #expect(nodes[0].withdraw(.cancelled))
    #expect(nodes[0].pointee.outcome == .cancelled)
    #expect(!nodes[0].withdraw(.cancelled))
    #expect(queue.pointee.claimFirst() == nodes[1])
    #expect(!nodes[1].withdraw(.cancelled))
    #expect(nodes[1].pointee.outcome == .waiting)
  }

  @Test func `a wait without a queue is withdrawn once`() {
    let nodes = makeNodes(1)
    defer { free(nodes) }
    #expect(nodes[0].withdraw(.delivered))
    #expect(!nodes[0].withdraw(.cancelled))
    #expect(nodes[0].pointee.outcome == .delivered)
  }

  @Test func `claimers and withdrawers share the parties out exactly`() {
    let count = 20_000
    let nodes = makeNodes(count).map { Shared($0) }
    let lock = Shared(UnsafeMutablePointer<Lock>.allocate(capacity: 1))
    let queue = Shared(UnsafeMutablePointer<WaitQueue>.allocate(capacity: 1))
    lock.pointer.initialize(to: cck_lock_make_biased())
    queue.pointer.initialize(to: WaitQueue())
    for node in nodes {
      node.pointer.pointee.lock = lock.pointer
      node.pointer.pointee.queue = queue.pointer
      queue.pointer.pointee.append(node.pointer)
    }
    let claimed = Counter()
    let withdrawn = Counter()
    onThreads(3) { index in
      if index == 0 {
        for node in nodes.reversed() where node.pointer.withdraw(.cancelled) { withdrawn.add() }
      } else {
        while lock.pointer.withLock({ queue.pointer.pointee.claimFirst() }) != nil { claimed.add() }
      }
    }
    #expect(claimed.value + withdrawn.value == count)
    free(nodes.map(\.pointer))
    lock.pointer.deallocate()
    queue.pointer.deallocate()
  }
}
