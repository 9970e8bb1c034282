// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

/// `select`, `select_macro`: many parties, chance, and what a look at several channels sees.
@Suite(.timeLimit(.minutes(30))) struct CrossbeamSelectStressTests {
  // MARK: - stress_recv, stress_send, stress_mixed, reuse

  @Test(arguments: CrossbeamPlace.allCases)
  func `a select of receives keeps step with a sender on two channels`(
    place: CrossbeamPlace
  ) throws {
    let count = 1000
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let (one, other, steps) = (
        Channel<Int>(capacity: .unbounded), Channel<Int>(capacity: 5), Channel<Void>(capacity: 100)
      )
      let sender = spreader.go {
        for value in 0..<count {
          for channel in [one, other] {
            try channel.send(value)
            try steps.receive()
          }
        }
      }
      let selecting = spreader.go {
        var right = 0
        for round in 0..<2 * count {
          let value = try select {
            Receive(from: one) { $0 }
            Receive(from: other) { $0 }
          }
          if value == round / 2 { right += 1 }
          try steps.send(())
        }
        return right
      }
      try sender.value()
      try #expect(selecting.value() == 2 * count)
    }
  }

  @Test(arguments: CrossbeamPlace.allCases)
  func `a select of sends reaches a receiver that takes from one channel and then the other`(
    place: CrossbeamPlace
  ) throws {
    let count = 1000
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let (one, other, steps) = (Channel<Int>(), Channel<Int>(), Channel<Void>(capacity: 100))
      let receiver = spreader.go {
        var right = 0
        for value in 0..<count {
          if try one.receive() == value { right += 1 }
          if try other.receive() == value { right += 1 }
          try steps.receive()
        }
        return right
      }
      let selecting = spreader.go {
        for value in 0..<count {
          for _ in 0..<2 {
            try select {
              Send(value, to: one)
              Send(value, to: other)
            }
          }
          try steps.send(())
        }
      }
      try selecting.value()
      try #expect(receiver.value() == 2 * count)
    }
  }

  @Test(arguments: CrossbeamPlace.allCases)
  func `a select of a receive and a send keeps step with one that sends and receives`(
    place: CrossbeamPlace
  ) throws {
    let count = 1000
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let (one, other, steps) = (Channel<Int>(), Channel<Int>(), Channel<Void>(capacity: 100))
      let partner = spreader.go {
        var right = 0
        for value in 0..<count {
          try one.send(value)
          if try other.receive() == value { right += 1 }
          try steps.receive()
        }
        return right
      }
      let selecting = spreader.go {
        var right = 0
        for value in 0..<count {
          for _ in 0..<2 {
            try select {
              Receive(from: one) { if $0 == value { right += 1 } }
              Send(value, to: other)
            }
          }
          try steps.send(())
        }
        return right
      }
      try #expect(selecting.value() == count)
      try #expect(partner.value() == count)
    }
  }

  @Test(arguments: CrossbeamPlace.allCases)
  func `values that come on one channel or the other are received in the order of sending`(
    place: CrossbeamPlace
  ) throws {
    let count = 1000
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let (one, other, steps) = (
        Channel<Int>(capacity: .unbounded), Channel<Int>(capacity: .unbounded), Channel<Void>()
      )
      let sender = spreader.go {
        for value in 0..<count {
          try (value.isMultiple(of: 2) ? one : other).send(value)
          try steps.receive()
        }
      }
      var right = 0
      for round in 0..<count {
        let (value, isFirst) = try select {
          Receive(from: one) { ($0, true) }
          Receive(from: other) { ($0, false) }
        }
        if value == round, isFirst == round.isMultiple(of: 2) { right += 1 }
        try steps.send(())
      }
      #expect(right == count)
      try sender.value()
    }
  }

  // MARK: - matching, matching_with_leftover, sync_and_clone, send_and_clone

  /// Parties that would send or receive meet in pairs, and none meets itself.
  private func match(_ parties: Int, _ go: (Int, Channel<Int>) -> ValueCoroutine<Bool>) throws {
    let channel = Channel<Int>()
    let running = (0..<parties).map { go($0, channel) }
    if !parties.isMultiple(of: 2) { try channel.send(-1) }
    for party in running { try #expect(party.value()) }
    #expect(channel.receiveIfReady() == .empty)
    #expect(channel.sendIfReady(0) == .full(0))
  }

  @Test(arguments: [20, 44, 55], CrossbeamPlace.allCases)
  func `parties that would send or receive meet in pairs, and one that is left over meets another`(
    parties: Int,
    place: CrossbeamPlace
  ) throws {
    try runBlocking {
      for _ in 0..<20 {
        var spreader = CrossbeamSpreader(place)
        try match(parties) { party, channel in
          spreader.go {
            try select {
              Receive(from: channel) { $0 != party }
              Send(party, to: channel) { true }
            }
          }
        }
      }
    }
  }

  @Test(arguments: [20, 44, 55], 1...10)
  func `in random orders, parties that would send or receive meet in pairs`(
    parties: Int,
    seed: UInt64
  ) throws {
    try TestScheduler(order: .random(seed: seed)).run {
      try self.match(parties) { party, channel in
        launch {
          try select {
            Receive(from: channel) { $0 != party }
            Send(party, to: channel) { true }
          }
        }
      }
    }
  }

  // MARK: - linearizable

  /// How a select may see that nothing is ready.
  enum Impatience: CaseIterable, Sendable { case byDefault, afterZero }

  @Test(arguments: CrossbeamKind.keeping, Impatience.allCases)
  func `in all orders, a select beside which readiness moves from channel to channel finds one`(
    kind: CrossbeamKind,
    impatience: Impatience
  ) throws {
    let exploration = try explore {
      let (one, other) = (kind.channel(room: 1), kind.channel(room: 1))
      let selecting = launch {
        try one.send(1)
        try Coroutine.yield()
        return try Self.takesOne(one, other, impatience)
      }
      try Coroutine.yield()
      try other.send(1)
      try Coroutine.yield()
      _ = one.receiveIfReady()
      try CrossbeamFailure.unless(selecting.value(), "neither channel was ready")
    }
    #expect(exploration.isComplete)
  }

  @Test(arguments: CrossbeamKind.keeping, Impatience.allCases)
  func `on real threads, a select beside which readiness moves finds a ready channel`(
    kind: CrossbeamKind,
    impatience: Impatience
  ) throws {
    let count = 1000
    try runBlocking {
      let (start, end) = (Channel<Void>(), Channel<Void>())
      let (one, other) = (kind.channel(room: 1), kind.channel(room: 1))
      let selecting = launch(on: SerialScheduler(name: "crossbeam")) {
        var found = 0
        for _ in 0..<count {
          try start.send(())
          try one.send(1)
          if try Self.takesOne(one, other, impatience) { found += 1 }
          try end.send(())
          _ = other.receiveIfReady()
        }
        return found
      }
      for _ in 0..<count {
        try start.receive()
        try other.send(1)
        _ = one.receiveIfReady()
        try end.receive()
      }
      try #expect(selecting.value() == count)
    }
  }

  private static func takesOne(
    _ one: Channel<Int>,
    _ other: Channel<Int>,
    _ impatience: Impatience
  ) throws -> Bool {
    switch impatience {
    case .byDefault:
      try select {
        Receive(from: one) { _ in true }
        Receive(from: other) { _ in true }
        Default { false }
      }
    case .afterZero:
      try select {
        Receive(from: one) { _ in true }
        Receive(from: other) { _ in true }
        After(.zero) { false }
      }
    }
  }

  // MARK: - fairness

  /// Each has at least half of its share of ten thousand.
  private func expectFair(_ hits: [Int]) {
    #expect(hits.allSatisfy { $0 >= 10_000 / hits.count / 2 }, "\(hits)")
    #expect(hits.reduce(0, +) == 10_000)
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `of two channels with values each wins its share`(kind: CrossbeamKind) throws {
    try runBlocking {
      let channels = (0..<2).map { _ in kind.channel(of: Void.self, room: 10_000) }
      for channel in channels { for _ in 0..<10_000 { try channel.send(()) } }
      var hits = [0, 0]
      for _ in 0..<10_000 {
        try select {
          Receive(from: channels[0]) { _ in hits[0] += 1 }
          Receive(from: channels[1]) { _ in hits[1] += 1 }
        }
      }
      expectFair(hits)
    }
  }

  @Test
  func `between two rendezvous channels both the sender's choices and the receiver's are fair`()
    throws
  {
    try runBlocking {
      let channels = (0..<2).map { _ in Channel<Void>() }
      let receiver = launch {
        var hits = [0, 0]
        for _ in 0..<10_000 {
          try select {
            Receive(from: channels[0]) { _ in hits[0] += 1 }
            Receive(from: channels[1]) { _ in hits[1] += 1 }
          }
        }
        return hits
      }
      var hits = [0, 0]
      for _ in 0..<10_000 {
        try select {
          Send((), to: channels[0]) { hits[0] += 1 }
          Send((), to: channels[1]) { hits[1] += 1 }
        }
      }
      expectFair(hits)
      try #expect(receiver.value() == hits)
    }
  }

  @Test(arguments: CrossbeamKind.keeping)
  func `of five receives from one channel each wins its share`(kind: CrossbeamKind) throws {
    try runBlocking {
      let channel = kind.channel(of: Void.self, room: 10_000)
      for _ in 0..<10_000 { try channel.send(()) }
      try expectFair(fiveReceives(channel))
    }
  }

  @Test func `of five sends and of five receives on one rendezvous channel each wins its share`()
    throws
  {
    try runBlocking {
      let channel = Channel<Void>()
      let receiver = launch { try fiveReceives(channel) }
      var hits = [0, 0, 0, 0, 0]
      for _ in 0..<10_000 {
        try select {
          Send((), to: channel) { hits[0] += 1 }
          Send((), to: channel) { hits[1] += 1 }
          Send((), to: channel) { hits[2] += 1 }
          Send((), to: channel) { hits[3] += 1 }
          Send((), to: channel) { hits[4] += 1 }
        }
      }
      expectFair(hits)
      try expectFair(receiver.value())
    }
  }

  private func fiveReceives(_ channel: Channel<Void>) throws -> [Int] {
    var hits = [0, 0, 0, 0, 0]
    for _ in 0..<10_000 {
      try select {
        Receive(from: channel) { _ in hits[0] += 1 }
        Receive(from: channel) { _ in hits[1] += 1 }
        Receive(from: channel) { _ in hits[2] += 1 }
        Receive(from: channel) { _ in hits[3] += 1 }
        Receive(from: channel) { _ in hits[4] += 1 }
      }
    }
    return hits
  }

  @Test func `among channels of four kinds that are ready each wins its share`() throws {
    try CrossbeamTimeline.run { time in
      let (bounded, unbounded) = (
        Channel<Void>(capacity: 10_000), Channel<Void>(capacity: .unbounded)
      )
      for _ in 0..<10_000 {
        try bounded.send(())
        try unbounded.send(())
      }
      var hits = [0, 0, 0, 0]
      for _ in 0..<10_000 {
        let (alarm, ticks) = (
          time.alarm(after: .zero), Channel<Duration>(capacity: .droppingNewest(1))
        )
        ticks.sendIfReady(time.now)
        try select {
          Receive(from: bounded) { _ in hits[0] += 1 }
          Receive(from: unbounded) { _ in hits[1] += 1 }
          Receive(from: alarm) { _ in hits[2] += 1 }
          Receive(from: ticks) { _ in hits[3] += 1 }
        }
      }
      self.expectFair(hits)
    }
  }

  @Test func `between channels of three kinds, kept empty, no kind is left out`() throws {
    try runBlocking {
      let (unbounded, bounded, rendezvous) = (
        Channel<Void>(capacity: .unbounded), Channel<Void>(capacity: 1), Channel<Void>()
      )
      launch {
        for _ in 0..<10_000 {
          try select {
            Send((), to: unbounded.isEmpty ? unbounded : nobodysChannel(of: Void.self))
            Send((), to: bounded.isEmpty ? bounded : nobodysChannel(of: Void.self))
            Send((), to: rendezvous)
          }
        }
      }
      var hits = [0, 0, 0]
      for _ in 0..<10_000 {
        try select {
          Receive(from: unbounded) { _ in hits[0] += 1 }
          Receive(from: bounded) { _ in hits[1] += 1 }
          Receive(from: rendezvous) { _ in hits[2] += 1 }
        }
      }
      #expect(hits.allSatisfy { $0 >= 10_000 / 3 / 50 }, "\(hits)")
    }
  }

  @Test func `of a bounded and an unbounded channel with room each is sent to`() throws {
    try runBlocking {
      let (bounded, unbounded) = (
        Channel<Void>(capacity: 10_000), Channel<Void>(capacity: .unbounded)
      )
      for _ in 0..<10_000 {
        try select {
          Send((), to: bounded)
          Send((), to: unbounded)
        }
      }
      expectFair([bounded.count, unbounded.count])
    }
  }

  // MARK: - Many clauses

  /// A select of so many receives: the nest of types grows clause by clause.
  private static func receive(from channels: [Channel<Int>]) throws -> Int {
    func grow<Clause: SelectClause & ~Copyable>(
      _ made: consuming Clause,
      _ rest: ArraySlice<Channel<Int>>
    ) throws -> Int where Clause.Result == Int {
      guard let channel = rest.first else { return try SelectBuilder.buildBlock(made).get() }
      return try grow(SelectPair(made, Receive(from: channel) { $0 }), rest.dropFirst())
    }
    return try grow(Receive(from: channels[0]) { $0 }, channels.dropFirst())
  }

  @Test(arguments: [63, 64, 65, 100])
  func `a select of very many clauses waits on all of them, and takes what is ready`(
    count: Int
  ) throws {
    try runBlocking(stackSize: .bytes(4 << 20)) {
      let channels = (0..<count).map { _ in Channel<Int>(capacity: 1) }
      for index in [0, 1, count / 2, count - 1] {
        channels[index].sendIfReady(index)
        try #expect(Self.receive(from: channels) == index)
      }
      for index in [0, count / 2, count - 1] {
        let waiting = launch(stackSize: .bytes(4 << 20)) { try Self.receive(from: channels) }
        try Coroutine.yield()
        try channels[index].send(index)
        try #expect(waiting.value() == index)
      }
      for index in channels.indices { channels[index].sendIfReady(index) }
      let all = try channels.map { _ in try Self.receive(from: channels) }
      #expect(all.sorted() == Array(0..<count))
    }
  }

  // MARK: - golang: test/ken/chan1, test/ken/chan

  @Test(arguments: CrossbeamPlace.allCases, [0, 2])
  func `ten that select from one channel share what one sends, each value once`(
    place: CrossbeamPlace,
    capacity: Int
  ) throws {
    let count = 1000
    try runBlocking {
      var spreader = CrossbeamSpreader(place)
      let channel = Channel<Int>(capacity: capacity)
      let receivers = (0..<10).map { _ in
        spreader.go {
          var values: [Int] = []
          var isOpen = true
          while isOpen {
            try select {
              Receive(from: channel, whenClosed: { isOpen = false }) { values.append($0) }
            }
          }
          return values
        }
      }
      let sender = spreader.go {
        for value in 0..<count { try channel.send(value) }
        channel.close()
      }
      try sender.value()
      let values = try receivers.map { try $0.value() }
      // Each receiver's values are in the order of sending.
      #expect(values.allSatisfy { $0 == $0.sorted() })
      #expect(values.flatMap { $0 }.sorted() == Array(0..<count))
    }
  }

  /// The six programs of `chan`: who sends to which channels, and who receives from them.
  enum ChannelProgram: CaseIterable, Sendable {
    case plainToPlain, plainToSelect, selectToPlain, selectToSelect
    /// Two selects, each of which sends what the other receives.
    case selectsBothWays
    /// From plain senders through two selects to plain receivers.
    case throughSelects
  }

  private static let perChannel = 76

  private static func send(to channel: Channel<Int>) throws {
    for value in 0..<perChannel { try channel.send(value) }
  }

  /// Receives all values, and counts those that came in their order.
  private static func receive(from channel: Channel<Int>) throws -> Int {
    var right = 0
    for value in 0..<perChannel where try channel.receive() == value { right += 1 }
    return right
  }

  /// Receives all values of four channels, and sends all to four others, in one select.
  private static func selectAll(from sources: [Channel<Int>]?, to targets: [Channel<Int>]?) throws
    -> Int
  {
    var received = [Int](repeating: sources == nil ? perChannel : 0, count: 4)
    var sent = [Int](repeating: targets == nil ? perChannel : 0, count: 4)
    var right = 0
    func source(_ index: Int) -> Channel<Int> {
      received[index] < perChannel ? sources?[index] ?? nobodysChannel() : nobodysChannel()
    }
    func target(_ index: Int) -> Channel<Int> {
      sent[index] < perChannel ? targets?[index] ?? nobodysChannel() : nobodysChannel()
    }
    func note(_ index: Int, _ value: Int) {
      if value == received[index] { right += 1 }
      received[index] += 1
    }
    while (received + sent).contains(where: { $0 < perChannel }) {
      try select {
        Receive(from: source(0)) { note(0, $0) }
        Receive(from: source(1)) { note(1, $0) }
        Receive(from: source(2)) { note(2, $0) }
        Receive(from: source(3)) { note(3, $0) }
        Send(sent[0], to: target(0)) { sent[0] += 1 }
        Send(sent[1], to: target(1)) { sent[1] += 1 }
        Send(sent[2], to: target(2)) { sent[2] += 1 }
        Send(sent[3], to: target(3)) { sent[3] += 1 }
      }
    }
    return right
  }

  @Test(arguments: ChannelProgram.allCases, [0, 1, 10, 100])
  func `plain and selecting parties on four channels and more: each channel's values keep order`(
    program: ChannelProgram,
    capacity: Int
  ) throws {
    for place in CrossbeamPlace.allCases {
      try runBlocking {
        var spreader = CrossbeamSpreader(place)
        let lines = (0..<4).map { _ in (0..<4).map { _ in Channel<Int>(capacity: capacity) } }
        var senders: [ValueCoroutine<Void>] = []
        var receivers: [ValueCoroutine<Int>] = []
        func plainSenders(_ line: Int) {
          for channel in lines[line] { senders.append(spreader.go { try Self.send(to: channel) }) }
        }
        func plainReceivers(_ line: Int) {
          for channel in lines[line] {
            receivers.append(spreader.go { try Self.receive(from: channel) })
          }
        }
        func selecting(from source: Int?, to target: Int?) {
          let (sources, targets) = (source.map { lines[$0] }, target.map { lines[$0] })
          receivers.append(spreader.go { try Self.selectAll(from: sources, to: targets) })
        }
        let channels: Int
        switch program {
        case .plainToPlain:
          plainSenders(0)
          plainReceivers(0)
          channels = 4
        case .plainToSelect:
          plainSenders(0)
          selecting(from: 0, to: nil)
          channels = 4
        case .selectToPlain:
          selecting(from: nil, to: 0)
          plainReceivers(0)
          channels = 4
        case .selectToSelect:
          selecting(from: nil, to: 0)
          selecting(from: 0, to: nil)
          channels = 4
        case .selectsBothWays:
          selecting(from: 0, to: 1)
          selecting(from: 1, to: 0)
          channels = 8
        case .throughSelects:
          plainSenders(0)
          selecting(from: 0, to: 1)
          selecting(from: 1, to: 2)
          plainReceivers(2)
          channels = 12
        }
        for sender in senders { try sender.value() }
        let right = try receivers.reduce(0) { try $0 + $1.value() }
        #expect(right == channels * Self.perChannel)
        #expect(lines.joined().allSatisfy { $0.isEmpty })
      }
    }
  }
}
