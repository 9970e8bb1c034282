// SPDX-License-Identifier: Apache-2.0

import Coroutines
import CoroutinesFoundation
import Foundation

let changed = Notification.Name("settingsChanged")

try runBlocking {
  let changes = NotificationCenter.default.co.notifications(named: changed)
  let listener = launch {
    for change in changes.prefix(2) { print(change.userInfo?["key"] ?? "?") }
  }
  for key in ["font", "colour"] {
    NotificationCenter.default.post(name: changed, object: nil, userInfo: ["key": key])
  }
  try listener.value()  // prints font, then colour

  let ticks = Timer.co.ticks(every: .milliseconds(5))
  for _ in ticks.prefix(3) { print("tick") }  // prints tick, then tick, then tick
}
