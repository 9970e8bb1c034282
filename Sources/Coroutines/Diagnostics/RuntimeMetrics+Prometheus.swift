// SPDX-License-Identifier: Apache-2.0

extension RuntimeMetrics {
  /// All counts in Prometheus' text format, version 0.0.4, for the answer to `GET /metrics`.
  ///
  /// Its content type is `text/plain; version=0.0.4; charset=utf-8`.
  public var prometheusText: String {
    var page = PrometheusPage()
    page.write("launched_total", .counter, "Coroutines launched in this process.", launched)
    page.write("ended_total", .counter, "Coroutines that have ended in this process.", ended)
    page.write("scheduler_launched_total", .counter, "Coroutines launched.", schedulers, \.launched)
    page.write(
      "scheduler_ended_total",
      .counter,
      "Coroutines that have ended.",
      schedulers,
      \.ended
    )
    page.write("scheduler_live", .gauge, "Coroutines that have not ended.", schedulers, \.live)
    page.write(
      "scheduler_sleeps_total",
      .counter,
      "How often the loop went to sleep.",
      schedulers,
      \.sleeps
    )
    page.write(
      "scheduler_wake_ups_total",
      .counter,
      "How often another thread woke the loop.",
      schedulers,
      \.wakeUps
    )
    page.write("stacks_made_total", .counter, "Stacks made; they are used again.", stacks.made)
    page.write("stacks_free", .gauge, "Stacks that lie ready for any thread.", stacks.free)
    page.write(
      "stack_mapped_bytes",
      .gauge,
      "Address space reserved for stacks.",
      stacks.mappedBytes
    )
    page.write("offload_threads", .gauge, "Threads for blocking work.", offload.threads)
    page.write(
      "offload_busy_threads",
      .gauge,
      "Threads that do blocking work.",
      offload.busyThreads
    )
    page.write("offload_thread_limit", .gauge, "Most threads there may be.", offload.threadLimit)
    page.write("offload_queued", .gauge, "Blocking work that waits for a thread.", offload.queued)
    return page.text
  }
}

/// Writes metrics in Prometheus' text format.
struct PrometheusPage {
  enum Kind: String { case counter, gauge }

  private(set) var text = ""

  private mutating func head(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP coroutines_\(name) \(help)\n# TYPE coroutines_\(name) \(kind.rawValue)\n"
  }

  mutating func write(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
    head(name, kind, help)
    text += "coroutines_\(name) \(value)\n"
  }

  mutating func write(
    _ name: String,
    _ kind: Kind,
    _ help: String,
    _ schedulers: [RuntimeMetrics.SchedulerMetrics],
    _ value: (RuntimeMetrics.SchedulerMetrics) -> Int
  ) {
    if schedulers.isEmpty { return }
    head(name, kind, help)
    for scheduler in schedulers {
      text += "coroutines_\(name){scheduler=\"\(Self.escaped(scheduler.name))\","
      text += "kind=\"\(scheduler.kind.rawValue)\",number=\"\(scheduler.number)\"} "
      text += "\(value(scheduler))\n"
    }
  }

  /// A label's value: backslashes, quotes and line feeds are written with a backslash.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
