// SPDX-License-Identifier: Apache-2.0

import Coroutines

let channelMessages = Chapter(
  title: "Channels and select",
  messages: [
    .thrown(
      "a send on a closed channel",
      "is closed",
      at: "\"jobs\" made at",
      do: "close a channel only after"
    ) {
      try runBlocking {
        let jobs = Channel<Int>(name: "jobs")
        jobs.close()
        try jobs.send(1)
      }
    },
    .thrown(
      "a receive from a closed channel",
      "is closed",
      at: "made at",
      do: "`for value in channel`"
    ) {
      try runBlocking {
        let jobs = Channel<Int>()
        launch { jobs.close() }
        _ = try jobs.receive()
      }
    },
    .thrown(
      "a select over a closed channel",
      "is closed",
      at: "\"jobs\" made at",
      do: "Receivers: "
    ) {
      try runBlocking {
        let jobs = Channel<Int>(name: "jobs")
        jobs.close()
        try select { Receive(from: jobs) { _ in } }
      }
    },
    .thrown(
      "a channel closed before so many values had come",
      "Only 2 of the values",
      at: "made at",
      do: "They are in `received`"
    ) {
      try runBlocking {
        let jobs = Channel<Int>(capacity: 3, name: "jobs")
        for number in 1...2 { try jobs.send(number) }
        jobs.close()
        _ = try jobs.receive(count: 3)
      }
    },
    .stop(
      "a loop over a channel, outside a coroutine",
      "no coroutine runs here",
      at: "for … in a channel",
      do: "Call it inside"
    ) {
      for _ in Channel<Int>() {}
    },
    .stop("a channel of negative capacity", "capacity -1", at: "A channel", do: "must be 0 or more")
    {
      _ = Channel<Int>(capacity: .bounded(-1))
    },
    .stop(
      "a channel that drops the oldest and keeps none",
      "to keep 0",
      at: "A channel that drops its oldest",
      do: "must keep 1 or more"
    ) {
      _ = Channel<Int>(capacity: .droppingOldest(0))
    },
    .stop(
      "a channel that drops the newest and keeps none",
      "to keep 0",
      at: "A channel that drops what does not fit",
      do: "must keep 1 or more"
    ) {
      _ = Channel<Int>(capacity: .droppingNewest(0))
    },
    .stop(
      "a receive of fewer than no values",
      "the count",
      at: "receive(count: -1)",
      do: "must be 0 or more"
    ) {
      try runBlocking { _ = try Channel<Int>().receive(count: -1) }
    },
    .stop(
      "a select with two defaults",
      "has 2 Default clauses",
      at: "A select",
      do: "Leave in one of them"
    ) {
      try runBlocking {
        try select {
          Default {}
          Default {}
        }
      }
    },
    .stop(
      "a selector with two defaults",
      "a second default clause",
      at: "A Selector",
      do: "Leave in one of them"
    ) {
      var selector = Selector<Void>()
      selector.default {}
      selector.default {}
    },
    .stop(
      "a selector that has nothing to wait for",
      "without clauses",
      at: "A Selector",
      do: "Add a clause"
    ) {
      try runBlocking {
        var selector = Selector<Void>()
        try selector.select()
      }
    },
    .stop(
      "a clause to be removed that is not there",
      "was to be removed",
      at: "Clause 1 of a Selector",
      do: "the first of them is clause 0"
    ) {
      var selector = Selector<Void>()
      selector.default {}
      selector.remove(at: 1)
    },
    .stop(
      "a winner to be removed before there is one",
      "no clause has won",
      at: "The winner of a Selector",
      do: "removed before"
    ) {
      var selector = Selector<Void>()
      selector.default {}
      selector.removeWinner()
    },
  ]
)
