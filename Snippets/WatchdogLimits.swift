// SPDX-License-Identifier: Apache-2.0

import Coroutines

var limits = CoroutineWatchdog.Limits()
limits.turnLimit = .milliseconds(200)
let watchdog = CoroutineWatchdog(limits: limits)

try runBlocking {
  print("watched")  // prints watched
}
