// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A program of benchmarks: `PROGRAM list`, or `PROGRAM ROW [--operations N [--no-warm-up]]`.
public struct Program {
  private let peer: String
  private let rows: [Row]

  /// The rows of one peer.
  public init(peer: String, rows: [Row]) {
    self.peer = peer
    self.rows = rows
  }

  /// Does what the command line says.
  public func run() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private func run(_ arguments: [String]) throws {
    if arguments == ["list"] {
      for row in rows { print(row.name) }
      return
    }
    let usage = "usage: \(peer) list | ROW [--operations N [--no-warm-up]]"
    guard let name = arguments.first else { fail(usage) }
    guard let row = rows.first(where: { $0.name == name }) else { fail("no row \(name)") }
    var operations = row.operations
    var warmsUp = row.warmsUp
    if arguments.count == 3 || arguments.count == 4, arguments[1] == "--operations" {
      guard let number = Int(arguments[2]), number > 0 else {
        fail("--operations needs a number of 1 or more")
      }
      operations = number
      if arguments.count == 4 {
        guard arguments[3] == "--no-warm-up" else { fail(usage) }
        warmsUp = false
      }
    } else if arguments.count != 1 {
      fail(usage)
    }
    let count: Int
    if let operations {
      count = operations
      if warmsUp { _ = try row.body(max(1, count / 10)) }
    } else {
      count = try calibrate(row)
    }
    let stopwatch = Stopwatch()
    let outcome = try row.body(count)
    report(row.name, count, outcome, outcome.elapsed ?? stopwatch.elapsed)
  }

  /// How many operations take 0.3 s.
  private func calibrate(_ row: Row) throws -> Int {
    var count = 100
    while true {
      let stopwatch = Stopwatch()
      _ = try row.body(count)
      let wall = max(1, stopwatch.elapsed.wall)
      if wall > 30_000_000 { return max(1, Int(Double(count) * 3e8 / Double(wall))) }
      count *= 10
    }
  }

  private func report(_ row: String, _ operations: Int, _ outcome: Outcome, _ elapsed: Elapsed) {
    var fields = [
      "\"row\": \"\(row)\"", "\"peer\": \"\(peer)\"", "\"operations\": \(operations)",
      "\"ns\": \(Double(elapsed.wall) / Double(operations))",
      "\"cpu_ns\": \(Double(elapsed.processor) / Double(operations))",
      "\"result\": \(outcome.result)",
    ]
    fields += outcome.extras.map { "\"\($0.name)\": \($0.value)" }
    if let note = outcome.note { fields.append("\"note\": \"\(note)\"") }
    print("{" + fields.joined(separator: ", ") + "}")
  }
}

/// Ends the program with a message.
public func fail(_ message: String, status: Int32 = 64) -> Never {
  let line = message + "\n"
  _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(status)
}
