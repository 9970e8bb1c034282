// SPDX-License-Identifier: Apache-2.0

import Coroutines

let lockMessages = Chapter(
  title: "Locks",
  messages: [
    .thrown(
      "a lock taken twice",
      "which holds the lock already",
      at: "coroutine #",
      do: "Call it outside"
    ) {
      try runBlocking {
        let mutex = CoroutineMutex()
        try mutex.withLock { try mutex.withLock {} }
      }
    },
    .thrown(
      "a condition waited for without its mutex",
      "but the mutex is held by nobody",
      at: "CoroutineCondition.wait",
      do: "Call it inside `withLock { }`"
    ) {
      try runBlocking { try CoroutineCondition(CoroutineMutex()).wait() }
    },
    .thrown(
      "a mutex whose holder has ended",
      "ended without unlocking the mutex",
      at: "\"forgetful\"",
      do: "Unlock on every path"
    ) {
      try runBlocking {
        let mutex = CoroutineMutex()
        try launch(name: "forgetful") { try mutex.lock() }.value()
        try mutex.withLock {}
      }
    },
    .stop(
      "a mutex unlocked by another coroutine",
      "the mutex is held by",
      at: "\"owner\"",
      do: "Unlock in the coroutine that locked"
    ) {
      try runBlocking {
        let mutex = CoroutineMutex()
        launch(name: "owner") {
          try mutex.lock()
          try Coroutine.yield()
        }
        try Coroutine.yield()
        mutex.unlock()
      }
    },
    .stop(
      "a semaphore with fewer than no permits",
      "with -1 permits",
      at: "A semaphore",
      do: "there must be 0 or more"
    ) {
      _ = CoroutineSemaphore(permits: -1)
    },
    .stop(
      "more permits than a semaphore has",
      "3 permits of a semaphore",
      at: "limit, 2",
      do: "must be from 1 to its limit"
    ) {
      try runBlocking { try CoroutineSemaphore(permits: 1, limit: 2).acquire(3) }
    },
    .stop(
      "a permit released twice",
      "2 of at most 2 permits are free already",
      at: "CoroutineSemaphore.release(1)",
      do: "Release only what was acquired"
    ) {
      CoroutineSemaphore(permits: 2, limit: 2).release()
    },
    .stop("a barrier for nobody", "for 0 parties", at: "A barrier", do: "there must be 1 or more") {
      _ = CoroutineBarrier(parties: 0)
    },
    .stop(
      "a wait at a barrier that all have left",
      "all parties have left",
      at: "CoroutineBarrier.wait()",
      do: "Do not wait after leave()"
    ) {
      try runBlocking {
        let barrier = CoroutineBarrier(parties: 1)
        barrier.leave()
        try barrier.wait()
      }
    },
    .stop(
      "a barrier left too often",
      "all parties have left already",
      at: "CoroutineBarrier.leave()",
      do: "Each party leaves once"
    ) {
      let barrier = CoroutineBarrier(parties: 1)
      barrier.leave()
      barrier.leave()
    },
    .stop(
      "a wait group for fewer than none",
      "with a count of -1",
      at: "A wait group",
      do: "must be 0 or more"
    ) {
      _ = CoroutineWaitGroup(count: -1)
    },
    .stop(
      "fewer than none added to a wait group",
      "add 0 or more",
      at: "CoroutineWaitGroup.add(-1)",
      do: "done() takes away"
    ) {
      CoroutineWaitGroup().add(-1)
    },
    .stop(
      "a wait group done too often",
      "was called more often than things were added",
      at: "CoroutineWaitGroup.done()",
      do: "Call add() before"
    ) {
      CoroutineWaitGroup().done()
    },
  ]
)
