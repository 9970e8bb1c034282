// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines

/// What recording costs: the same as other benchmarks, while events are recorded.
enum RecordingBenchmarks {
  /// Events that a thread keeps; what does not fit overwrites the oldest.
  private static let capacity: UInt32 = 65_536

  /// Runs a benchmark while its events are recorded.
  static func recorded(_ body: @escaping (Int) throws -> Void) -> (Int) throws -> Void {
    { count in
      check(Recorder.start(capacity: capacity))
      defer { check(Recorder.stop() != nil) }
      try body(count)
    }
  }

  /// Events alone, one after the other.
  static func events(_ count: Int) {
    check(Recorder.start(capacity: capacity))
    let thread = cck_thread_current()
    for number in 0..<count { cck_trace_record(thread, 1, 0, 0, UInt64(number), 0, 0) }
    let recording = Recorder.stop()
    // Threads of earlier benchmarks' pools may still be on their way out, and record that in rings of their own.
    let kept = recording?.rings.map(\.count) ?? []
    check(
      kept.contains(min(count, Int(capacity))),
      "of \(count) events, threads kept \(kept)"
    )
  }
}
