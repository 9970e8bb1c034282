// SPDX-License-Identifier: Apache-2.0

public import Coroutines
public import Foundation

extension Process: CoroutineNamespaceProviding {}

extension CoroutineNamespace where Base: Process {
  /// Runs the process and collects what it writes; parks until it has ended.
  ///
  /// ```swift
  /// let process = Process()
  /// process.executableURL = URL(filePath: "/usr/bin/sort")
  /// let output = try process.co.run(input: Data("b\na\n".utf8))
  /// print(output.termination, output.text)
  /// ```
  ///
  /// Both streams are read while it runs, and the input is written meanwhile, so no amount of either
  /// makes it stick. It returns when the process has ended and nobody holds its output open any more: a
  /// program that it has left in the background may. A status other than 0 is no error.
  ///
  /// Outside a coroutine it blocks the thread.
  ///
  /// *Cancellation:* sends SIGTERM to the process and to what it has started (where Foundation gives it
  /// a process group of its own, as on Linux; else to the process alone), after the grace SIGKILL to those
  /// that are left, and throws when they have ended.
  ///
  /// - Parameters:
  ///   - input: What it reads from its standard input; if left out, that is what the `Process` says.
  ///     That it does not read all of it is no error.
  ///   - grace: How long they have to end after SIGTERM.
  /// - Returns: How it ended, and what it wrote.
  /// - Throws: What `Process.run()` throws; `POSIXError`; `CancellationError`.
  @available(*, noasync, message: "In async code, wrap it: try await withCoroutine { … }")
  public func run(input: Data? = nil, grace: Duration = .seconds(2)) throws -> ProcessOutput {
    try runBlocking {
      try Coroutine.checkCancellation()
      return try withCoroutineScope { scope in
        let process = try StartedProcess(
          base,
          input == nil ? [.output, .errors] : [.input, .output, .errors]
        )
        let output = scope.launch { try process.output.map { try Descriptor($0).readToEnd() } }
        let errors = scope.launch { try process.errors.map { try Descriptor($0).readToEnd() } }
        if let input { scope.launch { try process.feed(input) } }
        return ProcessOutput(
          // Here and not in a child, which would not begin if cancellation came before its turn.
          termination: try process.supervise(grace: grace),
          standardOutput: try output.value() ?? Data(),
          standardError: try errors.value() ?? Data()
        )
      }
    }
  }

  /// Starts the process and returns at once; its output comes as lines through channels.
  ///
  /// ```swift
  /// let running = try process.co.start()
  /// for line in running.outputLines { print(line) }
  /// print(try running.termination())
  /// ```
  ///
  /// A process started in a coroutine is its child: it is cancelled with it, as described at `run`. It
  /// may outlive it otherwise. It does not park.
  ///
  /// - Parameters:
  ///   - streams: Which streams are connected; the others go where the `Process` says.
  ///   - capacity: How many lines each channel keeps. Without a limit the process never waits for a
  ///     reader. With one it does when the channel is full: then read both channels at the same time,
  ///     or connect one only.
  ///   - grace: How long it has to end after SIGTERM when it is cancelled.
  /// - Returns: The process.
  /// - Throws: What `Process.run()` throws; `POSIXError`; `CancellationError` in cancelled code.
  public func start(
    streams: ProcessStreams = [.output, .errors],
    capacity: ChannelCapacity = .unbounded,
    grace: Duration = .seconds(2)
  ) throws -> RunningProcess {
    try Coroutine.checkCancellation()
    return RunningProcess(try StartedProcess(base, streams), capacity, grace)
  }
}
