// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesTracing

let (total, trace) = try Tracing.record {
  try runBlocking {
    let jobs = Channel<Int>(capacity: 4, name: "jobs")
    let worker = launch(name: "worker") {
      var sum = 0
      for job in jobs { sum += job }
      return sum
    }
    for job in 1...100 { try jobs.send(job) }
    jobs.close()
    return try worker.value()
  }
}
print(total)  // prints 5050

// A page for the browser, and a file for ui.perfetto.dev.
let page = trace.html(title: "a hundred jobs")
let json = trace.chromeJSON
print(page.hasPrefix("<!doctype html>"), json.contains("traceEvents"))  // prints true true

// Or ask: how often did somebody send, and to whom did it go?
let sent = trace.events.filter { event in
  if case .sent = event.kind { true } else { false }
}
print(sent.count, trace.objects.map(\.name))  // prints 100 [Optional("jobs")]
