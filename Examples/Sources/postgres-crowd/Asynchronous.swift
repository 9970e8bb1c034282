// SPDX-License-Identifier: Apache-2.0

import CPostgres
import ExampleSupport
import Glibc

extension Crowd {
  /// The same queries by libpq's own asynchronous interface, on the calling thread: what one writes without coroutines.
  ///
  /// Each connection is a small state machine, and a loop of ours asks the system which of them can go on.
  func asynchronously(_ threads: ThreadCount) throws -> [String] {
    var answers = [String](repeating: "", count: queries)
    var lines = try (0..<connections).map { _ in try Line() }
    // Connections first: all of them at the same time, as the coroutines' are.
    while lines.contains(where: { $0.phase.isConnecting }) {
      try waitFor(&lines) { line in try line.goOnConnecting() }
    }
    var next = 0
    func begin(_ line: inout Line) throws {
      line.phase = .idle
      guard next < queries else { return }
      try line.send(text, next)
      next += 1
    }
    for index in lines.indices { try begin(&lines[index]) }
    while lines.contains(where: { $0.phase != .idle }) {
      try waitFor(&lines) { line in
        guard let (number, answer) = try line.goOnReceiving() else { return }
        answers[number] = answer
        if number.isMultiple(of: 16) { threads.note() }
        try begin(&line)
      }
    }
    for line in lines { PQfinish(line.raw) }
    return answers
  }

  /// Waits until some of them can go on, and lets those.
  private func waitFor(_ lines: inout [Line], _ goOn: (inout Line) throws -> Void) throws {
    let active = lines.indices.filter { lines[$0].phase != .idle }
    var descriptors = active.map {
      pollfd(fd: PQsocket(lines[$0].raw), events: lines[$0].phase.events, revents: 0)
    }
    guard poll(&descriptors, nfds_t(descriptors.count), 30_000) > 0 else {
      throw PostgresError("no answer for 30 s")
    }
    for (index, descriptor) in zip(active, descriptors) where descriptor.revents != 0 {
      try goOn(&lines[index])
    }
  }
}

/// A connection that is used asynchronously, and how far it is.
private struct Line {
  enum Phase: Equatable {
    case connecting(PostgresPollingStatusType)
    case sending(Int)
    case receiving(Int)
    case idle

    var isConnecting: Bool { if case .connecting = self { true } else { false } }

    var events: Int16 {
      switch self {
      case .connecting(PGRES_POLLING_READING), .receiving, .idle: Int16(POLLIN)
      case .connecting: Int16(POLLOUT)
      case .sending: Int16(POLLIN | POLLOUT)
      }
    }
  }

  let raw: OpaquePointer
  var phase = Phase.connecting(PGRES_POLLING_WRITING)

  init() throws {
    guard let raw = PQconnectStart("connect_timeout=5") else { throw PostgresError("no memory") }
    self.raw = raw
    if PQstatus(raw) == CONNECTION_BAD { throw failure }
  }

  mutating func goOnConnecting() throws {
    let status = PQconnectPoll(raw)
    if status == PGRES_POLLING_FAILED { throw failure }
    if status != PGRES_POLLING_OK { return phase = .connecting(status) }
    if PQsetnonblocking(raw, 1) != 0 { throw failure }
    phase = .idle
  }

  mutating func send(_ text: String, _ number: Int) throws {
    let sent = withCStrings([String(number)]) {
      PQsendQueryParams(raw, text, 1, nil, $0, nil, nil, 0)
    }
    if sent == 0 { throw failure }
    phase = .sending(number)
    try flush(number)
  }

  private mutating func flush(_ number: Int) throws {
    switch PQflush(raw) {
    case 0: phase = .receiving(number)
    case 1: break
    default: throw failure
    }
  }

  /// The number of the query and its answer, once all of it is there.
  mutating func goOnReceiving() throws -> (Int, String)? {
    if PQconsumeInput(raw) == 0 { throw failure }
    if case .sending(let number) = phase { try flush(number) }
    guard case .receiving(let number) = phase, PQisBusy(raw) == 0 else { return nil }
    var answer = ""
    while let result = PQgetResult(raw) {
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure }
      answer = rows(of: result)[0][1]
    }
    return (number, answer)
  }

  private var failure: PostgresError { PostgresError(String(cString: PQerrorMessage(raw))) }
}
