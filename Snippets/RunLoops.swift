// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

let greeting = launch(on: .runLoop(.main)) {
  try Coroutine.sleep(for: .milliseconds(5))
  print("on the main thread:", Thread.isMainThread)  // prints on the main thread: true
}
while !greeting.isFinished {
  _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
}
