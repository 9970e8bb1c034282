// SPDX-License-Identifier: Apache-2.0

import CCoroutineKernel
import CoroutineKernel
import Coroutines
import CoroutinesIO
import Dispatch
import Foundation

/// Recurses without end.
@inline(never)
private func recurse(_ depth: Int) -> Int {
  if depth == .max { return 0 }
  return withUnsafeTemporaryAllocation(of: Int.self, capacity: 64) { buffer in
    buffer.initialize(repeating: depth)
    return recurse(depth + 1) + buffer[depth % 64]
  }
}

let coroutineMessages = Chapter(
  title: "Coroutines and schedulers",
  messages: [
    .thrown(
      "a call that parks, outside a coroutine",
      "no coroutine runs here",
      at: "Coroutine.sleep(for:)",
      do: "Call it inside"
    ) { try Coroutine.sleep(for: .seconds(1)) },
    .thrown(
      "a coroutine that joins itself",
      "joined itself",
      at: "launched at",
      do: "Join it from another coroutine"
    ) {
      try runBlocking { try launch(name: "clerk") { try Coroutine.current?.join() }.value() }
    },
    .thrown(
      "a launch without memory for the stack",
      "no memory or address space left",
      at: "launched at",
      do: "Launch fewer coroutines at a time",
      isApart: true
    ) {
      try runBlocking {
        cck_stack_fail_next(1)
        try launch(name: "hungry", stackSize: .kibibytes(32 << 10)) {}.value()
      }
    },
    .thrown(
      "a launch on a scheduler that has shut down",
      "its scheduler has shut down",
      at: "launched at",
      do: "Keep the scheduler"
    ) {
      let old = try runBlocking { Scheduler.current }
      try runBlocking { try launch(on: old, name: "late") {}.value() }
    },
    .print(
      "an error of a coroutine that nobody looks at",
      "threw an error that nobody looked at: OutOfInk().",
      at: "launched at",
      do: "Call `join()` or `value()`"
    ) {
      let scheduler = SerialScheduler()
      launch(on: scheduler, name: "printer") { throw OutOfInk() }
      try runBlocking { try launch(on: scheduler) {}.value() }
    },
    .stop("a stack of no bytes", "A stack of 0 bytes", at: "bytes", do: "Leave stackSize out") {
      _ = StackSize.bytes(0)
    },
    .stop(
      "a stack of a tebibyte",
      "A stack of 1099511627776 bytes",
      at: "the largest is",
      do: "keep its state in an array"
    ) { _ = StackSize.bytes(1 << 40) },
    .stop("a stack of no KiB", "A stack of 0 KiB", at: "KiB", do: "sizes go from") {
      _ = StackSize.kibibytes(0)
    },
    .stop(
      "a recursion that does not end, in a coroutine",
      "stack overflow",
      at: "\"deep\"",
      do: "launch(stackSize: .kibibytes("
    ) {
      try runBlocking { _ = try launch(name: "deep") { recurse(0) }.value() }
    },
    .stop(
      "a recursion that does not end, in a generator",
      "stack overflow",
      at: "a generator",
      do: "Generator(stackSize: .kibibytes("
    ) { _ = Generator<Int> { yield in try yield(recurse(0)) }.next() },
    .stop(
      "an overflow of a stack that has no guard",
      "overflowed",
      at: "coroutine #",
      do: "Give it more with launch(stackSize:)"
    ) {
      cck_stack_limit_guard(UInt32(CCK_GUARD_CANARY))
      guard let stack = cck_stack_acquire(currentThread(), 4) else { exit(EXIT_SUCCESS) }
      stack.pointee.identifier = 7
      stack.pointee.low.storeBytes(of: 1, as: UInt8.self)
      cck_stack_release(currentThread(), stack)
    },
    .print(
      "more stacks than the system has mappings for",
      "no mappings left",
      at: "vm.max_map_count is",
      do: "Raise vm.max_map_count"
    ) {
      cck_stack_limit_guard(UInt32(CCK_GUARD_PROTECT))
      for _ in 0..<40_000 { _ = cck_stack_acquire(currentThread(), 0) }
    },
    .stop("a pool of no threads", "of 0 threads", at: "A PoolScheduler", do: "Give it one thread") {
      _ = PoolScheduler(threads: 0)
    },
    .stop(
      "an offload pool of no threads",
      "was set to 0",
      at: "OffloadPool.threadLimit",
      do: "must be 1 or more"
    ) { OffloadPool.shared.threadLimit = 0 },
    .stop(
      "a wait inside another queue's block",
      "inside a block of `DispatchQueue.sync`",
      at: "Channel.receive() on channel \"numbers\" made at",
      do: "Wait before or after the block"
    ) {
      let numbers = Channel<Int>(name: "numbers")
      let inner = DispatchQueue(label: "inner")
      let careless = launch(on: DispatchQueue(label: "outer"), name: "careless") {
        try inner.sync { _ = try numbers.receive() }
      }
      try runBlocking { try careless.join() }
    },
    .print(
      "a poller that there is not",
      "there is no \"kqueue\" here",
      at: "COROUTINES_POLLER",
      do: "leave the variable out"
    ) {
      setenv("COROUTINES_POLLER", "kqueue", 1)
      _ = try runBlocking { IOBackend.current }
    },
  ]
)
