// SPDX-License-Identifier: Apache-2.0

import CoroutinesTracing

let tracingMessages = Chapter(
  title: "Tracing",
  messages: [
    .thrown(
      "a second recording",
      "Events are being recorded already",
      at: "in a process",
      do: "End it with `Tracing.stop()` first",
      isApart: true
    ) {
      try Tracing.start()
      try Tracing.start()
    },
    .thrown(
      "the end of no recording",
      "No events are being recorded",
      at: "events",
      do: "Begin with `Tracing.start()`"
    ) { _ = try Tracing.stop() },
    .stop(
      "room for no events",
      "the number must be",
      at: "Tracing.start(eventsPerThread: 0)",
      do: "1 to 16,777,216"
    ) { try Tracing.start(eventsPerThread: 0) },
  ]
)
