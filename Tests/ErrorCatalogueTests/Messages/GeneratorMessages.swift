// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import Coroutines
import Dispatch

/// Holds what its own body refers to.
private final class Holder<Content> {
  var content: Content?
}

let generatorMessages = Chapter(
  title: "Generators",
  messages: [
    .thrown(
      "a yield after the body's end",
      "whose body has ended",
      at: "made at",
      do: "Do not keep the yield closure"
    ) {
      let kept = Holder<Generator<Int>.Yield>()
      let numbers = Generator<Int> { kept.content = $0 }
      _ = numbers.next()
      try kept.content?(1)
    },
    .thrown(
      "a yield from elsewhere",
      "by code that its body does not run",
      at: "made at",
      do: "use a Channel"
    ) {
      let kept = Holder<Generator<Int>.Yield>()
      let numbers = Generator<Int> { yield in
        kept.content = yield
        try yield(1)
      }
      _ = numbers.next()
      try kept.content?(2)
    },
    .thrown(
      "a two-way generator asked by its own body",
      "was asked by its own body",
      at: "made at",
      do: "ask another generator"
    ) {
      let kept = Holder<TwoWayGenerator<Int, Int, Void>>()
      defer { kept.content = nil }
      let talk = TwoWayGenerator<Int, Int, Void> { _ in _ = try kept.content?.next() }
      kept.content = talk
      _ = try talk.next()
    },
    .stop(
      "a generator asked by its own body",
      "was asked for a value by its own body",
      at: "made at",
      do: "take the value from another"
    ) {
      let kept = Holder<Generator<Int>>()
      let numbers = Generator<Int> { _ in _ = kept.content?.next() }
      kept.content = numbers
      _ = numbers.next()
    },
    .stop(
      "a generator used on another thread",
      "was used on another thread",
      at: "made at",
      do: "Use it where it started"
    ) {
      try runBlocking {
        let numbers = Generator<Int> { yield in for number in 0... { try yield(number) } }
        _ = numbers.next()
        let taken = Unchecked(value: numbers)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          _ = taken.value.next()
          done.signal()
        }
        done.wait()
      }
    },
    .stop(
      "a generator that does not end when it is dropped",
      "its body goes on",
      at: "made at",
      do: "Let that error end the body"
    ) {
      let numbers = Generator<Int> { yield in while true { try? yield(1) } }
      _ = numbers.next()
      numbers.cancel()
    },
    .stop(
      "a generator without memory for its stack",
      "no memory or address space",
      at: "made at",
      do: "smaller stacks"
    ) {
      cck_stack_fail_next(1)
      _ = Generator<Int>(stackSize: .kibibytes(32 << 10)) { try $0(1) }.next()
    },
    .print(
      "an error of a generator that nobody looks at",
      "threw an error that nobody looked at: OutOfInk().",
      at: "made at",
      do: "Look at the generator's `error`"
    ) {
      _ = Generator<Int> { _ in throw OutOfInk() }.next()
    },
  ]
)
