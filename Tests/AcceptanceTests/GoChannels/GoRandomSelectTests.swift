// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Testing

/// `select5`: select programs made by a generator, and the order in which a select evaluates its parts.
@Suite(.timeLimit(.minutes(30))) struct GoRandomSelectTests {
  // MARK: - The generator

  /// A clause of a generated select.
  enum Clause: Hashable {
    case receive(Int)
    case send(Int)
    case otherwise
  }

  /// What won.
  enum Win: Hashable {
    case received(Int, Int)
    case foundClosed(Int)
    case sent(Int)
    case sentToClosed
    case otherwise
  }

  /// Runs a select whose clauses are known only now: the nest of types grows clause by clause.
  private static func run(_ clauses: [Clause], _ channels: [Channel<Int>]) throws -> Win {
    func start(_ clause: Clause) throws -> Win {
      switch clause {
      case .receive(let index):
        try grow(receive(index), clauses.dropFirst())
      case .send(let index):
        try grow(send(index), clauses.dropFirst())
      case .otherwise:
        try grow(otherwise(), clauses.dropFirst())
      }
    }
    func grow<Clauses: SelectClause & ~Copyable>(
      _ made: consuming Clauses,
      _ rest: ArraySlice<Clause>
    ) throws -> Win where Clauses.Result == Win {
      switch rest.first {
      case .receive(let index):
        return try grow(
          SelectPair(made, receive(index)),
          rest.dropFirst()
        )
      case .send(let index):
        return try grow(
          SelectPair(made, send(index)),
          rest.dropFirst()
        )
      case .otherwise:
        return try grow(
          SelectPair(made, otherwise()),
          rest.dropFirst()
        )
      case nil:
        return try SelectBuilder.buildBlock(made).get()
      }
    }
    func receive(_ index: Int) -> Receive<Int, Win> {
      Receive<Int, Win>(
        from: channels[index],
        whenClosed: { .foundClosed(index) },
        { .received(index, $0) }
      )
    }
    func send(_ index: Int) -> Send<Int, Win> {
      Send(1000 + index, to: channels[index]) { .sent(index) }
    }
    func otherwise() -> Default<Win> {
      Default { .otherwise }
    }
    do {
      return try start(clauses[0])
    } catch ChannelError.closed {
      return .sentToClosed
    }
  }

  /// A channel, as the tests know it to be.
  struct Model: Equatable {
    let capacity: Int
    var isClosed = false
    var kept: [Int] = []

    /// What a clause that names this channel can do now.
    func win(of clause: Clause) -> Win? {
      switch clause {
      case .receive(let index):
        if let first = kept.first { return .received(index, first) }
        return isClosed ? .foundClosed(index) : nil
      case .send(let index):
        if isClosed { return .sentToClosed }
        return kept.count < capacity ? .sent(index) : nil
      case .otherwise: return nil
      }
    }

    /// The channel.
    func make() -> Channel<Int> {
      let channel = Channel<Int>(capacity: capacity)
      for value in kept { channel.sendIfReady(value) }
      if isClosed { channel.close() }
      return channel
    }

    /// What is in a channel; takes it out.
    static func contents(of channel: Channel<Int>) -> [Int] {
      var contents: [Int] = []
      while case .received(let value) = channel.receiveIfReady() { contents.append(value) }
      return contents
    }
  }

  // MARK: - All programs with one ready clause

  /// Place of a Default clause.
  private enum Place: CaseIterable { case none, first, last }

  @Test func `of all selects with one ready clause, that clause wins`() throws {
    var programs = 0
    try runBlocking {
      // Channel 0 is ready; 1 and 2 are idle, and have clauses for either direction.
      for real in [Clause.receive(0), .send(0)] {
        for place in Place.allCases {
          for bits in 0..<16 {
            let idle: [Clause] = [.send(1), .receive(1), .send(2), .receive(2)]
            let others = idle.indices.filter { bits & 1 << $0 != 0 }.map { idle[$0] }
            for position in 0...others.count {
              var clauses = others
              clauses.insert(real, at: position)
              if place == .first { clauses.insert(.otherwise, at: 0) }
              if place == .last { clauses.append(.otherwise) }
              var ready = Model(capacity: 1)
              if real == .receive(0) { ready.kept = [7] }
              let channels = [ready.make(), Channel<Int>(), Channel<Int>()]
              let win = try Self.run(clauses, channels)
              let after = Model.contents(of: channels[0])
              #expect(win == (real == .receive(0) ? .received(0, 7) : .sent(0)), "\(clauses)")
              #expect(after == (real == .receive(0) ? [] : [1000]), "\(clauses)")
              // The idle ones have been left.
              #expect(!channels[1].sendIfReady(1).isSent && !channels[2].sendIfReady(1).isSent)
              #expect(channels[1].receiveIfReady() == .empty)
              #expect(channels[2].receiveIfReady() == .empty)
              programs += 1
            }
          }
        }
      }
    }
    #expect(programs == 2 * 3 * 48)
  }

  @Test func `of all selects without a ready clause, Default wins`() throws {
    try runBlocking {
      let channels = [Channel<Int>(), Channel<Int>()]
      let idle: [Clause] = [.send(0), .receive(0), .send(1), .receive(1)]
      for bits in 0..<16 {
        let others = idle.indices.filter { bits & 1 << $0 != 0 }.map { idle[$0] }
        for position in 0...others.count {
          var clauses = others
          clauses.insert(.otherwise, at: position)
          try #expect(Self.run(clauses, channels) == .otherwise, "\(clauses)")
        }
      }
    }
  }

  // MARK: - Random programs

  @Test(arguments: 1...20)
  func `a random select does one of the things that are possible, and nothing else`(
    seed: UInt64
  ) throws {
    var random = GoProgramRandom(seed: seed)
    try runBlocking {
      for _ in 0..<25 {
        var models = (0..<Int.random(in: 1...4, using: &random)).map { _ in
          var model = Model(capacity: Int.random(in: 0...3, using: &random))
          model.kept = (0..<Int.random(in: 0...model.capacity, using: &random)).map { 10 + $0 }
          model.isClosed = Int.random(in: 0..<5, using: &random) == 0
          return model
        }
        var clauses = (0..<Int.random(in: 1...7, using: &random)).map { _ in
          let index = Int.random(in: models.indices, using: &random)
          return Bool.random(using: &random) ? Clause.receive(index) : .send(index)
        }
        let possible = Set(
          clauses.compactMap { clause in
            switch clause {
            case .receive(let index), .send(let index): models[index].win(of: clause)
            case .otherwise: nil
            }
          }
        )
        if possible.isEmpty || Bool.random(using: &random) {
          clauses.insert(.otherwise, at: Int.random(in: 0...clauses.count, using: &random))
        }
        let channels = models.map { $0.make() }
        let win = try Self.run(clauses, channels)
        #expect(
          possible.isEmpty ? win == .otherwise : possible.contains(win),
          "\(clauses) on \(models)"
        )
        switch win {
        case .received(let index, _): models[index].kept.removeFirst()
        case .sent(let index): models[index].kept.append(1000 + index)
        case .foundClosed, .sentToClosed, .otherwise: break
        }
        #expect(channels.map(Model.contents) == models.map(\.kept), "\(clauses) on \(models)")
      }
    }
  }

  // MARK: - Order of evaluation

  @Test(arguments: [false, true])
  func `a select evaluates channels and values once, from top to bottom, before it decides`(
    isSending: Bool
  ) throws {
    try runBlocking {
      var notes: [String] = []
      func note<Value>(_ text: String, _ value: Value) -> Value {
        notes.append(text)
        return value
      }
      let (channel, idle, other) = (Channel<Int>(capacity: 1), Channel<Int>(), Channel<Int>())
      if !isSending { try channel.send(1) }
      let full = Channel<Int>(capacity: 1)
      try full.send(1)
      try select {
        Receive(from: note("channel 1", isSending ? idle : channel)) { _ in notes.append("action") }
        Send(note("value 2", 5), to: note("channel 2", isSending ? channel : full)) {
          notes.append("action")
        }
        Receive(from: note("channel 3", other)) { _ in notes.append("wrong") }
        Send(note("value 4", 6), to: note("channel 4", other)) { notes.append("wrong") }
      }
      #expect(
        notes == [
          "channel 1", "value 2", "channel 2", "channel 3", "value 4", "channel 4", "action",
        ]
      )
    }
  }

  @Test func `a plain send evaluates the channel and then the value`() throws {
    try runBlocking {
      var notes: [String] = []
      func note<Value>(_ text: String, _ value: Value) -> Value {
        notes.append(text)
        return value
      }
      let channel = Channel<Int>(capacity: 1)
      try note("channel", channel).send(note("value", 1))
      #expect(notes == ["channel", "value"])
    }
  }
}
