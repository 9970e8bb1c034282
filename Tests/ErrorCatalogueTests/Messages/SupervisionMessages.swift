// SPDX-License-Identifier: Apache-2.0

import Coroutines

let supervisionMessages = Chapter(
  title: "Supervision",
  messages: [
    .thrown(
      "a child that fails too often",
      "gave up: more than 1 restarts",
      at: "The supervisor \"office\"",
      do: "Repair the cause"
    ) {
      try runBlocking {
        try withSupervisor(name: "office", intensity: RestartIntensity(1, within: .seconds(60))) {
          supervisor in
          supervisor.launch(name: "printer") { throw OutOfInk() }
          try supervisor.waitForChildren()
        }
      }
    },
    .thrown(
      "a failure that is escalated",
      "is to escalate",
      at: "The supervisor \"office\"",
      do: "Repair the cause"
    ) {
      try runBlocking {
        try withSupervisor(name: "office", decide: { _ in .escalate }) { supervisor in
          supervisor.launch(name: "printer") { throw OutOfInk() }
          try supervisor.waitForChildren()
        }
      }
    },
    .thrown(
      "a child that does not stop",
      "had not ended 0.001 seconds later",
      at: "its child \"stubborn\"",
      do: "Let its shields be short"
    ) {
      try runBlocking {
        let isOver = Promise<Void>()
        defer { isOver.fulfill(()) }
        try withSupervisor(name: "office") { supervisor in
          supervisor.launch(name: "stubborn", shutdown: .milliseconds(1)) {
            try withCancellationShield { try isOver.await() }
          }
          try Coroutine.yield()
          try Coroutine.yield()
        }
      }
    },
    .thrown(
      "a permanent child that returns",
      "returned, and is restarted",
      at: "The child \"printer\"",
      do: "Make it transient"
    ) {
      try runBlocking {
        do {
          try withSupervisor(decide: { _ in .escalate }) { supervisor in
            supervisor.launch(name: "printer") {}
            try supervisor.waitForChildren()
          }
        } catch let error as SupervisorError {
          throw error.cause ?? error
        }
      }
    },
    .stop(
      "an intensity below zero",
      "An intensity of -1 restarts",
      at: "restarts",
      do: "must be 0 or more"
    ) {
      _ = RestartIntensity(-1, within: .seconds(1))
    },
    .stop(
      "a back-off that ends before it begins",
      "A back-off from 2.0 seconds to 1.0 seconds",
      at: "A back-off",
      do: "must begin at 0 or more"
    ) {
      _ = RestartBackoff.exponential(from: .seconds(2), to: .seconds(1))
    },
    .stop(
      "a back-off that becomes shorter",
      "with a factor of 0.5",
      at: "A back-off",
      do: "must be 1 or more"
    ) {
      _ = RestartBackoff.exponential(from: .zero, to: .seconds(1), factor: 0.5)
    },
    .stop(
      "a back-off with more jitter than all of it",
      "A jitter of 2.0",
      at: "A jitter",
      do: "must be from 0 to 1"
    ) {
      _ = RestartBackoff.exponential(from: .zero, to: .seconds(1), jitter: 2)
    },
  ]
)
