// SPDX-License-Identifier: Apache-2.0

#if canImport(Testing)
import Coroutines
import CoroutinesTesting
import Testing

@Test(.timeLimit(.minutes(1)))
func reminderComesAfterAnHour() throws {
  let scheduler = TestScheduler()
  try scheduler.run {
    let reminder = launch {
      try Coroutine.sleep(for: .seconds(3600))
      return "time is up"
    }
    try #expect(reminder.value() == "time is up")
  }
  #expect(scheduler.elapsed == .seconds(3600))
}
#endif
