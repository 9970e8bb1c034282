// SPDX-License-Identifier: Apache-2.0

import CoroutineKernel
import Coroutines

/// Records what coroutines do, for a timeline.
///
/// ```swift
/// try Tracing.start()
/// try work()
/// let trace = try Tracing.stop()
/// try trace.html(title: "my program").write(toFile: "timeline.html", atomically: true, encoding: .utf8)
/// ```
///
/// Recorded are launches, turns, waits and what ended them, values on their way through channels, cancellations,
/// timers, offloaded work, and when loops sleep: of all schedulers of the process. A loop that runs already takes
/// part from its next turn on; a coroutine that waits all the time does not appear.
///
/// Cost: nothing while nothing is recorded. While it is, an event takes some 20 ns, and switches and launches pass
/// through the scheduler's loop, which takes about as long again. Each thread that runs coroutines keeps its latest
/// events, 32 bytes each.
public enum Tracing {
  /// Begins to record.
  ///
  /// Never parks; can be called from any thread, in a coroutine or outside.
  ///
  /// - Parameter eventsPerThread: How many of the latest events are kept of each thread, 1 to 16,777,216; rounded up
  ///   to a power of two. What is older is overwritten, and counted in `Trace.lostEvents`.
  /// - Throws: `TracingError.alreadyOn`.
  public static func start(eventsPerThread: Int = 65_536) throws(TracingError) {
    demand(
      (1...(1 << 24)).contains(eventsPerThread),
      "Tracing.start(eventsPerThread: \(eventsPerThread)): the number must be 1 to 16,777,216."
    )
    var capacity: UInt32 = 1
    while capacity < eventsPerThread { capacity *= 2 }
    guard Recorder.start(capacity: capacity) else { throw .alreadyOn }
  }

  /// Ends the recording, and puts the events of all threads in order.
  ///
  /// Never parks; can be called from any thread. Takes time in proportion to the number of events.
  ///
  /// - Returns: What was recorded since `start`.
  /// - Throws: `TracingError.notOn`.
  public static func stop() throws(TracingError) -> Trace {
    guard let recording = Recorder.stop() else { throw .notOn }
    return Trace(recording)
  }

  /// Events are being recorded.
  public static var isOn: Bool { Recorder.isOn }

  /// Records while `body` runs.
  ///
  /// Parks when `body` does. Other code of the process is recorded too. The recording ends with `body`, and is
  /// dropped if that throws.
  ///
  /// - Parameters:
  ///   - eventsPerThread: As in `start`.
  ///   - body: What to do meanwhile.
  /// - Returns: What `body` returns, and what was recorded.
  /// - Throws: `TracingError.alreadyOn`; what `body` throws.
  public static func record<Result>(
    eventsPerThread: Int = 65_536,
    _ body: () throws -> Result
  ) throws -> (result: Result, trace: Trace) {
    try start(eventsPerThread: eventsPerThread)
    let result: Result
    do {
      result = try body()
    } catch {
      _ = try? stop()
      throw error
    }
    return (result, try stop())
  }
}

/// Why a recording cannot begin or end.
public enum TracingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another recording is on: there is one a process.
  case alreadyOn
  /// No recording is on.
  case notOn

  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .alreadyOn:
      "Events are being recorded already: there is one recording in a process. End it with `Tracing.stop()` first."
    case .notOn: "No events are being recorded. Begin with `Tracing.start()`."
    }
  }
}
