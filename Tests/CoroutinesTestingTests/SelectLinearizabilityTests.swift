// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTesting
import Testing

@Suite(.timeLimit(.minutes(30))) struct SelectLinearizabilityTests {
  private static let options: LinearizabilityOptions = {
    var options = LinearizabilityOptions()
    options.scenarios = 24
    options.runs = 80
    options.operations = 4
    return options
  }()

  @Test(arguments: [[0, 0], [0, 1], [1, 2]])
  func `a select carries out one clause, whole, and leaves its other lines (rule 4)`(
    limits: [Int]
  ) throws {
    let report = try checkLinearizability(
      TwoChannelSpecification(limits: limits),
      of: [
        .send(1, to: 0), .send(2, to: 1), .receive(from: 0), .receive(from: 1), .receiveFromEither,
        .receiveFromEither, .sendToEither(3, 4), .sendToEither(5, 6), .exchange(7),
        .receiveFromEitherIfReady,
      ],
      options: Self.options
    ) {
      TwoChannels(limits: limits)
    } perform: {
      try $0.perform($1)
    }
    #expect(report.histories > 500)
  }

  @Test(arguments: [[0, 0], [1, 1]])
  func `a select whose channels are closed ends once (rules 4 and 5)`(limits: [Int]) throws {
    try checkLinearizability(
      TwoChannelSpecification(limits: limits),
      of: [
        .send(1, to: 0), .receive(from: 1), .receiveFromEither, .sendToEither(3, 4), .exchange(5),
        .receiveFromEitherIfReady, .close(0), .close(1),
      ],
      options: Self.options
    ) {
      TwoChannels(limits: limits)
    } perform: {
      try $0.perform($1)
    }
  }

  @Test func `a select that takes from both is found out`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try checkLinearizability(
        TwoChannelSpecification(limits: [1, 1]),
        of: [.send(1, to: 0), .send(2, to: 1), .receiveFromEither, .receiveFromEitherIfReady]
      ) {
        TwoChannels(limits: [1, 1])
      } perform: { pair, operation in
        guard operation == .receiveFromEither else { return try pair.perform(operation) }
        defer { _ = pair.channels[1].receiveIfReady() }
        return .received(try pair.channels[0].receive(), from: 0)
      }
    }
    #expect(failure?.error is LinearizabilityViolation)
  }

  @Test func `a select that prefers the wrong end of a line is found out`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try checkLinearizability(
        TwoChannelSpecification(limits: [2, 0]),
        of: [.send(1, to: 0), .send(2, to: 0), .receiveFromEitherIfReady]
      ) {
        TwoChannels(limits: [2, 0])
      } perform: { pair, operation in
        guard operation == .receiveFromEitherIfReady else { return try pair.perform(operation) }
        // Takes the newest and puts the others back.
        var values: [Int] = []
        while let value = pair.channels[0].receiveIfReady().value { values.append(value) }
        guard let last = values.popLast() else { return .nothing }
        for value in values { pair.channels[0].sendIfReady(value) }
        return .received(last, from: 0)
      }
    }
    #expect(failure?.error is LinearizabilityViolation)
  }
}
