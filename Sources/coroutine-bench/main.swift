// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

let usage = """
  usage: coroutine-bench [--json] [--smoke] [--rounds N] [NAME]

  Measures what the library's operations cost, one line each: nanoseconds an operation (median of the
  rounds, fastest and slowest beside it) and allocations an operation. Build it with -c release.

    --json       print one JSON array instead
    --smoke      a few operations only, to see that everything runs
    --rounds N   rounds that count (5)
    NAME         only those whose names contain this
  """

func printError(_ text: String) {
  _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

func fail(_ message: String) -> Never {
  printError("coroutine-bench: \(message)\n\(usage)\n")
  exit(64)
}

func main() throws {
  var json = false
  var smoke = false
  var rounds = 5
  var filter = ""
  var arguments = Array(CommandLine.arguments.dropFirst())
  while !arguments.isEmpty {
    switch arguments.removeFirst() {
    case "--help", "-h":
      print(usage)
      return
    case "--json": json = true
    case "--smoke": smoke = true
    case "--rounds":
      guard let text = arguments.first, let number = Int(text), number > 0 else {
        fail("--rounds needs a number of 1 or more")
      }
      arguments.removeFirst()
      rounds = number
    case let option where option.hasPrefix("-"): fail("unknown option \(option)")
    case let name: filter = name
    }
  }
  #if DEBUG
  printError("coroutine-bench: built for debugging; the figures mean nothing\n")
  #endif
  var figures: [Figure] = []
  let benchmarks = Benchmarks(
    stopwatch: Stopwatch(rounds: smoke ? 1 : rounds, share: smoke ? 0.001 : 1)
  ) { figure in
    if json {
      figures.append(figure)
    } else {
      print(figure.line)
      fflush(nil)
    }
  }
  try benchmarks.run(matching: filter)
  if json { print("[\n  " + figures.map(\.json).joined(separator: ",\n  ") + "\n]") }
}

do {
  try main()
} catch {
  printError("coroutine-bench: \(error)\n")
  exit(1)
}
