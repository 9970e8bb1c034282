// SPDX-License-Identifier: Apache-2.0

import Coroutines

let promiseMessages = Chapter(
  title: "Promises and progress",
  messages: [
    .thrown("a promise that was cancelled", "was cancelled", at: "made at", do: "catch this error")
    {
      try runBlocking {
        let promise = Promise<Int>()
        promise.cancel()
        _ = try promise.await()
      }
    },
    .thrown(
      "a promise that nobody can settle any more",
      "was abandoned",
      at: "made at",
      do: "Call one of the two on every path"
    ) {
      try runBlocking { _ = try Promise<Int> { _, _ in }.await() }
    },
    .thrown(
      "a promise that follows itself",
      "was to follow itself",
      at: "made at",
      do: "Fulfil it with another one"
    ) {
      try runBlocking {
        let promise = Promise<Int>()
        promise.follow(promise)
        _ = try promise.await()
      }
    },
    .thrown(
      "any of promises that are all rejected",
      "None of 2 promises",
      at: "OutOfInk()",
      do: "Repair one of the causes"
    ) {
      try runBlocking {
        let promises = [Promise<Int>.rejected(OutOfInk()), Promise<Int>.rejected(OutOfInk())]
        _ = try Promise.any(promises).await()
      }
    },
    .thrown(
      "the first of no promises",
      "which never comes",
      at: "no promises",
      do: "Give at least one"
    ) {
      try runBlocking { _ = try Promise<Int>.race([]).await() }
    },
    .stop(
      "a part of a progress that weighs nothing",
      "of weight 0.0",
      at: "A part",
      do: "finite and above zero"
    ) {
      ProgressMeter().add(ProgressMeter(), weight: 0)
    },
    .stop(
      "a progress that is a part of itself",
      "added to one of its own parts",
      at: "A progress",
      do: "Add the part only"
    ) {
      let (whole, part) = (ProgressMeter(), ProgressMeter())
      whole.add(part)
      part.add(whole)
    },
    .stop(
      "a loop over a progress, outside a coroutine",
      "no coroutine runs here",
      at: "for … in a progress",
      do: "Call it inside"
    ) {
      for _ in ProgressPromise<Int>() {}
    },
  ]
)
