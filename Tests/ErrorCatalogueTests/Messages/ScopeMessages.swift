// SPDX-License-Identifier: Apache-2.0

import Coroutines

let scopeMessages = Chapter(
  title: "Scopes and limits",
  messages: [
    .thrown("a limit of time", "was not done", at: "limited at", do: "Allow more time") {
      try runBlocking {
        try withTimeout(.milliseconds(1)) { try Coroutine.sleep(for: .seconds(60)) }
      }
    },
    .thrown("a deadline", "was not done by its deadline", at: "limited at", do: "Allow more time") {
      try runBlocking {
        try withDeadline(CoroutineClock().now) { try Coroutine.sleep(for: .seconds(60)) }
      }
    },
    .stop(
      "a launch in a scope that is over",
      "in a scope that is over",
      at: "launched at",
      do: "must not be used outside the body"
    ) {
      try runBlocking {
        let kept = try withCoroutineScope { $0 }
        kept.launch {}
      }
    },
  ]
)
