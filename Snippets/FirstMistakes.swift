// SPDX-License-Identifier: Apache-2.0

import Coroutines

struct Broken: Error {}

/// The first sentence of what an error says.
func summary(_ error: any Error) -> Substring { "\(error)".split(separator: ". ")[0] }

// A call that waits, where no coroutine runs.
do {
  try Coroutine.sleep(for: .seconds(1))
} catch {
  print(summary(error))
  // prints Coroutine.sleep(for:) parks the coroutine that calls it, but no coroutine runs here
}

// An error that nobody looks at comes out of `runBlocking`.
do {
  try runBlocking { _ = launch { throw Broken() } }
} catch {
  print(error)  // prints Broken()
}

try runBlocking {
  // Joining oneself.
  let loner = launch { try Coroutine.current?.join() }
  do {
    try loner.value()
  } catch CoroutineError.joinsItself { print("joined itself") }  // prints joined itself

  // Sending where nobody will receive any more.
  let channel = Channel<Int>()
  channel.close()
  do {
    try channel.send(1)
  } catch ChannelError.closed { print("closed") }  // prints closed

  // A callback that never comes, because whatever would have called it is gone.
  do {
    let _: Int = try awaitCallback { _ in }
  } catch PromiseError.abandoned { print("abandoned") }  // prints abandoned
}
