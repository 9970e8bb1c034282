// SPDX-License-Identifier: Apache-2.0

import Coroutines
import Glibc

/// The whole tour, from the command line to the exit status.
enum Tour {
  /// Exit statuses, after <sysexits.h> and the shell.
  enum Status: Int32 {
    case done = 0
    /// The two passes disagree; not all files could be mirrored.
    case incomplete = 1
    case badUsage = 64
    case noInput = 66
    case unavailable = 69
    case bug = 70
    case cannotCreate = 73
    case cannotWrite = 74
    case interrupted = 130
  }

  static func run(_ arguments: [[UInt8]]) -> Status {
    if arguments.first == Array("mirror".utf8) { return Mirror.run(Array(arguments.dropFirst())) }
    do {
      let options = try Options(arguments)
      if options.wantsHelp { return print(Options.help) ? .done : .cannotWrite }
      let root = try Root(options.path)
      let report = try TraceFile.recording(to: options.trace, "tour \(root.path)") {
        try runBlocking { try take(options, root) }
      }
      guard print(options.isJSON ? JSONReport.text(report) : TextReport.text(report)) else {
        return complain("cannot write the report: \(Problem.text(errno))", .cannotWrite)
      }
      if report.isInterrupted { return .interrupted }
      return report.agrees == false ? .incomplete : .done
    } catch let error as Options.UsageError {
      return complain("\(error.message)\nTry “tour --help”.", .badUsage)
    } catch let error as Root.Unusable {
      return complain(error.message, .noInput)
    } catch let error as TraceFile.Unwritable {
      return complain(error.message, .cannotCreate)
    } catch {
      return complain("\(error)", .bug)
    }
  }

  /// Goes through the tree, once or twice.
  private static func take(_ options: Options, _ root: Root) throws -> Report {
    // One more to read directories, or for the sequential pass.
    OffloadPool.shared.threadLimit = options.jobs + 1
    let interrupts = InterruptSource()
    let progress = Progress(isQuiet: options.isQuiet)
    let passes = Passes(
      walk: TreeWalk(
        root: root.path,
        includesHidden: options.includesHidden,
        includesMounts: options.includesMounts,
        isFile: root.isFile
      ),
      crew: Crew(size: options.jobs, interrupts: interrupts.channel),
      progress: progress
    )
    let clock = ContinuousClock()
    let census = Box(Census())
    var isInterrupted = false
    let time = try clock.measure {
      do {
        try passes.concurrently(into: census)
      } catch is Interrupt {
        isInterrupted = true
      }
    }
    var report = Report(
      root: root.path,
      jobs: options.jobs,
      census: census.value,
      time: time,
      isInterrupted: isInterrupted
    )
    guard options.compares, !isInterrupted else { return report }
    do {
      report.sequentialTime = try clock.measure {
        report.agrees = census.value.agrees(with: try passes.sequentially())
      }
    } catch is Interrupt {
      report.isInterrupted = true
    }
    return report
  }

  private static func print(_ text: String) -> Bool {
    Output.write(text, to: 1)
  }

  private static func complain(_ message: String, _ status: Status) -> Status {
    _ = Output.write("tour: \(message)\n", to: 2)
    return status
  }
}
